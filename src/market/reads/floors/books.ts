// Reads the two books of collections, the own order book and the mirror. All figures that follow from the listings (the ask floor, the lowest
// total of a buyer, the number of listed assets) are computed from the same rows, so they cannot contradict each other.

import type { Collection } from '../../../platform/core/collection.ts';
import type { OwnBook } from '../../orders/queries/book-figures.ts';
import { listOwnBooks } from '../../orders/queries/book-figures.ts';
import { listFillableAssets, listFillableAssetsOf } from '../../orders/queries/fillable-orders.ts';
import { toKnownTotal } from '../../index/known-total.ts';
import { toOwnBuyerPrice } from '../buyer-price.ts';
import type { Market } from '../market.ts';
import type { MarketSource } from '../market-source.ts';
import { valueOrNull } from '../market-source.ts';
import type { Coverage } from '../../provenance/coverage.ts';
import type { CheapRow, MirrorRows } from '../../index/queries/listings.ts';
import { listMirrorRows } from '../../index/queries/listings.ts';

/**
 * `ask`: the lowest price. `total`: the lowest total of a buyer, fees included. Both are in base units, and null if nothing is
 * listed. `assets`: the number of listed assets.
 */
type BookFigures = { ask: bigint | null; total: bigint | null; assets: number };

/** `own.known`: the own order book has an order, of any status. `mirror`: without the assets that the own order book lists. Null if it cannot be read. */
export type Books = {
  own: (BookFigures & { known: boolean }) | null;
  mirror: (BookFigures & { coverage: readonly Coverage[] }) | null;
};

/**
 * The most assets of the own book that are read if the indexer's copy of the book is out of date. If the own book lists more assets, a
 * mirrored row of an asset that was not read still counts.
 */
const OWN_ASSETS_MAX = 50_000;

const NO_ORDER: OwnBook = { ask: null, total: null, bareAsk: null, assets: 0, started: [], known: false };
const NO_ROWS: MirrorRows = { rows: [], assets: 0, coverage: [] };

/**
 * The books by collection id. `source` reads the mirror. As in the listing window, a mirrored row is left out if the own book lists its asset.
 * If the own book cannot be read, no mirrored row is left out.
 */
export async function readBooks(
  market: Market,
  source: MarketSource,
  collections: readonly Collection[],
): Promise<ReadonlyMap<string, Books>> {
  const ids = collections.map(({ id }) => id);
  const now = market.clock();
  const read = source.withinOneDeadline();
  const readOwn = market.orderBook.withinOneDeadline();
  const ownSource = market.serviceName;
  const [mirrored, ordered] = await Promise.all([
    read((db) => listMirrorRows(db, ids, { now, ownSource })),
    readOwn((db) => listOwnBooks(db, ids, now)),
  ]);
  let own = valueOrNull(ordered);
  let mirror = valueOrNull(mirrored);
  const hidden = new Set<string>();
  const isVisible = (id: string) => (row: CheapRow) => !hidden.has(`${id} ${row.asset}`);
  if (own && mirror) {
    const book = own;
    const pairs = [...mirror].flatMap(([id, { rows }]) =>
      (book.get(id) ?? NO_ORDER).ask === null ? [] : rows.map(({ asset }) => ({ collectionId: id, asset })),
    );
    const found = pairs.length === 0 ? [] : valueOrNull(await readOwn((db) => listFillableAssetsOf(db, pairs, now)));
    for (const { collectionId, asset } of found ?? []) hidden.add(`${collectionId} ${asset}`);
    // The copy of the own book in the indexer is out of date if it lacks an order that has started, or the asset of a row that it does not
    // list. The cheapest row that is served may then be another row than those that were read.
    const outdated = ids.filter((id) => {
      const rows = mirror?.get(id)?.rows ?? [];
      return (book.get(id)?.started.length ?? 0) > 0 || rows.some((row) => row.isFree && !isVisible(id)(row));
    });
    const started = outdated.flatMap((id) => book.get(id)?.started.map((asset) => ({ collectionId: id, asset })) ?? []);
    const except =
      outdated.length === 0
        ? []
        : valueOrNull(await readOwn((db) => listFillableAssets(db, outdated, { now, limit: OWN_ASSETS_MAX })));
    if (found === null || except === null) {
      // Without the assets of the own book, nothing of it is known to be listed beside the mirror.
      own = null;
      hidden.clear();
    } else if (outdated.length > 0) {
      const again = await read((db) => listMirrorRows(db, outdated, { now, ownSource, started, except }));
      mirror = again.ok ? new Map([...mirror, ...again.value]) : null;
    }
  }
  return new Map(
    collections.map((collection) => {
      const { id } = collection;
      const rows = mirror && (mirror.get(id) ?? NO_ROWS);
      return [
        id,
        {
          own: own && toOwnFigures(market, collection, own.get(id) ?? NO_ORDER),
          mirror: rows && toMirrorFigures(market, collection, { ...rows, rows: rows.rows.filter(isVisible(id)) }),
        },
      ];
    }),
  );
}

function toOwnFigures(market: Market, collection: Collection, book: OwnBook): NonNullable<Books['own']> {
  const { ask, known, assets } = book;
  const bareTotal = book.bareAsk === null ? null : toOwnBuyerPrice(market, collection, book.bareAsk).total;
  return { ask, total: lowestOf([book.total, bareTotal]), assets: ask === null ? 0 : Math.max(1, assets), known };
}

function toMirrorFigures(
  market: Market,
  collection: Collection,
  { rows, assets, coverage }: MirrorRows,
): NonNullable<Books['mirror']> {
  const totals = rows.map(({ raw, total, isOwn }) => {
    if (isOwn && total === null) return toOwnBuyerPrice(market, collection, raw).total;
    return toKnownTotal(raw, total) ?? raw;
  });
  return {
    ask: lowestOf(rows.map(({ raw }) => raw)),
    total: lowestOf(totals),
    // The number was maintained for the copy of the own book. If the copy is out of date, at least the rows that were read are listed.
    assets: rows.length === 0 ? 0 : Math.max(assets, new Set(rows.map(({ asset }) => asset)).size),
    coverage,
  };
}

export function lowestOf(amounts: readonly (bigint | null)[]): bigint | null {
  let lowest: bigint | null = null;
  for (const amount of amounts) if (amount !== null && (lowest === null || amount < lowest)) lowest = amount;
  return lowest;
}
