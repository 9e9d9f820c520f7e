// Compares the responses about the mixed book with the expected responses: the listing window, the floors, the counts and single tokens.
// Returns each difference as one line of text.

import { isDeepStrictEqual } from 'node:util';
import type { ExpectedState } from '../../support/chain/expected-state.ts';
import type { ExpectedMarket } from './expected.ts';
import type { TestService } from '../../support/service/service.ts';

/** The most listings that are served for a collection. If there are more, only the cheapest are served. */
const WINDOW_SIZE = 250;
/** The page size with which the listing window is read. */
const PAGE = 100;
const CHAIN = 'ethereum';

type Expectation = { contract: string; market: ExpectedMarket; chainState: ExpectedState; tokens: readonly string[] };

export async function findDifferences(service: TestService, expectation: Expectation): Promise<string[]> {
  const { contract, market, chainState, tokens } = expectation;
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

  const holders = [...chainState.owners.values()].filter((owner) => owner !== null);
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
    if (!isAnyOf(listing?.tokenRows, data.listing))
      expect(`listing of token ${tokenId}`, data.listing, listing?.tokenRows[0] ?? null);
    const owner = data.listing?.seller ?? chainState.owners.get(`${contract}:${tokenId}`);
    expect(`owner of token ${tokenId}`, data.owner, { address: owner, kind: 'wallet', label: null });
  }
  return differences;
}

/**
 * Compares the served listings of a collection with the expected listings. `name` is the collection's id, slug or address. `limit`
 * is the page size. If it is null, requests have no `limit`.
 */
export async function findWindowDifferences(
  service: TestService,
  { name, limit, market }: { name: string; limit: number | null; market: ExpectedMarket },
): Promise<string[]> {
  const served = await service.walk(`/v1/collections/${name}/listings${limit === null ? '' : `?limit=${limit}`}`);
  const expected = market.listings.slice(0, WINDOW_SIZE);
  const differences = served.length === expected.length ? [] : [`${served.length} rows, should be ${expected.length}`];
  const expectedIds = new Set(expected.map(({ orderId }) => orderId));
  const servedIds = new Set(served.map(({ orderId }) => orderId));
  for (const row of served)
    if (!expectedIds.has(row.orderId)) differences.push(`served, but not expected: ${JSON.stringify(row)}`);
  for (const { orderId, rows } of expected)
    if (!servedIds.has(orderId)) differences.push(`expected, but not served: ${JSON.stringify(rows[0])}`);
  if (differences.length > 0) return differences;
  // The served rows have the expected ids, but their fields and their sequence may still differ.
  for (const [index, listing] of expected.entries()) {
    if (isAnyOf(listing.rows, served[index])) continue;
    differences.push(`row ${index}: ${JSON.stringify(served[index])}, should be ${JSON.stringify(listing.rows[0])}`);
  }
  return differences;
}

function isAnyOf(rows: readonly object[] | undefined, actual: unknown): boolean {
  return rows ? rows.some((row) => isDeepStrictEqual(row, actual)) : actual === null;
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
