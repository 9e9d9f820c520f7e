// Compares `/explore/v1` and the tools for agents with the model. "explore" is docs/explore.md.

import type { CopiedOrder, StreamCopy } from '../doors/copy.ts';
import type { Reader } from '../rules/figures.ts';
import {
  compareText,
  hasRisen,
  holdings,
  listingFigures,
  openListings,
  resolve,
  salesOf,
  toAmount,
  tokensOf,
  tradeFigures,
  walletListings,
} from '../rules/figures.ts';
import type { Collection, Listing } from '../rules/market.ts';
import { isUnnamed, statusAt } from '../rules/market.ts';
import { CHAINS } from '../rules/records.ts';
import type { ServiceDoors } from '../doors/service-doors.ts';
import { EVM_TOKENS, EVM_WALLETS, MINTS, SOLANA_WALLETS } from '../steps.ts';
import * as views from '../rules/views.ts';

export type Json = Record<string, unknown>;

export type Explorer = {
  doors: ServiceDoors;
  reader: Reader;
  limit: number;
  expect: (path: string, expected: unknown, served: unknown) => void;
  /** Whether a list of many is read after this step: each is read after every third comparison. */
  isChosen: () => boolean;
};

const HOUR_MS = 3_600_000;
const EXPLORE = '/explore/v1';

/** Compares everything that is served about one collection. */
export async function compareCollection(explorer: Explorer, collection: Collection, copy: StreamCopy): Promise<void> {
  const { id } = collection;
  const open = openListings(explorer.reader, id);
  explorer.expect(
    `open orders of ${id} in a copy that follows the stream`,
    open.map(toRow).toSorted(),
    copy.of(id).map(toCopied).toSorted(),
  );
  await compareOrders(explorer, collection);
  await compareOrderList(explorer, collection, open);
  await compareWallets(explorer, collection, open);
  await compareTokens(explorer, collection);
  await compareTraits(explorer, collection);
  await compareHolders(explorer, collection);
  await compareSales(explorer, collection);
  await compareHistory(explorer, collection);
  await compareFigures(explorer, collection);
}

const toRow = ({ orderId, asset, priceRaw }: Listing) => `${asset} ${priceRaw} ${orderId}`;
const toCopied = ({ orderId, asset, raw }: CopiedOrder) => `${asset} ${raw} ${orderId}`;
const toServedRow = (row: Json) => `${assetOf(row)} ${rawOf(row['price'])} ${String(row['orderId'])}`;

/** Explore, "Orders": "`{orderId}` is the `orderId` of a listing". Every order that was ever stored is found. */
async function compareOrders({ doors, reader, expect }: Explorer, { id }: Collection): Promise<void> {
  for (const row of [...reader.market.tables.order.values(), ...reader.market.tables.listing.values()]) {
    if (row.collectionId !== id || isUnnamed(row)) continue;
    const path = `${EXPLORE}/orders/${row.orderId}`;
    const { status, body } = await doors.get(path);
    const served = status === 200 ? dataOf(body) : null;
    const item = served && (served['listing'] as Json);
    const expected = {
      status: statusAt(row, reader.now),
      orderId: row.orderId,
      raw: row.priceRaw.toString(),
      seller: row.seller,
    };
    expect(
      path,
      expected,
      served && {
        status: served['status'],
        orderId: served['orderId'],
        raw: item && rawOf(item['price']),
        seller: item && item['seller'],
      },
    );
  }
}

/** Explore, "Orders": "every order of this service and every listing of other marketplaces", each in the list of its status, sorted. */
async function compareOrderList(
  { doors, reader, limit, expect }: Explorer,
  { id }: Collection,
  open: readonly Listing[],
): Promise<void> {
  const { order, listing } = reader.market.tables;
  const stored = [...order.values(), ...listing.values()].filter((row) => row.collectionId === id);
  const check = async (query: string, expected: readonly Listing[], sortBy: (row: Json) => bigint) => {
    const path = `${EXPLORE}/orders?collection=${id}&${query}`;
    const rows = (await doors.rows(path, limit)) as Json[] | null;
    expect(path, expected.map(toRow).toSorted(), rows?.map(toServedRow).toSorted() ?? null);
    const values = rows?.map(sortBy) ?? [];
    const isSorted = values.every((value, index) => index === 0 || (values[index - 1] ?? value) <= value);
    expect(`whether ${path} is sorted`, true, isSorted);
  };
  const timeOf = (row: Json, name: string) => BigInt(Date.parse(String(row[name])));
  await check('sort=price', open, (row) => BigInt(rawOf(row['price']) ?? 0));
  const expiring = open.filter(({ expiresAt }) => expiresAt !== null);
  await check('sort=expires', expiring, (row) => timeOf(row, 'expiresAt'));
  for (const seller of new Set(open.map((row) => row.seller))) {
    const ofSeller = open.filter((row) => row.seller === seller);
    await check(`maker=${seller}`, ofSeller, (row) => -timeOf(row, 'timestamp'));
  }
  for (const status of ['filled', 'cancelled', 'expired']) {
    const ended = stored.filter((row) => statusAt(row, reader.now) === status);
    if (ended.some(isUnnamed)) continue;
    await check(`status=${status}`, ended, (row) => -timeOf(row, 'timestamp'));
  }
}

