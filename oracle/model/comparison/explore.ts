// What `/explore/v1` must serve about one collection: its orders, traits, holders, sales, history and figures. "explore" is docs/explore.md.

import type { CopiedOrder } from '../doors/copy.ts';
import { spread, topBidOfCollection } from '../rules/bids.ts';
import type { Reader } from '../rules/figures.ts';
import {
  compareText,
  hasRisen,
  holdings,
  listingFigures,
  openListings,
  salesOf,
  toAmount,
  toRatio,
  tokensOf,
  tradeFigures,
  walletListings,
} from '../rules/figures.ts';
import type { Collection, Listing } from '../rules/market.ts';
import { isUnnamed, statusAt } from '../rules/market.ts';
import { isEvm } from '../rules/records.ts';
import * as views from '../rules/views.ts';
import { EVM_WALLETS, SOLANA_WALLETS } from '../steps.ts';
import type { Check, Json } from './check.ts';
import { assetOf, dataOf, proceedsOf, rawOf } from './check.ts';
import type { Context } from './context.ts';
import { byText, EXPLORE, rowsOf } from './context.ts';

const HOUR_MS = 3_600_000;

type Compare = Check['compare'];

export function collectionChecks(context: Context, collection: Collection): Check[] {
  const { id } = collection;
  const base = `${EXPLORE}/collections/${id}`;
  const check = (path: string, compare: Compare): Check => ({ path, of: id, compare });
  return [
    check(`open orders of ${id} in a copy that follows the stream`, () => copiedOrders(context, id)),
    check(`the last floor of ${id} in the stream`, () => lastFloor(context, collection)),
    ...orderChecks(context, id),
    ...orderLists(context, collection).map(([path, compare]) => check(path, compare)),
    ...walletChecks(context, collection).map(([path, compare]) => check(path, compare)),
    check(`${base}/traits`, () => compareTraits(context, collection)),
    check(`${base}/holders`, () => compareHolders(context, collection)),
    check(`${EXPLORE}/activity?collection=${id}&kinds=sale`, () => compareSales(context, collection)),
    check(`${base}/history?interval=hour`, () => compareHistory(context, collection)),
    check(base, async () => {
      const { body } = await context.doors.get(base);
      return [figuresOf(context.reader, collection), toFigures(dataOf(body))];
    }),
    check(`the change of the floor of ${id}`, () => compareChange(context, collection)),
    check(`the provenance of ${id}`, () => compareProvenance(context, id)),
  ];
}

const toRow = ({ orderId, asset, priceRaw }: Listing) => `${asset} ${priceRaw} ${orderId}`;
const toCopied = ({ orderId, asset, raw }: CopiedOrder) => `${asset} ${raw} ${orderId}`;
const toServedRow = (row: Json) => `${assetOf(row)} ${rawOf(row['price'])} ${String(row['orderId'])}`;

/** Explore, "The stream": "the last change of an order says its state". */
async function copiedOrders({ reader, copy }: Context, id: string): ReturnType<Compare> {
  return [openListings(reader, id).map(toRow).toSorted(), copy.of(id).map(toCopied).toSorted()];
}

/** Explore, "Activity": the last change of the kind `floor` says the floor. */
async function lastFloor({ reader, copy }: Context, collection: Collection): ReturnType<Compare> {
  return [listingFigures(reader, collection).floorRaw?.toString() ?? null, copy.floorOf(collection.id)];
}

/** Explore, "Orders": "`{orderId}` is the `orderId` of a listing". Every order that was ever stored is found. */
function orderChecks({ doors, reader }: Context, id: string): Check[] {
  const { order, listing } = reader.market.tables;
  const rows = [...order.values(), ...listing.values()].filter((row) => row.collectionId === id && !isUnnamed(row));
  return rows.map((row) => {
    const path = `${EXPLORE}/orders/${row.orderId}`;
    const { orderId, seller } = row;
    const expected = { status: statusAt(row, reader.now), orderId, raw: row.priceRaw.toString(), seller };
    return {
      path,
      of: id,
      compare: async () => {
        const { status, body } = await doors.get(path);
        if (status !== 200) return [expected, status];
        const served = dataOf(body);
        const item = served['listing'] as Json;
        return [
          expected,
          {
            status: served['status'],
            orderId: served['orderId'],
            raw: rawOf(item['price']),
            seller: item['seller'],
          },
        ];
      },
    };
  });
}

