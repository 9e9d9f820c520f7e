// Converts the transfers of new blocks to changes of the market for the activity log. The past transfers that a backfill reads are not
// recorded as changes: readers of past transfers use the chain log.

import type { MarketChange } from '../../market/activity/market-change.ts';
import type { LoggedEvent } from '../../market/chain-log/chain-event.ts';
import { toCollectionId } from '../../platform/core/collection.ts';
import { ZERO_ADDRESS } from '../../platform/core/evm.ts';

export function toTransferChanges(chain: string, events: readonly LoggedEvent[]): MarketChange[] {
  return events.flatMap((event): MarketChange[] => {
    if (event.kind !== 'transfer') return [];
    const { from, to, tokenId, contract, tx, blockNumber, blockTime, logIndex, quantity } = event;
    const isMint = from === ZERO_ADDRESS;
    const isBurn = to === ZERO_ADDRESS;
    return [
      {
        kind: isMint ? 'mint' : isBurn ? 'burn' : 'transfer',
        at: blockTime,
        chain,
        collectionId: toCollectionId(chain, contract),
        asset: tokenId,
        from: isMint ? null : from,
        to: isBurn ? null : to,
        tx,
        blockNumber,
        logIndex,
        quantity,
        fact: toTransferFact(chain, event),
      },
    ];
  });
}

/** Identifies the change that records a transfer (`fact` of MarketChange). */
function toTransferFact(chain: string, { blockNumber, logIndex, part }: LoggedEvent): string {
  return `${chain} ${blockNumber} ${logIndex} ${part}`;
}
