// Stores records of the kind `sale`. A stored sale never changes. An import reports the records whose identity is stored with other facts.

import type { Queryable } from '../../database/port.ts';
import type { UpsertCounts } from '../../database/upsert.ts';
import type { NewSale, SaleFacts } from '../../market/queries/sales.ts';
import { listSaleFacts, upsertSales } from '../../market/queries/sales.ts';
import { quoteValue } from '../records/fields.ts';
import type { LineRejection, NumberedRecord } from '../records/parse.ts';

type NumberedSale = { line: number; sale: NewSale };

/** `isImport`: conflicts are reported. Otherwise they are counted as unchanged. The transaction must have locked the figures. */
export async function ingestSales(
  tx: Queryable,
  records: readonly NumberedRecord[],
  { isImport }: { isImport: boolean },
): Promise<{ counts: UpsertCounts; conflicts: LineRejection[] }> {
  const sales = records.flatMap(({ line, record }) => (record.kind === 'sale' ? [{ line, sale: record.row }] : []));
  const counts = await upsertSales(
    tx,
    sales.map(({ sale }) => sale),
  );
  const conflicts = isImport && counts.unchanged > 0 ? await findConflicts(tx, sales) : [];
  return { counts: { ...counts, unchanged: counts.unchanged - conflicts.length }, conflicts };
}

/** Compares each sale with the stored sale of the same identity. Called after the upsert, so that every sale is stored. */
async function findConflicts(tx: Queryable, sales: readonly NumberedSale[]): Promise<LineRejection[]> {
  const stored = await listSaleFacts(tx, [...new Set(sales.map(({ sale }) => sale.key))]);
  return sales.flatMap(({ line, sale }) => {
    const facts = stored.get(sale.key);
    const differences = facts ? describeDifferences(sale, facts) : '';
    return differences === '' ? [] : [{ line, kind: 'sale', reason: `this sale is stored with ${differences}` }];
  });
}

const FACTS = {
  source: 'source',
  price: 'price',
  seller: 'seller',
  buyer: 'buyer',
  soldAt: 'timestamp',
  listingId: 'listingId',
} as const satisfies Record<keyof SaleFacts, string>;

/** The stored facts that differ, such as `price "59", not "5900"`. Empty when none differs. */
function describeDifferences(sale: NewSale, stored: SaleFacts): string {
  return (Object.keys(FACTS) as (keyof SaleFacts)[])
    .filter((fact) => sale[fact] !== stored[fact])
    .map((fact) => `${FACTS[fact]} ${quoteFact(stored[fact])}, not ${quoteFact(sale[fact])}`)
    .join('; ');
}

function quoteFact(fact: SaleFacts[keyof SaleFacts]): string {
  if (fact === null) return 'nothing';
  return typeof fact === 'number' ? new Date(fact).toISOString() : quoteValue(fact);
}
