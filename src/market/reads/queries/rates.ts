// Reads and stores the newest dollar rate of each native currency. Primary database.

import type { Rate } from '../../../platform/core/price.ts';
import type { Queryable, Row } from '../../../platform/database/port.ts';
import { double, rowDecoder, text, timestamp } from '../../../platform/database/rows.ts';
import type { UpsertCounts } from '../../../platform/database/upsert.ts';
import { upsertRows } from '../../../platform/database/upsert.ts';

const decodeRate: (row: Row) => Rate = rowDecoder('rate', { symbol: text, usd: double, at: timestamp });

export async function listRates(db: Queryable): Promise<Rate[]> {
  const rows = await db.query(`select symbol, usd, at from main.rate`);
  return rows.map(decodeRate);
}

/** Of two rates with the same time, the rate that was ingested later is stored. */
export function upsertRates(tx: Queryable, rates: readonly Rate[]): Promise<UpsertCounts> {
  return upsertRows(tx, rates, {
    keyOf: (rate) => rate.symbol,
    fold: (earlier, later) => (later.at >= earlier.at ? later : earlier),
    columns: {
      symbol: { text: (rate) => rate.symbol },
      usd: { 'double precision': (rate) => rate.usd },
      at: { timestamptz: (rate) => rate.at },
    },
    sql: `upserted as (insert into main.rate as stored (symbol, usd, at)
      select * from incoming
      on conflict (symbol) do update set usd = excluded.usd, at = excluded.at
      where excluded.at >= stored.at and (stored.usd, stored.at) is distinct from (excluded.usd, excluded.at)
      returning (xmax = 0) as inserted)`,
  });
}
