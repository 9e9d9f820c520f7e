// Adds marketplace tags to fills. The tag is the last four bytes of the transaction's call data.

import type { ChainEvent, OrderFulfilled } from '../chain-log/chain-event.ts';
import type { Address } from '../core/address.ts';
import type { ChainReader } from './rpc/chain-reader.ts';

/** Returns the events. Fills that moved tokens of the given contracts have their tag in `domain`. */
export async function addMarketplaceTags(
  reader: ChainReader,
  events: readonly ChainEvent[],
  contracts: ReadonlySet<Address>,
): Promise<ChainEvent[]> {
  const isRelevantFill = (event: ChainEvent): event is OrderFulfilled =>
    event.kind === 'order-fulfilled' &&
    [...event.offer, ...event.consideration].some(({ token }) => contracts.has(token));
  const txs = events.filter(isRelevantFill).map((event) => event.tx);
  if (txs.length === 0) return [...events];
  const tails = await reader.callDataTails(txs);
  return events.map((event) => {
    const domain = isRelevantFill(event) ? tails.get(event.tx) : undefined;
    return domain === undefined ? event : { ...event, domain };
  });
}
