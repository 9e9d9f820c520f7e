// A DAS endpoint as the replay server answers for it: recorded assets, in pages cut as the documentation says. Only the frame
// of an answer, and the assets that stand for collections, are made.

import { findRecordedRpcResponse, findPayload } from '../recordings/payloads.ts';
import type { ReplayRequest, Route } from './replay.ts';

type Json = Record<string, any>;

export const FAMOUS_FOX = 'BUjZjAS2vbbb65g7Z1Ca9ZRVYoJscURG5L3AkVvHP9ac';

export type DasStore = {
  assets: Json[];
  /** Fewer a page than asked for, as an endpoint may say. */
  pageMax: number;
  /** Spoils what would be answered. */
  spoil: (result: any, method: string) => unknown;
  asked: { method: string; params: Json }[];
};

/** The recorded assets: 50 of one creator, 50 of one wallet. Null where they are not at hand. */
export function readRecordedAssets(): { foxes: Json[]; wallet: Json[] } | null {
  const foxes = findPayload('helius/getAssetsByCreator.famous-fox.50.json');
  const wallet = findPayload('helius/getAssetsByOwner.50.json');
  if (foxes === null || wallet === null) return null;
  return { foxes: JSON.parse(foxes).result.items, wallet: JSON.parse(wallet).result.items };
}

/** By the schema: an asset as the recorded ones are. */
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

/** The asset that stands for a collection, from what the recorded ones repeat of it. */
export function collectionAssetOf(recorded: Json): Json {
  const { group_value: id, collection_metadata: metadata } = recorded['grouping'][0];
  const { name, description, image } = metadata;
  return { ...recorded, id, grouping: [], content: { metadata: { name, description }, links: { image } } };
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
    return {
      jsonrpc: '2.0',
      id,
      error: { code: -32000, message: 'Database Error: RecordNotFound Error: Asset Not Found' },
    };
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