/** Explore, "Orders": "every order of this service and every listing of other marketplaces", each in the list of its status, sorted. */
function orderLists(context: Context, { id }: Collection): [string, Compare][] {
  const { reader } = context;
  const open = openListings(reader, id);
  const { order, listing } = reader.market.tables;
  const stored = [...order.values(), ...listing.values()].filter((row) => row.collectionId === id);
  const list = (query: string, expected: readonly Listing[], sortBy: (row: Json) => bigint): [string, Compare] => {
    const path = `${EXPLORE}/orders?collection=${id}&${query}`;
    const compare: Compare = async () => {
      const rows = (await rowsOf(context, path)) ?? [];
      const values = rows.map(sortBy);
      const isSorted = values.every((value, index) => index === 0 || (values[index - 1] ?? value) <= value);
      return [
        { rows: expected.map(toRow).toSorted(), isSorted: true },
        { rows: rows.map(toServedRow).toSorted(), isSorted },
      ];
    };
    return [path, compare];
  };
  const timeOf = (row: Json, name: string) => BigInt(Date.parse(String(row[name])));
  const newestFirst = (row: Json) => -timeOf(row, 'timestamp');
  const ended = ['filled', 'cancelled', 'expired'].map(
    (status) => [status, stored.filter((row) => statusAt(row, reader.now) === status)] as const,
  );
  return [
    list('sort=price', open, (row) => BigInt(rawOf(row['price']) ?? 0)),
    list(
      'sort=expires',
      open.filter(({ expiresAt }) => expiresAt !== null),
      (row) => timeOf(row, 'expiresAt'),
    ),
    ...sellersOf(open).map((seller) =>
      list(
        `maker=${seller}`,
        open.filter((row) => row.seller === seller),
        newestFirst,
      ),
    ),
    ...ended.flatMap(([status, rows]) => (rows.some(isUnnamed) ? [] : [list(`status=${status}`, rows, newestFirst)])),
  ];
}

const sellersOf = (rows: readonly Listing[]) => [...new Set(rows.map(({ seller }) => seller))];

/** Explore, "Wallets": "the tokens whose beneficial owner it is. The rule is that of /v1", and their listings. */
function walletChecks(context: Context, collection: Collection): [string, Compare][] {
  const { reader } = context;
  const { id, chain } = collection;
  const inCollection = (row: Json) => row['collectionId'] === id;
  const wallets = (isEvm(collection) ? EVM_WALLETS : SOLANA_WALLETS).slice(0, 3);
  return [
    ...sellersOf(openListings(reader, id)).map((seller): [string, Compare] => {
      const path = `${EXPLORE}/wallets/${seller}/listings?chain=${chain}`;
      return [
        `${path} (${id})`,
        async () => [
          walletListings(reader, id, seller).map(toRow).toSorted(),
          (await rowsOf(context, path))?.filter(inCollection).map(toServedRow).toSorted() ?? null,
        ],
      ];
    }),
    ...wallets.map((wallet): [string, Compare] => {
      const address = isEvm(collection) ? wallet.toLowerCase() : wallet;
      const path = `${EXPLORE}/wallets/${address}/tokens?chain=${chain}`;
      return [
        `${path} (${id})`,
        async () => {
          const rows = await rowsOf(context, path);
          const shown = knownAssets(reader, collection).map((asset) => views.ownedToken(reader, collection, asset));
          const owned = shown.filter(({ owner }) => owner.address === address).map(({ asset }) => asset);
          return [owned.toSorted(), rows?.filter(inCollection).map(assetOf).toSorted() ?? null];
        },
      ];
    }),
  ];
}

/** The assets with a token record or a listing, own or mirrored. */
export function knownAssets(reader: Reader, { id }: Collection): string[] {
  const listed = openListings(reader, id).map(({ asset }) => asset);
  return [...new Set([...tokensOf(reader, id).map(({ asset }) => asset), ...listed])];
}

