// What `/v1` must serve about the collections of the model.

import { isDeepStrictEqual } from 'node:util';
import type { Reader } from '../rules/figures.ts';
import { resolve } from '../rules/figures.ts';
import type { Collection } from '../rules/market.ts';
import { isEvm } from '../rules/records.ts';
import * as views from '../rules/views.ts';
import { COLLECTION_IDS, COLLECTIONS, EVM_TOKENS, MINTS } from '../steps.ts';
import type { Check, Json } from './check.ts';
import { dataOf } from './check.ts';
import type { Context } from './context.ts';
import { withoutOthers } from './context.ts';

const LISTS = (['volume', 'floor', 'recent'] as const).flatMap((sort) =>
  [null, 'ethereum', 'solana'].map((chain) => ({ sort, chain })),
);

export function marketplaceChecks(context: Context): Check[] {
  return [
    ...COLLECTION_IDS.flatMap((id) => collectionChecks(context, id)),
    ...LISTS.map((list) => listCheck(context, list)),
    ...namesOf(context.reader).map((name) => nameCheck(context, name)),
  ];
}

function collectionChecks(context: Context, id: string): Check[] {
  const { doors, reader, limit } = context;
  const collection = reader.market.tables.collection.get(id);
  const base = `/v1/collections/${id}`;
  if (!collection)
    return [base, `${base}/floor`, `${base}/listings`, `${base}/sales`].map((path) => ({
      path,
      of: id,
      compare: async () => [404, (await doors.get(path)).status],
    }));
  const single = (path: string, expected: () => unknown, project: (data: Json) => unknown): Check => ({
    path,
    of: id,
    compare: async () => {
      const { status, body } = await doors.get(path);
      return [expected(), status === 200 ? project(dataOf(body)) : `status ${status}`];
    },
  });
  const assets = isEvm(collection) ? EVM_TOKENS : MINTS;
  return [
    single(base, () => views.detail(reader, collection), toDetail),
    {
      // Endpoint rule 5: `meta` is "absent on a healthy response".
      path: `${base}/listings (members)`,
      of: id,
      compare: async () => [
        ['data', 'pagination'],
        Object.keys((await doors.get(`${base}/listings?limit=1`)).body as object).toSorted(),
      ],
    },
    single(`${base}/floor`, () => views.floor(reader, collection), toFloor),
    {
      path: `${base}/listings`,
      of: id,
      compare: async () => {
        const rows = await doors.rows(`${base}/listings`, limit);
        return [views.listingWindow(reader, collection), rows?.map(toItem) ?? null];
      },
    },
    {
      path: `${base}/sales`,
      of: id,
      compare: async () => {
        const rows = await doors.rows(`${base}/sales`, limit);
        return [sortTies(views.sales(reader, collection)), rows && sortTies(rows.map((row) => toItem(row)))];
      },
    },
    ...assets.map((asset) => tokenCheck(context, collection, asset)),
  ];
}

function listCheck({ doors, reader, limit }: Context, { sort, chain }: (typeof LISTS)[number]): Check {
  const path = `/v1/collections?sort=${sort}${chain === null ? '' : `&chain=${chain}`}`;
  return {
    path,
    of: null,
    compare: async () => {
      const rows = withoutOthers(doors, await doors.rows(path, limit));
      return [views.collections(reader, sort, chain), rows?.map(toSummary) ?? null];
    },
  };
}

/** All names of collections. */
function namesOf(reader: Reader): string[] {
  const { collection } = reader.market.tables;
  return [
    ...COLLECTIONS.flatMap(({ contractAddress }) => [contractAddress, contractAddress.toLowerCase()]),
    ...COLLECTIONS.map(({ chain, contractAddress }) => `${chain}_${contractAddress}`),
    ...[...collection.values()].flatMap(({ slug }) => (slug === null ? [] : [slug])),
  ];
}

function nameCheck({ doors, reader }: Context, name: string): Check {
  return {
    path: `/v1/collections/${name} (id)`,
    of: null,
    compare: async () => {
      const { status, body } = await doors.get(`/v1/collections/${name}`);
      return [resolve(reader, name)?.id ?? null, status === 200 ? dataOf(body)['id'] : null];
    },
  };
}

function tokenCheck({ doors, reader }: Context, collection: Collection, asset: string): Check {
  const path = `/v1/tokens/${collection.chain}/${collection.contractAddress}/${asset}`;
  return {
    path,
    of: collection.id,
    compare: async () => {
      const expected = views.token(reader, collection, asset);
      const { status, body } = await doors.get(path);
      if (expected === null || status !== 200) return [expected === null ? 404 : 200, status];
      const served = toToken(dataOf(body));
      // Any of several sales of one time may be the last one.
      const isOneOfThem = expected.lastSale.some((one) => isDeepStrictEqual(one, served.lastSale));
      return [{ ...expected, lastSale: isOneOfThem ? served.lastSale : expected.lastSale[0] }, served];
    },
  };
}

function toPrice(value: unknown): unknown {
  if (value === null) return null;
  const { raw, decimal, currency, usd } = value as Json;
  return { raw, decimal, currency, hasUsd: usd !== null };
}

function toItem(value: unknown): Json {
  const row = value as Json;
  return { ...row, price: toPrice(row['price']) };
}

function toDetail({ stats, ...data }: Json) {
  const { floor, volume, sales, supply, owners, listedCount } = stats as Json;
  return {
    ...toIdentity(data),
    stats: { floor: toPrice(floor), volume, sales, supply, owners, listedCount },
    stale: data['stale'],
  };
}

function toIdentity(data: Json) {
  const { id, chain, contractAddress, name, slug, image, description, royaltyBps } = data;
  return { id, chain, contractAddress, name, slug, image, description, royaltyBps };
}

function toSummary(value: unknown) {
  const { stats, ...data } = value as Json;
  const { floor, volumeAllTime, supply, owners } = stats as Json;
  return { ...toIdentity(data), stats: { floor: toPrice(floor), volumeAllTime, supply, owners } };
}

export function toFloor({ collectionId, askFloor, buyerFloor, aggregated, stale }: Json) {
  return { collectionId, askFloor: toPrice(askFloor), buyerFloor: toPrice(buyerFloor), aggregated, stale };
}

function toToken(data: Json) {
  const { chain, contractAddress, tokenId, mint, collectionId, name, image, rarity, owner, listing, lastSale } = data;
  return {
    chain,
    contractAddress,
    tokenId,
    mint,
    collectionId,
    name,
    image,
    rank: (rarity as Json)['rank'],
    owner,
    listing: listing === null ? null : toItem(listing),
    lastSale: lastSale === null ? null : toPrice((lastSale as Json)['price']),
  };
}

/** Rows of one time may be in any order. */
function sortTies<T extends { timestamp?: unknown }>(rows: readonly T[]): T[] {
  const isSorted = rows.every(
    (row, index) => index === 0 || String(row.timestamp) <= String(rows[index - 1]?.timestamp),
  );
  if (!isSorted) return [...rows];
  return rows.toSorted((a, b) => {
    const [first, second] = [a, b].map((row) => `${String(row.timestamp)} ${JSON.stringify(row)}`);
    return (first ?? '') < (second ?? '') ? 1 : -1;
  });
}
