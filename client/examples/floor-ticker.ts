// Prints the price of the cheapest listing of a collection whenever this price changes. Runs in browsers too.
// node client/examples/floor-ticker.ts [BASE_URL] [COLLECTION]

import type { MarketClient, MarketReads, Price } from 'mercat-client';
import { createMarketClient } from 'mercat-client';

/** The time between a change and the next read. The service caches responses for a second, so an earlier read may return the old price. */
const READ_AFTER_MS = 1_000;

/** Yields the price at the start, and the new price after each change. The price is null if nothing is listed. */
export async function* tickFloor(
  market: MarketClient,
  id: string,
  signal: AbortSignal,
): AsyncGenerator<Price | null, void, undefined> {
  const { data: collection } = await market.getCollection({ id }, { signal });
  const read = async (reads: MarketReads) => {
    const { data } = await reads.listTokens({ id: collection.id, listed: true, limit: 1 }, { signal }).page();
    return data[0]?.listing?.price ?? null;
  };
  const { snapshot, changes } = await market.snapshotThenFollow(read, { collections: [collection.id], signal });
  yield snapshot;
  let newest = snapshot;
  for await (const { kind } of changes) {
    if (kind === 'transfer' || kind === 'mint') continue;
    await new Promise((resolve) => setTimeout(resolve, READ_AFTER_MS));
    const price = await read(market);
    if (price?.raw !== newest?.raw) yield price;
    newest = price;
  }
}

if (import.meta.main) {
  const [baseUrl = 'http://127.0.0.1:8080', id = 'harbour-lights'] = process.argv.slice(2);
  const { signal } = new AbortController();
  for await (const price of tickFloor(createMarketClient({ baseUrl }), id, signal))
    console.log(new Date().toISOString(), price ? `${price.decimal} ${price.currency}` : 'nothing is listed');
}
