// The section `sales` of the service's status: how many sales have no price in the native currency of their chain.

import type { StatusProvider } from '../../platform/core/status.ts';
import type { Database } from '../../platform/database/port.ts';
import { countUnpricedSales } from './queries/sales.ts';

/**
 * `withoutNativePrice`: sales in a currency that is neither the native one nor its wrapped form, sales with one price for tokens of
 * several contracts together, and sales whose price is not known. They are stored, but are not part of any volume.
 */
export type SalesStatus = { chain: string; withoutNativePrice: number };

const TIMEOUT_MS = 2_000;

export function createSalesStatus(indexer: Database): StatusProvider {
  return { section: 'sales', read: () => readSalesStatus(indexer) };
}

/** Returns the chains that have sales without a native price, sorted by chain. */
export async function readSalesStatus(indexer: Database): Promise<SalesStatus[]> {
  const counts = await countUnpricedSales(indexer.within(TIMEOUT_MS));
  return counts.map(({ chain, sales }) => ({ chain, withoutNativePrice: sales }));
}
