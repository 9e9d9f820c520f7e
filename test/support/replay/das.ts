// A DAS endpoint for the replay server. It serves the assets that a test gives it, in pages as the vendor documents them. It responds
// to any other method with the response that was recorded from the vendor, if the recordings are present.

import { findRecordedRpcResponse } from '../recordings/payloads.ts';
import { parseFixture } from '../fixtures.ts';
import type { ReplayRequest, Route } from './replay.ts';

type Json = Record<string, any>;

export type DasStore = {
  assets: Json[];
  /** The most assets in one page, even if the requested limit is higher. */
  pageMax: number;
  spoil: (result: any, method: string) => unknown;
  asked: { method: string; params: Json }[];
};

/** The assets of the fixtures: the tokens of one collection, the assets of one wallet, and the asset of the collection itself. */
export function readDasFixtures(): { group: Json[]; wallet: Json[]; collection: Json } {
  return {
    group: parseFixture('das/assets-by-group.json').result.items,
    wallet: parseFixture('das/assets-by-owner.json').result.items,
    collection: parseFixture('das/collection.json').result,
  };
}

/** Creates a small asset of a collection, for tests that need thousands of assets. */
export function assetOf(mint: string, collection: string, more: Json = {}): Json {
  return {
    interface: 'Custom',
    id: mint,
    content: { metadata: { name: `Token ${mint.slice(0, 4)}` }, links: { image: 'https://example.org/a.png' } },
    grouping: [{ group_key: 'collection', group_value: collection, verified: true }],
    ownership: { frozen: false, delegated: false, delegate: null, ownership_model: 'single', owner: collection },
    burnt: false,
    token_info: { supply: 1, decimals: 0 },
    ...more,
  };
}

export function createDasStore(assets: Json[] = []): DasStore {
  return { assets, pageMax: 1_000, spoil: (result) => result, asked: [] };
}

export function dasRoutes(store: DasStore): Route[] {
  return [{ method: 'POST', path: /\//, origin: 'recorded rows', answer: (request) => answer(store, request) }];
}

function answer(store: DasStore, { body }: ReplayRequest): Json {
  const { id, method, params } = JSON.parse(body) as { id: unknown; method: string; params: Json };
  store.asked.push({ method, params });
  const recorded = findRecordedRpcResponse(method, id);
  if (recorded !== null) return recorded;
  const result = find(store, method, params);
  if (result === undefined) {
    return { ...parseFixture('das/not-found.json'), id };
  }
  return { jsonrpc: '2.0', id, result: store.spoil(result, method) };
}

function find({ assets, pageMax }: DasStore, method: string, params: Json): unknown {
  if (method === 'getAsset') return assets.find((asset) => asset['id'] === params['id']);
  if (method === 'getAssetBatch') {
    return (params['ids'] as string[]).map((id) => assets.find((asset) => asset['id'] === id) ?? null);
  }
  const limit = Math.min(params['limit'] as number, pageMax);
  const page = params['page'] as number;
  const group = assets.filter((asset) =>
    (asset['grouping'] as Json[]).some((one) => one['group_value'] === params['groupValue']),
  );
  const items = group.slice((page - 1) * limit, page * limit);
  return { total: items.length, limit, page, items };
}
