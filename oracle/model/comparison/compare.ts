// Reads what a service serves, and compares it with what the model expects. A difference is text: the path, what the model expects, and what was
// served.

import { isDeepStrictEqual } from 'node:util';
import type { Reader } from '../rules/figures.ts';
import { resolve } from '../rules/figures.ts';
import type { StreamCopy } from '../doors/copy.ts';
import { Unavailable } from '../errors.ts';
import type { Explorer, Json } from './explore.ts';
import { compareCollection, compareEverywhere, dataOf } from './explore.ts';
import { compareListsOf, compareListsOfAll } from './explore-lists.ts';
import type { Collection } from '../rules/market.ts';
import type { OrdersDoor } from '../doors/orders-door.ts';
import { CHAINS } from '../rules/records.ts';
import type { ServiceDoors } from '../doors/service-doors.ts';
import type { ShopDoor } from '../doors/shop-door.ts';
import { COLLECTION_IDS, COLLECTIONS, EVM_TOKENS, MINTS } from '../steps.ts';
import { ANY } from '../rules/shop.ts';
import * as views from '../rules/views.ts';

const LISTS = (['volume', 'floor', 'recent'] as const).flatMap((sort) =>
  [null, 'ethereum', 'solana'].map((chain) => ({ sort, chain })),
);

const CHOSEN_EVERY = 3;
/** Pages of several sizes, so that each run cuts lists at other places. */
const LIMITS = [1, 3, 25, 100];

export class Comparison {
  readonly #doors: ServiceDoors;
  readonly #reader: Reader;
  readonly #turn: number;
  readonly #limit: number;
  readonly differences: string[] = [];

  constructor(doors: ServiceDoors, reader: Reader, turn: number) {
    this.#doors = doors;
    this.#reader = reader;
    this.#turn = turn;
    this.#limit = LIMITS[turn % LIMITS.length] ?? 100;
  }

