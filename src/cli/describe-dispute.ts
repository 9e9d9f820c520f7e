// Says what the endpoints of a chain disagree about, for `mercat status` and `mercat doctor`.

import type { ChainStatus } from '../sources/chains/chain-status.ts';
import { toChainSetting } from '../service/config.ts';

type ChainDispute = NonNullable<NonNullable<ChainStatus['comparison']>['disputed']>;

/** What the endpoints disagree about, and the effect. */
const DISPUTES = {
  new: (block: number) => [`block ${block}`, 'No further block is read'],
  past: (block: number) => [`past blocks up to ${block}`, 'These blocks are not read'],
  again: (block: number) => [
    `stored blocks up to ${block}, which are read again`,
    'These blocks stay as they were stored',
  ],
  call: (block: number) => [
    `the state of a contract at block ${block}`,
    'The order that depends on it is not accepted',
  ],
} as const;

export function describeDispute({ kind, block, since }: ChainDispute): string {
  const [subject, effect] = DISPUTES[kind](block);
  return `the endpoints have disagreed about ${subject} since ${since}. ${effect}`;
}

export function describeDisputeRemedy(chain: string): string {
  return `remove the wrong endpoint from ${toChainSetting(chain)}, or add a third endpoint, so that a majority decides`;
}