/** Explore, "Wallets": "the tokens whose beneficial owner it is. The rule is that of /v1", and their listings. */
async function compareWallets(
  { doors, reader, limit, expect }: Explorer,
  collection: Collection,
  open: readonly Listing[],
): Promise<void> {
  const { id, chain } = collection;
  const inCollection = (row: Json) => row['collectionId'] === id;
  for (const seller of new Set(open.map((row) => row.seller))) {
    const path = `${EXPLORE}/wallets/${seller}/listings?chain=${chain}`;
    const rows = (await doors.rows(path, limit)) as Json[] | null;
    const expected = walletListings(reader, id, seller).map(toRow).toSorted();
    expect(`${path} (${id})`, expected, rows?.filter(inCollection).map(toServedRow).toSorted() ?? null);
  }
  const shown = knownAssets(reader, collection).map((asset) => views.ownedToken(reader, collection, asset));
  for (const wallet of (isEvm(collection) ? EVM_WALLETS : SOLANA_WALLETS).slice(0, 3)) {
    const address = isEvm(collection) ? wallet.toLowerCase() : wallet;
    const path = `${EXPLORE}/wallets/${address}/tokens?chain=${chain}`;
    const rows = (await doors.rows(path, limit)) as Json[] | null;
    const owned = shown.filter(({ owner }) => owner.address === address).map(({ asset }) => asset);
    expect(`${path} (${id})`, owned.toSorted(), rows?.filter(inCollection).map(assetOf).toSorted() ?? null);
  }
}

/** Explore, "Tokens": the tokens of which there is a record; "only with this sort does the list also have listed tokens" without one. */
async function compareTokens(explorer: Explorer, collection: Collection): Promise<void> {
  const { doors, reader, limit, expect } = explorer;
  const { id } = collection;
  const recorded = tokensOf(reader, id).map(({ asset }) => asset);
  const tokenOf = (asset: string) => views.ownedToken(reader, collection, asset);
  const byAsset = (rows: readonly { asset: string }[]) => rows.toSorted((a, b) => compareText(a.asset, b.asset));
  const read = async (query: string) => {
    const rows = (await doors.rows(`${EXPLORE}/collections/${id}/tokens?${query}`, limit)) as Json[] | null;
    return rows?.map(toToken) ?? [];
  };
  const check = async (query: string, assets: readonly string[]) =>
    expect(`${EXPLORE}/collections/${id}/tokens?${query}`, byAsset(assets.map(tokenOf)), byAsset(await read(query)));
  await check('sort=id', recorded);
  await check(
    'sort=id&listed=true',
    recorded.filter((asset) => tokenOf(asset).listing !== null),
  );
  const hats = tokensOf(reader, id).filter(({ traits }) =>
    traits?.some(({ name, value }) => name === 'Hat' && value === 'Cap'),
  );
  const isHat = (asset: string) => hats.some((token) => token.asset === asset);
  if (hats.length > 0) {
    await check(
      'sort=id&traits[Hat]=Cap',
      hats.map(({ asset }) => asset),
    );
    await check(
      'sort=price&listed=true&traits[Hat]=Cap',
      recorded.filter((asset) => isHat(asset) && tokenOf(asset).listing !== null),
    );
  } else {
    // Explore: "a trait that a collection does not have" is a 400. The last token with a trait may have been burned: then the list is empty.
    const path = `${EXPLORE}/collections/${id}/tokens?traits[Hat]=Cap`;
    const { status, body } = await doors.get(path);
    expect(`${path} without such a token`, true, status === 400 || (dataOf(body) as unknown as Json[]).length === 0);
  }
  const priced = await read('sort=price');
  compareIdentity(explorer, collection, priced);
  const known = knownAssets(reader, collection);
  expect(`${EXPLORE}/collections/${id}/tokens?sort=price`, byAsset(known.map(tokenOf)), byAsset(priced));
  const prices = priced.map(({ listing }) => (listing ? BigInt(String(listing.raw)) : null));
  const isSorted = prices.every((price, at) => {
    const next = prices[at + 1];
    return next === undefined || next === null || (price !== null && price <= next);
  });
  expect(`${EXPLORE}/collections/${id}/tokens?sort=price (cheapest first)`, true, isSorted);
  const assets = isEvm(collection) ? EVM_TOKENS : MINTS;
  const tokens = assets.map((asset) => ({
    chain: collection.chain,
    address: collection.contractAddress,
    tokenId: asset,
  }));
  const batch = dataOf((await doors.post(`${EXPLORE}/tokens/batch`, { tokens })).body) as unknown as (Json | null)[];
  const inBatch = (asset: string) =>
    known.includes(asset) || views.token(reader, collection, asset) !== null ? tokenOf(asset) : null;
  expect(
    `${EXPLORE}/tokens/batch of ${id}`,
    assets.map(inBatch),
    batch.map((row) => row && toToken(row)),
  );
}