  /** Compares what `/v1` serves about some collections, and one list of collections. */
  async some(collectionIds: ReadonlySet<string>): Promise<string[]> {
    const names = this.#names();
    const [list, name] = [LISTS[this.#turn % LISTS.length], names[this.#turn % names.length]];
    await Promise.all([
      ...[...collectionIds].map((id) => this.#collection(id)),
      list && this.#list(list),
      name !== undefined && this.#name(name),
    ]);
    return this.differences;
  }

  /** Compares everything that `/v1` serves about the collections of a run. */
  async all(): Promise<string[]> {
    await Promise.all([
      ...COLLECTION_IDS.map((id) => this.#collection(id)),
      ...LISTS.map((list) => this.#list(list)),
      ...this.#names().map((name) => this.#name(name)),
    ]);
    return this.differences;
  }

  /** Compares what `/explore/v1` serves about some collections, and a copy of their open orders that follows the stream. */
  async explore(collectionIds: Iterable<string>, copy: StreamCopy): Promise<string[]> {
    const { collection } = this.#reader.market.tables;
    const stored = [...collectionIds].flatMap((id) => collection.get(id) ?? []);
    await Promise.all(
      stored.flatMap((one) => [
        compareCollection(this.#explorer(), one, copy),
        compareListsOf(this.#explorer(), one, copy),
      ]),
    );
    return this.differences;
  }

  /** Compares what `/explore/v1` and the tools for agents serve about all collections together. */
  async everywhere(copy: StreamCopy): Promise<string[]> {
    await Promise.all([compareEverywhere(this.#explorer(), copy), compareListsOfAll(this.#explorer())]);
    return this.differences;
  }

  /** Compares what is served about the collections that are followed on the chain and at the marketplace. */
  async chain(): Promise<string[]> {
    const expect = (path: string, expected: unknown, served: unknown) => this.#expect(path, expected, served);
    await this.#doors.chain.compare(this.#doors, expect, this.#limit);
    await this.#doors.vendor.compare(this.#doors, expect, this.#limit);
    return this.differences;
  }

  /** Compares what the typed client reads with the responses. It reads lists to their end, in pages of its own. */
  async client(): Promise<string[]> {
    const { client } = this.#doors;
    const rows = async (path: string) => this.#doors.rows(path, 100);
    const data = async (path: string) => dataOf((await this.#doors.get(path)).body);
    for (const id of this.#reader.market.tables.collection.keys()) {
      const [base, explored] = [`/v1/collections/${id}`, `/explore/v1/collections/${id}`];
      const page = { id, limit: this.#limit };
      const pairs: readonly [string, () => Promise<unknown>, () => Promise<unknown>][] = [
        [base, () => data(base), () => client.getCollection({ id }).then(dataOf)],
        [
          `${base}/floor`,
          async () => toFloor(await data(`${base}/floor`)),
          async () => toFloor(dataOf(await client.getFloor({ id }))),
        ],
        [`${base}/listings`, () => rows(`${base}/listings`), () => Array.fromAsync(client.listListings(page))],
        [`${base}/sales`, () => rows(`${base}/sales`), () => Array.fromAsync(client.listSales(page))],
        [explored, () => data(explored), () => client.getMarketCollection({ id }).then(dataOf)],
        [`${explored}/tokens`, () => rows(`${explored}/tokens`), () => Array.fromAsync(client.listTokens(page))],
        [`${explored}/traits`, () => rows(`${explored}/traits`), () => Array.fromAsync(client.listTraits(page))],
      ];
      for (const [path, expected, read] of pairs)
        this.#expect(`${path} by the typed client`, await expected(), await available(read));
    }
    const listed = await available(() =>
      Array.fromAsync(client.listCollections({ limit: this.#limit, sort: 'recent' })),
    );
    this.#expect('/v1/collections?sort=recent by the typed client', await rows('/v1/collections?sort=recent'), listed);
    return this.differences;
  }

  /** Compares the signed orders. */
  async signed(orders: OrdersDoor): Promise<string[]> {
    await orders.compare((path, expected, served) => this.#expect(path, expected, served));
    return this.differences;
  }

  #explorer(): Explorer {
    let count = this.#turn;
    return {
      isChosen: () => count++ % CHOSEN_EVERY === 0,
      doors: this.#doors,
      reader: this.#reader,
      limit: this.#limit,
      expect: (path, expected, served) => this.#expect(path, expected, served),
    };
  }

  /** Compares everything that the store serves. */
  async store(shop: ShopDoor): Promise<string[]> {
    await shop.compare((path, expected, served) => this.#expect(path, expected, served), this.#limit);
    return this.differences;
  }

  async #list({ sort, chain }: (typeof LISTS)[number]): Promise<void> {
    const path = `/v1/collections?sort=${sort}${chain === null ? '' : `&chain=${chain}`}`;
    const rows = this.#withoutFollowed(await this.#doors.rows(path, this.#limit));
    this.#expect(path, views.collections(this.#reader, sort, chain), rows?.map(toSummary) ?? null);
  }

  #withoutFollowed(rows: readonly unknown[] | null): Json[] | null {
    const followed = this.#doors.otherIds;
    return rows && (rows as Json[]).filter(({ id }) => !followed.has(String(id)));
  }

  /** All names of collections. */
  #names(): string[] {
    const { collection } = this.#reader.market.tables;
    return [
      ...COLLECTIONS.flatMap(({ contractAddress }) => [contractAddress, contractAddress.toLowerCase()]),
      ...COLLECTIONS.map(({ chain, contractAddress }) => `${chain}_${contractAddress}`),
      ...[...collection.values()].flatMap(({ slug }) => (slug === null ? [] : [slug])),
    ];
  }

  async #name(name: string): Promise<void> {
    const { status, body } = await this.#doors.get(`/v1/collections/${name}`);
    const served = status === 200 ? (dataOf(body)['id'] as string) : null;
    this.#expect(`/v1/collections/${name} (id)`, resolve(this.#reader, name)?.id ?? null, served);
  }

  async #collection(id: string): Promise<void> {
    const collection = this.#reader.market.tables.collection.get(id);
    const base = `/v1/collections/${id}`;
    if (!collection) {
      for (const path of [base, `${base}/floor`, `${base}/listings`, `${base}/sales`]) {
        const { status } = await this.#doors.get(path);
        this.#expect(path, 404, status);
      }
      return;
    }
    await this.#single(base, views.detail(this.#reader, collection), toDetail);
    await this.#single(`${base}/floor`, views.floor(this.#reader, collection), toFloor);
    const listings = await this.#doors.rows(`${base}/listings`, this.#limit);
    this.#expect(`${base}/listings`, views.listingWindow(this.#reader, collection), listings?.map(toItem) ?? null);
    const sales = await this.#doors.rows(`${base}/sales`, this.#limit);
    this.#expect(
      `${base}/sales`,
      sortTies(views.sales(this.#reader, collection)),
      sales && sortTies(sales.map((row) => toItem(row))),
    );
    for (const asset of CHAINS[collection.chain]?.family === 'evm' ? EVM_TOKENS : MINTS)
      await this.#token(collection, asset);
  }

  async #token(collection: Collection, asset: string): Promise<void> {
    const path = `/v1/tokens/${collection.chain}/${collection.contractAddress}/${asset}`;
    const expected = views.token(this.#reader, collection, asset);
    const { status, body } = await this.#doors.get(path);
    if (expected === null || status !== 200) {
      this.#expect(path, expected === null ? 404 : 200, status);
      return;
    }
    const served = toToken(dataOf(body));
    // Any of several sales of one time may be the last one.
    const isOneOfThem = expected.lastSale.some((one) => isDeepStrictEqual(one, served.lastSale));
    const lastSale = isOneOfThem ? served.lastSale : expected.lastSale[0];
    this.#expect(path, { ...expected, lastSale }, served);
  }

  async #single(path: string, expected: unknown, project: (data: Json) => unknown): Promise<void> {
    const { status, body } = await this.#doors.get(path);
    this.#expect(path, expected, status === 200 ? project(dataOf(body)) : `status ${status}`);
  }

  #expect(path: string, expected: unknown, served: unknown): void {
    if (isSame(expected, served)) return;
    this.differences.push(
      `${path}\n    model:  ${show(expected)}\n    served: ${show(served)}${describePlace(expected, served)}`,
    );
  }
}

/** What the typed client reads, with amounts as text like in the responses. */
async function available(read: () => Promise<unknown>): Promise<unknown> {
  const value = await read().catch((error: unknown) => {
    throw new Unavailable(`the typed client: ${String(error)}`);
  });
  return JSON.parse(
    JSON.stringify(value, (_name, part: unknown) => (typeof part === 'bigint' ? part.toString() : part)),
  );
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

function toFloor({ collectionId, askFloor, buyerFloor, aggregated, stale }: Json) {
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

const CLOSE = 1e-9;

/** Compares as JSON does, except that sums of doubles may differ in their last digits, and that ANY equals everything. */
export function isSame(expected: unknown, served: unknown): boolean {
  if (expected === ANY) return true;
  if (typeof expected === 'number' && typeof served === 'number')
    return Math.abs(expected - served) <= CLOSE * Math.max(1, Math.abs(expected));
  if (Array.isArray(expected) && Array.isArray(served))
    return expected.length === served.length && expected.every((one, index) => isSame(one, served[index]));
  if (isObject(expected) && isObject(served)) {
    const names = new Set([...Object.keys(expected), ...Object.keys(served)]);
    return [...names].every((name) => isSame(expected[name], served[name]));
  }
  return Object.is(expected, served);
}

function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function show(value: unknown): string {
  return JSON.stringify(value) ?? 'undefined';
}

/** The first member at which two values differ. */
function describePlace(expected: unknown, served: unknown): string {
  const place = findPlace(expected, served, '');
  return place === '' ? '' : `\n    differs at ${place}`;
}

function findPlace(expected: unknown, served: unknown, place: string): string {
  const names =
    (isObject(expected) && isObject(served)) || (Array.isArray(expected) && Array.isArray(served))
      ? [...new Set([...Object.keys(expected), ...Object.keys(served)])]
      : [];
  for (const name of names) {
    const [a, b] = [expected, served].map((value) => (value as Json)[name]);
    if (!isSame(a, b)) return findPlace(a, b, `${place}.${name}`);
  }
  return place === '' ? '' : `${place}: ${show(expected)} in the model, ${show(served)} served`;
}
