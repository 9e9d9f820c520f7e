// Shared by the OpenSea tests: a collection, a replay server that serves the collection as OpenSea does, clients of this server, and checks of
// records.

import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { parseAddress, parseAssetId } from '../../../../src/platform/core/address.ts';
import type { Address, AssetId } from '../../../../src/platform/core/address.ts';
import type { Chain } from '../../../../src/platform/core/chains.ts';
import { createChains } from '../../../../src/platform/core/chains.ts';
import { parseRecord } from '../../../../src/intake/records/parse.ts';
import { createLog } from '../../../../src/platform/core/log.ts';
import { parseExactJson } from '../../../../src/sources/upstreams/exact-json.ts';
import type { OpenSeaCollection } from '../../../../src/sources/upstreams/opensea/names.ts';
import type { ParsedPage, SourceRecord } from '../../../../src/sources/upstreams/response-rows.ts';
import { toReasons } from '../../../support/replay/every-fault.ts';
import type { Budget } from '../../../../src/sources/upstreams/budget.ts';
import { UpstreamClient } from '../../../../src/sources/upstreams/upstream-client.ts';
import type { WalkEnd } from '../../../../src/sources/upstreams/walk.ts';
import type { ServedCollection, ServedListing } from '../../../support/replay/opensea.ts';
import { APES, makeAddress, makeCollection, makeHash, openseaRoutes } from '../../../support/replay/opensea.ts';
import { startReplayServer } from '../../../support/replay/replay.ts';

const CHAINS = createChains();
export const AT = Date.parse('2026-09-01T00:00:00Z');
export const WAPE = '0x48b62137edfa95a428d35c09e44256a739f6b557';
export const USDC = { token: `0x${'dc'.repeat(20)}`, symbol: 'USDC', decimals: 6 };

export function chainOf(id: string): Chain {
  return CHAINS.get(id) ?? assert.fail(id);
}

export function addressOf(text: string): Address {
  return parseAddress('evm', text) ?? assert.fail(text);
}

export function assetOf(text: string): AssetId {
  return parseAssetId('evm', text) ?? assert.fail(text);
}

export const apes: OpenSeaCollection = {
  slug: APES.slug,
  chain: chainOf('apechain'),
  contractAddress: addressOf(APES.contract),
};
/** The collection of the orders in `orders-2023.json`. The replay server does not serve it. */
export const kites: OpenSeaCollection = {
  slug: 'paper-kites',
  chain: chainOf('ethereum'),
  contractAddress: addressOf('0x7f57bc32ee0034fa9a41fac7df1d2c0e5782b9ad'),
};

export async function start(t: TestContext, collections: readonly ServedCollection[] = []) {
  const routes = openseaRoutes(collections);
  const replay = await startReplayServer(t, routes);
  const connect = (timeoutMs?: number, budget?: Budget) => connectTo(replay.url, timeoutMs, budget);
  return { replay, routes, connect, upstream: connect() };
}

export function connectTo(baseUrl: string, timeoutMs = 5_000, budget: Budget | null = null) {
  return new UpstreamClient({
    budget,
    name: 'opensea',
    baseUrl,
    headers: { 'x-api-key': 'none' },
    timeoutMs,
    log: createLog('silent'),
    clock: Date.now,
    random: () => 0.5,
    retryMs: 1,
    breakerOpenMs: 0,
  });
}

export type Walked = { records: SourceRecord[]; rejected: string[]; skipped: number; end: WalkEnd };

export async function walk(pages: AsyncGenerator<ParsedPage, WalkEnd>): Promise<Walked> {
  const all: Omit<Walked, 'end'> = { records: [], rejected: [], skipped: 0 };
  for (;;) {
    const page = await pages.next();
    if (page.done) return { ...all, end: page.value };
    all.records.push(...page.value.records);
    all.rejected.push(...toReasons(page.value));
    all.skipped += page.value.skipped;
  }
}

/** Fails unless the intake accepts every record. */
export function assertTaken(records: readonly SourceRecord[]): void {
  const context = { chains: CHAINS, serviceName: 'mercat', seaport: new Map(), now: () => AT };
  for (const record of records) {
    const parsed = parseRecord(context, record);
    assert.ok(parsed.record, `${JSON.stringify(record)}: ${parsed.record ? '' : parsed.reason}`);
  }
}

export const listing = (number: number, part: Partial<ServedListing> = {}): ServedListing => ({
  tokenId: String(number),
  seller: makeAddress(number % 7),
  total: 10n ** 18n + BigInt((number * 7_919) % 1_000),
  hash: makeHash(number + 1),
  ...part,
});

export function makeMarket(part: Partial<ServedCollection> = {}): ServedCollection {
  return makeCollection({
    tokens: Array.from({ length: 450 }, (_, index) => String(index)),
    listings: Array.from({ length: 450 }, (_, index) => listing(index)),
    sales: Array.from({ length: 250 }, (_, index) => ({
      tokenId: String(index),
      raw: 10n ** 18n,
      tx: makeHash(90_000 + index),
      soldAt: 1_770_000_000 + index,
    })),
    ...part,
  });
}

export type Json = { [name: string]: Json } & Json[] & string & number & boolean;

/** Fetches the first row of a list from the replay server, changes it, and parses it as the client does. */
export async function changeRow(
  path: string,
  name: string,
  change: (row: Json) => unknown,
  t: TestContext,
): Promise<unknown[]> {
  const { replay } = await start(t, [makeMarket()]);
  const answer = (await (await fetch(replay.url + path)).json()) as Record<string, Json[]>;
  const row = answer[name]?.[0] ?? assert.fail('no row');
  change(row);
  return [(parseExactJson(Buffer.from(JSON.stringify([row]))) as unknown[])[0]];
}

export const set = (target: unknown, fields: object) => Object.assign(target as object, fields);