/** One order has one identity: a client joins what it reads with the stream by `orderId` (explore, "Snapshot, then follow"). */
function compareIdentity(
  { reader, expect }: Explorer,
  { id }: Collection,
  tokens: readonly { listing: { orderId: unknown } | null }[],
): void {
  const known = new Set(openListings(reader, id).map(({ orderId }) => orderId));
  const shown = tokens.flatMap(({ listing }) => (listing ? [String(listing.orderId)] : []));
  const unknown = shown.filter((orderId) => !known.has(orderId));
  expect(`orderId of the listings of ${id} in tokens that no order has`, [], unknown);
}

/** The assets with a token record or a listing, own or mirrored. */
export function knownAssets(reader: Reader, { id }: Collection): string[] {
  const listed = openListings(reader, id).map(({ asset }) => asset);
  return [...new Set([...tokensOf(reader, id).map(({ asset }) => asset), ...listed])];
}

/** Explore, "Traits": "A number is served only if it is exact, otherwise it is null." */
async function compareTraits({ doors, reader, limit, expect }: Explorer, collection: Collection): Promise<void> {
  const path = `${EXPLORE}/collections/${collection.id}/traits`;
  const rows = (await doors.rows(path, limit)) as { name: string; values: Json[] }[] | null;
  const served = rows?.flatMap(({ name, values }) =>
    values.map(({ value, count, listed, floor }) => ({ name, value, count, listed, floor: rawOf(floor) })),
  );
  const key = (row: { name: unknown; value: unknown }) => `${String(row.name)} ${String(row.value)}`;
  const sorted = (all: readonly { name: unknown; value: unknown }[]) =>
    all.toSorted((a, b) => compareText(key(a), key(b)));
  expect(path, sorted(views.traits(reader, collection)), served ? sorted(served) : null);
}

/** Explore, "Holders": "served only if the holder of every token is known … Otherwise the numbers are null and the lists are empty." */
async function compareHolders({ doors, reader, expect }: Explorer, collection: Collection): Promise<void> {
  const path = `${EXPLORE}/collections/${collection.id}/holders`;
  const served = dataOf((await doors.get(path)).body);
  const tokens = tokensOf(reader, collection.id);
  const counts = new Map<string, number>();
  for (const { owner } of tokens) if (owner !== null) counts.set(owner, (counts.get(owner) ?? 0) + 1);
  const largest = (served['largest'] as Json[])
    .map(({ address, tokens: count }) => `${String(address)} ${String(count)}`)
    .toSorted();
  const shown = { holders: served['holders'], tokens: served['tokens'], largest };
  if (served['holders'] === null) {
    expect(path, { holders: null, tokens: null, largest: [] }, shown);
    return;
  }
  const { supply, owners } = holdings(reader, collection);
  const all = Array.from(counts, ([address, count]) => `${address} ${count}`).toSorted();
  expect(path, collection.tokensComplete ? { holders: owners, tokens: supply, largest: all } : 'null', shown);
}

