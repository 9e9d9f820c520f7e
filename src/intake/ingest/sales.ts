// Stores records of the kind `sale`. A stored sale never changes, except by an import that replaces sales. An import reports a record that
// contradicts a stored sale as a conflict.

import type { Queryable } from '../../platform/database/port.ts';
import type { PreparedRows, UpsertCounts } from '../../platform/database/upsert.ts';
import type { NewSale, SaleFacts } from '../../market/index/queries/sales.ts';
import {
  deleteDifferingSales,
  listSaleFacts,
  listSalesToName,
  prepareSales,
  REPORTED_NEWS_MS,
  upsertSales,
} from '../../market/index/queries/sales.ts';
import { toKeyText } from '../queries/tracked-tables.ts';
import { quoteValue } from '../records/fields.ts';
import type { LineRejection, NumberedRecord } from '../records/parse.ts';
import type { ChangeLog } from '../undo/change-log.ts';
import { trackNothing } from '../undo/change-log.ts';

type NumberedSale = { line: number; sale: NewSale };

/** Prepares reported sales. A sale that is older than REPORTED_NEWS_MS gets `isPast`, so that it makes no change in the activity log. */
export function prepareReportedSales(sales: readonly NewSale[], now: number): Promise<PreparedRows<NewSale>> {
  return prepareSales(withAge(sales, now));
}

function withAge(sales: readonly NewSale[], now: number): NewSale[] {
  return sales.map((sale) => ({ ...sale, isPast: sale.soldAt < now - REPORTED_NEWS_MS }));
}

/**
 * Writes the sales of `records`. If `isImport` is true, conflicts are reported; otherwise they are counted as unchanged. `prepared` has the same
 * sales as `records`; null for an import that replaces sales. Such an import uses the last of several records of one sale. This record replaces
 * a stored sale whose facts differ, unless the stored sale was read from a chain. `changes` records the written rows. The transaction must hold the
 * locks of the figures.
 */
export async function ingestSales(
  tx: Queryable,
  records: readonly NumberedRecord[],
  {
    prepared,
    now,
    isImport,
    changes,
  }: { prepared: PreparedRows<NewSale> | null; now: number; isImport: boolean; changes?: ChangeLog },
): Promise<{ counts: UpsertCounts; conflicts: LineRejection[] }> {
  const counts = prepared
    ? await upsertSales(tx, prepared, changes?.recordTo('sale'))
    : await replaceSales(
        tx,
        withAge(
          listNumbered(records).map(({ sale }) => sale),
          now,
        ),
        changes?.track,
      );
  if (!isImport || counts.unchanged === 0) return { counts, conflicts: [] };
  const found = await findConflicts(tx, listNumbered(records));
  // In an import that replaces sales, a record can differ from the stored sale because a later record of the batch replaced the sale. Such a
  // difference is no conflict.
  const conflicts = prepared === null ? found.filter(({ isChainRead }) => isChainRead) : found;
  return {
    counts: { ...counts, unchanged: counts.unchanged - conflicts.length },
    conflicts: conflicts.map(({ line, reason }) => ({ line, kind: 'sale', reason })),
  };
}

function listNumbered(records: readonly NumberedRecord[]): NumberedSale[] {
  return records.flatMap(({ line, record }) => (record.kind === 'sale' ? [{ line, sale: record.row }] : []));
}

/** If a record does not name the seller or the buyer, the stored seller or buyer is kept. */
async function replaceSales(tx: Queryable, sales: readonly NewSale[], track = trackNothing): Promise<UpsertCounts> {
  const lastByKey = new Map(sales.map((sale) => [sale.key, sale]));
  const stored = await listSaleFacts(tx, [...lastByKey.values()]);
  const last = Array.from(lastByKey.values(), (sale) => {
    const { seller = null, buyer = null } = stored.get(sale.key) ?? {};
    return { ...sale, seller: sale.seller ?? seller, buyer: sale.buyer ?? buyer };
  });
  // One statement deletes the stored sale, and another statement inserts it again. Neither sees the row both before and after the change, so
  // `track` reads the rows before and after both statements.
  const tracked = [...last, ...(await listSalesToName(tx, last))];
  const keys = tracked.map(({ collectionId, key }) => toKeyText(collectionId, key));
  return track(tx, 'sale', keys, async () => {
    const replaced = await deleteDifferingSales(tx, last);
    const { inserted, updated } = await upsertSales(tx, last);
    return { inserted: inserted - replaced, updated: replaced + updated, unchanged: sales.length - inserted - updated };
  });
}

/** Compares each sale with the stored sale of the same identity. Called after the upsert, so every sale is stored. */
async function findConflicts(
  tx: Queryable,
  sales: readonly NumberedSale[],
): Promise<{ line: number; reason: string; isChainRead: boolean }[]> {
  const stored = await listSaleFacts(tx, [...new Map(sales.map(({ sale }) => [sale.key, sale])).values()]);
  return sales.flatMap(({ line, sale }) => {
    const facts = stored.get(sale.key);
    const differences = facts ? describeDifferences(sale, facts) : '';
    if (!facts || differences === '') return [];
    return [{ line, reason: `this sale is stored with ${differences}`, isChainRead: facts.isChainRead }];
  });
}

const FACTS = {
  price: 'price',
  seller: 'seller',
  buyer: 'buyer',
  soldAt: 'timestamp',
} as const satisfies Record<keyof SaleFacts, string>;

/**
 * The stored facts that differ, such as `price "59", not "5900"`. Empty if none differs. If a seller or buyer is missing on one side,
 * that is no difference. The marketplace is not compared, because several marketplaces may report one sale.
 */
function describeDifferences(sale: NewSale, stored: SaleFacts): string {
  return (Object.keys(FACTS) as (keyof SaleFacts)[])
    .filter((fact) => sale[fact] !== null && stored[fact] !== null && sale[fact] !== stored[fact])
    .map((fact) => `${FACTS[fact]} ${quoteFact(stored[fact])}, not ${quoteFact(sale[fact])}`)
    .join('; ');
}

function quoteFact(fact: SaleFacts[keyof SaleFacts]): string {
  return typeof fact === 'number' ? new Date(fact).toISOString() : quoteValue(fact);
}
