// Decodes the events of the currencies of bids, only to find out whose funds may have changed: some contracts change balances and allowances in ways that no
// event states exactly. WETH9 has no Transfer for a deposit or a withdrawal, and no Approval when an allowance is spent.
// https://etherscan.io/address/0xc02aaa39b223fe8d0a0e5c4f27ead9083c756cc2#code

import type { ChainEvent } from '../../../market/chain-log/chain-event.ts';
import type { Address } from '../../../platform/core/address.ts';
import type { Hex } from '../../../platform/core/evm.ts';
import type { VerifiedLog } from './event-decoder.ts';
import { TOKEN_TOPICS } from './token-standards.ts';

const { transfer, approval } = TOKEN_TOPICS;
const deposit: Hex = '0xe1fffcc4923d04b559f4d29a8bfc6cda04eb5b0d3c460751c2402c5c5cc9109c';
const withdrawal: Hex = '0x7fcf532c15f0a6db0bd6d0e038bea71d30d808c7d98cb3bf7268a95bf5081b65';

/** The first topics of the events whose second topic is an account that pays or receives, and of those whose third topic is one. */
export const FUNDS_TOPICS = { second: [transfer, approval, deposit, withdrawal], third: [transfer] } as const;

/** The event for a log of the currency. `accounts`: the accounts whose funds are followed. Null if the log concerns none of them. */
export function toFundsMoved(
  { topics, blockNumber, tx, logIndex, time }: VerifiedLog & { time: number },
  accounts: ReadonlySet<Address>,
): ChainEvent | null {
  const [first, ...words] = topics;
  const named = words.slice(0, first === transfer ? 2 : 1).map((word) => toAccount(word));
  const found = [...new Set(named)].filter((account) => accounts.has(account));
  const position = { blockNumber, blockTime: time, tx, logIndex, part: 0 };
  return found.length === 0 ? null : { ...position, kind: 'funds-moved', accounts: found };
}

const ADDRESS_DIGITS = 40;

function toAccount(word: Hex): Address {
  return `0x${word.slice(-ADDRESS_DIGITS)}` as Address;
}