/** Explore, "Activity": "`/activity` with `collection` reads past sales from the stored sales", and `self`. */
async function compareSales({ doors, reader, limit, expect }: Explorer, collection: Collection): Promise<void> {
  const path = `${EXPLORE}/activity?collection=${collection.id}&kinds=sale`;
  const rows = (await doors.rows(path, limit)) as Json[] | null;
  const served = rows
    ?.filter((row) => row['voidedBy'] === null)
    .map(({ at, tokenId, mint, price, from, to, self }) =>
      [at, tokenId ?? mint, rawOf(price), from, to, self].join(' '),
    );
  const expected = salesOf(reader, collection.id).map((sale) =>
    [
      new Date(sale.soldAt).toISOString(),
      sale.assets.length === 1 ? sale.assets[0] : null,
      toAmount(sale.price)?.toString() ?? null,
      sale.seller,
      sale.buyer,
      sale.seller !== null && sale.seller === sale.buyer,
    ].join(' '),
  );
  expect(path, expected.toSorted(), served?.toSorted() ?? null);
}

/** Explore, "History": "Volume and sales are sums of the stored sales, by the rule of sales". */
async function compareHistory({ doors, reader, expect }: Explorer, collection: Collection): Promise<void> {
  const from = new Date(reader.now - 7 * 24 * HOUR_MS).toISOString();
  const path = `${EXPLORE}/collections/${collection.id}/history?interval=hour&from=${from}`;
  const { body } = await doors.get(path);
  const points = (body as { data: { from: string; volume: number | null; sales: number }[] }).data;
  const traded = points
    .filter(({ volume, sales }) => volume !== 0 || sales !== 0)
    .map((point) => [point.from, point.volume, point.sales]);
  const firstPoint = points[0]?.from ?? '';
  const hours = Array.from(views.hours(reader, collection), ([at, { volume, sales }]) => [at, volume, sales])
    .filter(([at, volume, sales]) => String(at) >= firstPoint && (volume !== 0 || sales !== 0))
    .toSorted((a, b) => compareText(String(a[0]), String(b[0])));
  expect(path, hours, traded);
}

async function compareFigures({ doors, reader, expect }: Explorer, collection: Collection): Promise<void> {
  const path = `${EXPLORE}/collections/${collection.id}`;
  expect(path, figuresOf(reader, collection), toFigures(dataOf((await doors.get(path)).body)));
}

/** Explore, "Collections": "of the same moment as `stats.floor` and `stats.listedCount`, and never below the floor". */
function figuresOf(reader: Reader, collection: Collection) {
  const { floorRaw, buyerFloorRaw, listedCount } = listingFigures(reader, collection);
  return {
    id: collection.id,
    floor: floorRaw?.toString() ?? null,
    buyerFloor: buyerFloorRaw?.toString() ?? null,
    listedCount,
    volume: tradeFigures(reader, collection, 'volume'),
    sales: tradeFigures(reader, collection, 'sales'),
    hasRisen: [hasRisen(reader, collection, 24 * HOUR_MS), hasRisen(reader, collection, 7 * 24 * HOUR_MS)],
  };
}

function toFigures({ id, stats }: Json) {
  const { floor, buyerFloor, listedCount, volume, sales, volumeChange } = stats as Json;
  const { twentyFourHour, sevenDay } = volumeChange as { twentyFourHour: number | null; sevenDay: number | null };
  const risen = [twentyFourHour, sevenDay].map((change) => change && change > 0);
  return {
    id,
    floor: rawOf(floor),
    buyerFloor: buyerFloor && rawOf((buyerFloor as Json)['price']),
    listedCount,
    volume,
    sales,
    hasRisen: risen.map((one) => (one === 0 ? false : one)),
  };
}

const FILTERS = ['list,reprice', 'sale', 'floor,cancel,expire,fill'] as const;

/** Explore, "The stream": the parameters `collections` and `kinds` leave out other events, also while other clients have other filters. */
async function compareStreams({ doors, expect }: Explorer, copy: StreamCopy, collectionId: string): Promise<void> {
  const read = async (kinds: string) => {
    const isWanted = (kind: string) => kinds.split(',').includes(kind);
    // Explore, kinds of activity, remove: "a stream has these events whatever its filter is".
    const wanted = copy.log.filter(
      (one) => one.kind === 'remove' || (one.collectionId === collectionId && isWanted(one.kind)),
    );
    const offsets = wanted.map(({ offset }) => offset);
    const path = `${EXPLORE}/stream?from=0&collections=${collectionId}&kinds=${kinds}`;
    const served = await doors.events(path, offsets.length);
    expect(path, offsets, served);
  };
  await Promise.all(FILTERS.map(read));
}