/** Explore, "Traits": "A number is served only if it is exact, otherwise it is null." */
async function compareTraits(context: Context, collection: Collection): ReturnType<Compare> {
  const path = `${EXPLORE}/collections/${collection.id}/traits`;
  const rows = (await rowsOf(context, path)) as { name: string; values: Json[] }[] | null;
  const served = rows?.flatMap(({ name, values }) =>
    values.map(({ value, count, listed, floor, topBid }) => ({
      name,
      value,
      count,
      listed,
      floor: rawOf(floor),
      topBid: proceedsOf(topBid),
    })),
  );
  const key = (row: { name: unknown; value: unknown }) => `${String(row.name)} ${String(row.value)}`;
  return [byText(views.traits(context.reader, collection), key), served ? byText(served, key) : null];
}

/** Explore, "Holders": "served only if the holder of every token is known … Otherwise the numbers are null and the lists are empty." */
async function compareHolders({ doors, reader }: Context, collection: Collection): ReturnType<Compare> {
  const served = dataOf((await doors.get(`${EXPLORE}/collections/${collection.id}/holders`)).body);
  const tokens = tokensOf(reader, collection.id);
  const counts = new Map<string, number>();
  for (const { owner } of tokens) if (owner !== null) counts.set(owner, (counts.get(owner) ?? 0) + 1);
  const largest = (served['largest'] as Json[])
    .map(({ address, tokens: count }) => `${String(address)} ${String(count)}`)
    .toSorted();
  const shown = { holders: served['holders'], tokens: served['tokens'], largest };
  if (served['holders'] === null) return [{ holders: null, tokens: null, largest: [] }, shown];
  const { supply, owners } = holdings(reader, collection);
  const all = Array.from(counts, ([address, count]) => `${address} ${count}`).toSorted();
  return [collection.tokensComplete ? { holders: owners, tokens: supply, largest: all } : 'null', shown];
}

/** Explore, "Activity": "`/activity` with `collection` reads past sales from the stored sales", and `self`. */
async function compareSales(context: Context, { id }: Collection): ReturnType<Compare> {
  const rows = await rowsOf(context, `${EXPLORE}/activity?collection=${id}&kinds=sale`);
  const served = rows
    ?.filter((row) => row['voidedBy'] === null)
    .map(({ at, tokenId, mint, price, from, to, self }) =>
      [at, tokenId ?? mint, rawOf(price), from, to, self].join(' '),
    );
  const expected = salesOf(context.reader, id).map((sale) =>
    [
      new Date(sale.soldAt).toISOString(),
      sale.assets.length === 1 ? sale.assets[0] : null,
      toAmount(sale.price)?.toString() ?? null,
      sale.seller,
      sale.buyer,
      sale.seller !== null && sale.seller === sale.buyer,
    ].join(' '),
  );
  return [expected.toSorted(), served?.toSorted() ?? null];
}

type Point = {
  from: string;
  volume: number | null;
  sales: number;
  floor: Record<'open' | 'high' | 'low' | 'close', { raw: string } | null>;
  listed: number | null;
};

/**
 * Explore, "History": "Volume and sales are sums of the stored sales, by the rule of sales", and "floors and listed counts are those that /v1 served": the floors of each
 * hour continue those of the hour before, and the last ones are those of the present.
 */
async function compareHistory({ doors, reader }: Context, collection: Collection): ReturnType<Compare> {
  const from = new Date(reader.now - 7 * 24 * HOUR_MS).toISOString();
  const path = `${EXPLORE}/collections/${collection.id}/history?interval=hour&from=${from}`;
  const { data: points } = (await doors.get(path)).body as { data: Point[] };
  const traded = points
    .filter(({ volume, sales }) => volume !== 0 || sales !== 0)
    .map((point) => [point.from, point.volume, point.sales]);
  const firstPoint = points[0]?.from ?? '';
  const hours = Array.from(views.hours(reader, collection), ([at, { volume, sales }]) => [at, volume, sales])
    .filter(([at, volume, sales]) => String(at) >= firstPoint && (volume !== 0 || sales !== 0))
    .toSorted((a, b) => compareText(String(a[0]), String(b[0])));
  const { floorRaw, listedCount } = listingFigures(reader, collection);
  const last = points.at(-1);
  return [
    { hours, broken: [], floor: floorRaw?.toString() ?? null, listed: listedCount },
    {
      hours: traded,
      broken: points.filter((point, index) => !continues(point, points[index - 1])),
      floor: last?.floor.close?.raw ?? null,
      listed: last?.listed,
    },
  ];
}

