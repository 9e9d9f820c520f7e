// Reads completed sales, newest first. Sales whose price cannot be interpreted are left out of a page after it was read. So a page may be
// short or empty although more pages follow.

import type { AssetId } from '../../platform/core/address.ts';
import type { Collection, CollectionLocation } from '../../platform/core/collection.ts';
import { ServiceError } from '../../platform/core/errors.ts';
import type { Market } from './market.ts';
import { requireValue } from './market-source.ts';
import type { Sale } from '../index/queries/sales.ts';
import { listSales } from '../index/queries/sales.ts';
import { locationOf, resolveCollection } from './resolve-collection.ts';

/** The position of the last row of a page. The next page begins after this position. */
export type SalePosition = { soldAt: number; key: string };
export type InterpretableSale = Sale & { asset: AssetId; raw: bigint };
export type SalePage = { sales: InterpretableSale[]; next: SalePosition | null };

/**
 * Finds a collection that has a location: a chain, and a contract or a collection mint. Throws `not_found` when `id` names no collection, or a
 * collection without a location.
 */
export async function resolveTradedCollection(
  market: Market,
  id: string,
): Promise<{ collection: Collection; location: CollectionLocation }> {
  const collection = await resolveCollection(market, id);
  const location = locationOf(market, collection);
  if (!location) throw new ServiceError('not_found', 'Collection has no contract address to read sales from');
  return { collection, location };
}

/** Newest first. With a position `before`, only older sales. Throws `upstream_error` when sales cannot be read. */
export async function readSales(
  market: Market,
  collectionId: string,
  { before, limit }: { before: SalePosition | null; limit: number },
): Promise<SalePage> {
  const rows = requireValue(
    await market.sales.read((db) => listSales(db, collectionId, { before, limit: limit + 1 })),
    'upstream_error',
  );
  const page = rows.slice(0, limit);
  const last = page.at(-1);
  return {
    sales: page.filter((sale): sale is InterpretableSale => sale.raw !== null && sale.asset !== null),
    next: rows.length > limit && last ? { soldAt: last.soldAt, key: last.key } : null,
  };
}
