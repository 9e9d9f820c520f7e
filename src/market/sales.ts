// Completed sales, newest first. The page is cut first; rows whose price cannot be interpreted are dropped afterwards, so
// that a page may be short, even empty, while more follow.

import type { Sale } from './queries/sales.ts';
import { listSales } from './queries/sales.ts';
import { ServiceError } from '../core/errors.ts';
import type { Market } from './market.ts';
import { requireValue } from './market.ts';
import { chainAndAddressOf, resolveCollection } from './resolve-collection.ts';

export type SalePlace = { soldAt: number; key: string };
export type InterpretableSale = Sale & { raw: bigint };
export type SalePage = { sales: InterpretableSale[]; next: SalePlace | null };

/** The collection whose sales are read; `not_found` also when it has no address that a sale could name. */
export async function resolveTradedCollection(market: Market, id: string) {
  const collection = await resolveCollection(market, id);
  const place = chainAndAddressOf(market, collection);
  if (!place) throw new ServiceError('not_found', 'Collection has no contract address to read sales from');
  return { collection, ...place };
}

/** A page of sales before a place. Throws `upstream_error` when the indexer cannot be read. */
export async function readSales(
  market: Market,
  collectionId: string,
  query: { before: SalePlace | null; limit: number },
): Promise<SalePage> {
  const { before, limit } = query;
  const rows = requireValue(
    await market.sales.read((db) => listSales(db, collectionId, { before, limit: limit + 1 })),
    'upstream_error',
  );
  const page = rows.slice(0, limit);
  const last = page.at(-1);
  return {
    sales: page.filter((sale): sale is InterpretableSale => sale.raw !== null),
    next: rows.length > limit && last ? { soldAt: last.soldAt, key: last.key } : null,
  };
}