/**
 * Explore, "Collections": the floor "compared with the floor of an hour, 24 hours, seven days and 30 days ago". "The past floors in these fields come from the history, which has
 * the floor at the end of each hour": that of the last hour that had ended then.
 */
async function compareChange({ doors, reader }: Context, { id }: Collection): ReturnType<Compare> {
  const { stats } = dataOf((await doors.get(`${EXPLORE}/collections/${id}`)).body) as { stats: Json };
  const { twentyFourHour: served } = stats['floorChange'] as { twentyFourHour: number | null };
  const then = Math.floor((reader.now - 24 * HOUR_MS) / HOUR_MS) * HOUR_MS;
  const from = new Date(then - HOUR_MS).toISOString();
  const path = `${EXPLORE}/collections/${id}/history?interval=hour&from=${from}`;
  const { data } = (await doors.get(path)).body as { data: Point[] };
  const point = data.find((one) => one.from === from);
  const [now, before] = [rawOf(stats['floor']), point?.floor.close?.raw ?? null];
  const isKnown = now !== null && before !== null;
  return [isKnown ? toRatio(BigInt(now) - BigInt(before), BigInt(before)) : null, served];
}

/** Whether the floors of a point begin with the last one of the point before, and lie within their range. */
function continues({ floor }: Point, before: Point | undefined): boolean {
  const [open, high, low, close] = (['open', 'high', 'low', 'close'] as const).map((name) =>
    floor[name] === null ? null : BigInt(floor[name].raw),
  );
  const isWithin = [open, close].every(
    (raw) =>
      typeof raw !== 'bigint' || (typeof high === 'bigint' && typeof low === 'bigint' && low <= raw && raw <= high),
  );
  return isWithin && (!before || (before.floor.close?.raw ?? null) === (floor.open?.raw ?? null));
}

/** Provenance: a figure of the kind `unknown` is null, and only such a figure; of a floor it may be known that there is none. */
async function compareProvenance({ doors }: Context, id: string): ReturnType<Compare> {
  const { stats } = dataOf((await doors.get(`${EXPLORE}/collections/${id}`)).body) as { stats: Json };
  const { figures } = dataOf((await doors.get(`${EXPLORE}/collections/${id}/provenance`)).body) as {
    figures: { figure: string; kind: string }[];
  };
  const valueAt = (figure: string) => figure.split('.').reduce<unknown>((part, name) => (part as Json)[name], stats);
  const wrong = figures.filter(({ figure, kind }) => {
    if (figure === 'rarity.rank') return false;
    const isNull = valueAt(figure) === null;
    return figure === 'floor' ? kind === 'unknown' && !isNull : (kind === 'unknown') !== isNull;
  });
  return [[], wrong.map(({ figure, kind }) => `${figure} is ${kind}: ${String(valueAt(figure))}`)];
}

/** Explore, "Collections": "of the same moment as `stats.floor` and `stats.listedCount`, and never below the floor". */
export function figuresOf(reader: Reader, collection: Collection) {
  const { floorRaw, buyerFloorRaw, listedCount } = listingFigures(reader, collection);
  return {
    id: collection.id,
    floor: floorRaw?.toString() ?? null,
    buyerFloor: buyerFloorRaw?.toString() ?? null,
    listedCount,
    volume: tradeFigures(reader, collection, 'volume'),
    sales: tradeFigures(reader, collection, 'sales'),
    hasRisen: [hasRisen(reader, collection, 24 * HOUR_MS), hasRisen(reader, collection, 7 * 24 * HOUR_MS)],
    topBid: topBidOfCollection(reader, collection.id)?.toString() ?? null,
    spread: spread(reader, collection),
  };
}

export function toFigures({ id, stats }: Json) {
  const { floor, buyerFloor, listedCount, volume, sales, volumeChange, topBid, spread: served } = stats as Json;
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
    topBid: proceedsOf(topBid),
    spread: served,
  };
}
