// Prints the cheapest listings of a collection: node client/examples/list-collection.ts [BASE_URL] [COLLECTION]

import { CHAIN_DECIMALS, createMarketClient, formatAmount } from 'mercat-client';

const ROWS_MAX = 10;

export async function listCollection(baseUrl: string, id: string, print: (line: string) => void): Promise<void> {
  const market = createMarketClient({ baseUrl });
  const { data: collection } = await market.getCollection({ id });
  print(`${collection.name}: ${collection.stats.listedCount ?? 'unknown'} listed`);
  const listings = market.listListings({ id: collection.id, limit: ROWS_MAX });
  for (const { chain, tokenId, mint, price, marketplace } of await listings.take(ROWS_MAX)) {
    const amount = formatAmount(price.raw, CHAIN_DECIMALS[chain] ?? 0);
    print(`${tokenId ?? mint}  ${amount} ${price.currency}  ${marketplace}`);
  }
  for (const source of listings.newestPage?.meta?.staleSources ?? [])
    print(`${source} could not be read, so listings may be missing`);
}

if (import.meta.main) {
  const [baseUrl = 'http://127.0.0.1:8080', id = 'harbour-lights'] = process.argv.slice(2);
  await listCollection(baseUrl, id, console.log);
}
