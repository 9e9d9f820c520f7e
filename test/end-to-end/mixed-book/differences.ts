// Compares the served mixed book with the expected one: the listing window, the floors, the counts, single tokens. Returns
// the differences as text.

import { isDeepStrictEqual } from 'node:util';
import type { ExpectedState } from '../../support/chain/expected-state.ts';
import type { ExpectedListing, ExpectedMarket } from './expected.ts';
import type { TestService } from '../../support/service/service.ts';

/** Assets in a window, by the specification. */
const WINDOW_SIZE = 250;
const PAGE = 100;
const CHAIN = 'ethereum';

type Wanted = { contract: string; market: ExpectedMarket; truth: ExpectedState; tokens: readonly string[] };

export async function findDifferences(service: TestService, wanted: Wanted): Promise<string[]> {
  const { contract, market, truth, tokens } = wanted;
  const id = `${CHAIN}_${contract}`;
  const differences: string[] = await findWindowDifferences(service, { name: id, limit: PAGE, market });
  const expect = (what: string, actual: unknown, expected: unknown) => {
    if (!isDeepStrictEqual(actual, expected))
      differences.push(`${what}: ${JSON.stringify(actual)}, should be ${JSON.stringify(expected)}`);
  };
  const { data: floor } = await service.ok(`/v1/collections/${id}/floor`);
  const { askFloor, buyerFloor, stale, collectionId } = floor;
  expect(
    'floor',
    { collectionId, askFloor, buyerFloor, stale },
    { collectionId: id, ...floorsOf(market), stale: false },
  );

  const holders = [...truth.owners.values()].filter((owner) => owner !== null);
  const [owners, supply] = [new Set(holders).size, holders.length];
  const { data: detail } = await service.ok(`/v1/collections/${id}`);
  const counts = { owners, supply, listedCount: market.listings.length };
  expect('detail', pick(detail.stats, counts), counts);
  expect('floor of the detail', detail.stats.floor, floorsOf(market).askFloor);
  expect('stale', detail.stale, false);
  const { data: collections } = await service.ok(`/v1/collections?sort=floor&chain=${CHAIN}`);
  const summary = { floor: floorsOf(market).askFloor, owners, supply };
  expect('summary', pick(collections[0]?.stats ?? {}, summary), summary);
  for (const tokenId of tokens) {
    const { data } = await service.ok(`/v1/tokens/${CHAIN}/${contract}/${tokenId}`);
    const listing = market.byToken.get(tokenId);
    if (!isAnyOf(listing, data.listing)) expect(`listing of token ${tokenId}`, data.listing, listing?.rows[0] ?? null);
    const owner = data.listing?.seller ?? truth.owners.get(`${contract}:${tokenId}`);
    expect(`owner of token ${tokenId}`, data.owner, { address: owner, kind: 'wallet', label: null });
  }
  return differences;
}

/** The window by a name of the collection, in pages of a size; null: as they come. */
export async function findWindowDifferences(
  service: TestService,
  { name, limit, market }: { name: string; limit: number | null; market: ExpectedMarket },
): Promise<string[]> {
  const served = await service.walk(`/v1/collections/${name}/listings${limit === null ? '' : `?limit=${limit}`}`);
  const wanted = market.listings.slice(0, WINDOW_SIZE);
  const differences = served.length === wanted.length ? [] : [`${served.length} rows, should be ${wanted.length}`];
  const wantedIds = new Set(wanted.map(({ orderId }) => orderId));
  const servedIds = new Set(served.map(({ orderId }) => orderId));
  for (const row of served) if (!wantedIds.has(row.orderId)) differences.push(`served: ${JSON.stringify(row)}`);
  for (const { orderId, rows } of wanted)
    if (!servedIds.has(orderId)) differences.push(`not served: ${JSON.stringify(rows[0])}`);
  // Where the rows are the right ones, their terms and places may be wrong.
  if (differences.length > 0) return differences;
  for (const [place, listing] of wanted.entries()) {
    if (isAnyOf(listing, served[place])) continue;
    differences.push(`row ${place}: ${JSON.stringify(served[place])}, should be ${JSON.stringify(listing.rows[0])}`);
  }
  return differences;
}

function isAnyOf(expected: ExpectedListing | undefined, actual: unknown): boolean {
  return expected ? expected.rows.some((row) => isDeepStrictEqual(row, actual)) : actual === null;
}

function floorsOf({ askFloor, buyerFloor }: ExpectedMarket) {
  return { askFloor: toPrice(askFloor), buyerFloor: toPrice(buyerFloor) };
}

function toPrice(raw: bigint | null) {
  return raw === null ? null : { raw: raw.toString(), decimal: Number(`${raw}e-18`), currency: 'ETH', usd: null };
}

function pick(from: Record<string, unknown>, like: object): Record<string, unknown> {
  return Object.fromEntries(Object.keys(like).map((key) => [key, from[key]]));
}