/** Compares the list of collections, the search and a tool for agents. */
export async function compareEverywhere(explorer: Explorer, copy: StreamCopy): Promise<void> {
  const { doors, reader, limit, expect } = explorer;
  const { collection: collections } = reader.market.tables;
  const byId = (rows: readonly { id: unknown }[]) => rows.toSorted((a, b) => compareText(String(a.id), String(b.id)));
  const listPath = `${EXPLORE}/collections?sort=volume`;
  const rows = (await doors.rows(listPath, limit)) as Json[] | null;
  const all = [...collections.values()].map((one) => figuresOf(reader, one));
  const followed = doors.otherIds;
  expect(listPath, byId(all), rows && byId(rows.map(toFigures).filter(({ id }) => !followed.has(String(id)))));

  for (const query of new Set([...collections.values()].flatMap(({ name, slug }) => [name, slug ?? name]))) {
    const path = `${EXPLORE}/search?q=${encodeURIComponent(query)}&limit=50`;
    const found = (dataOf((await doors.get(path)).body) as unknown as Json[]).map((row) =>
      row['collection'] ? String((row['collection'] as Json)['id']) : String((row['token'] as Json)['collectionId']),
    );
    const named = [...collections.values()].filter(({ name, slug }) => name === query || slug === query);
    expect(
      `${path} (not found)`,
      [],
      named.map(({ id }) => id).filter((id) => !found.includes(id)),
    );
    // A token can be stored without a record of its collection.
    const isStored = (id: string) => followed.has(id) || collections.has(id) || tokensOf(reader, id).length > 0;
    expect(
      `${path} (not stored)`,
      [],
      found.filter((id) => !isStored(id)),
    );
  }

  for (const token of reader.market.tables.token.values()) {
    if (token.name === null) continue;
    const path = `${EXPLORE}/search?q=${encodeURIComponent(token.name)}&limit=50`;
    const found = (dataOf((await doors.get(path)).body) as unknown as Json[]).flatMap(({ token: one }) =>
      one ? [`${String((one as Json)['collectionId'])} ${assetOf(one as Json)}`] : [],
    );
    expect(
      `${path} (token ${token.asset} of ${token.collectionId})`,
      true,
      found.includes(`${token.collectionId} ${token.asset}`),
    );
  }

  // Explore has no sentence about it; store, "400 unknown field", gives the reason: a request that means something else must not succeed.
  const unread = `${EXPLORE}/activity?kind=sale`;
  expect(`${unread} with an unknown parameter`, 400, (await doors.get(unread)).status);

  for (const id of collections.keys()) await compareStreams(explorer, copy, id);

  for (const one of collections.values()) {
    const { data } = (await doors.tool('get_collection', { collection: one.id })) as { data: Json };
    const { floorRaw, buyerFloorRaw, listedCount } = listingFigures(reader, one);
    const figures = data['figures'] as { figure: string; value: unknown; kind: string }[];
    const valueOf = (name: string) => figures.find(({ figure }) => figure === name)?.value ?? null;
    expect(
      `the tool get_collection of ${one.id}`,
      {
        askFloor: floorRaw?.toString() ?? null,
        buyerFloor: buyerFloorRaw?.toString() ?? null,
        listedCount,
        unknown: true,
      },
      {
        askFloor: rawOf(data['askFloor']),
        buyerFloor: rawOf(data['buyerFloor']),
        listedCount: valueOf('listedCount'),
        // Provenance: a figure of the kind "unknown" is null.
        unknown: figures.every(({ kind, value }) => kind !== 'unknown' || value === null),
      },
    );
    expect(`resolve ${one.id}`, one.id, resolve(reader, one.id)?.id ?? null);
  }
}

function toToken(row: Json) {
  const listing = row['listing'] as Json | null;
  const traits = (row['traits'] as { name: string; value: string }[]).map(({ name, value }) => `${name}: ${value}`);
  return {
    asset: assetOf(row),
    name: row['name'],
    image: withoutHost(row['image'] as string | null),
    owner: row['owner'] as { address: string | null },
    listing: listing && { raw: rawOf(listing['price']), orderId: listing['orderId'] },
    traits: traits.toSorted(),
  };
}

/** The URL of an image at the service, which begins with the public address of the service, without this address. */
function withoutHost(image: string | null): string | null {
  return image && image.replace(/^http:\/\/[^/]+(?=\/explore\/v1\/)/, '');
}

export function isEvm({ chain }: Collection): boolean {
  return CHAINS[chain]?.family === 'evm';
}

export function dataOf(body: unknown): Json {
  return (body as { data: Json }).data;
}

export function rawOf(price: unknown): string | null {
  return price === null || price === undefined ? null : String((price as Json)['raw']);
}

export function assetOf(row: Json): string {
  return String(row['tokenId'] ?? row['mint']);
}
