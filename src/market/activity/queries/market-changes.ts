// Records, lists and deletes the changes that wait to be merged into the activity log. They are in the tables `main.market_change` and
// `indexer.market_change`. A change is recorded in the transaction that makes it.

import type { Queryable } from '../../../platform/database/port.ts';
import { toStatementBatches } from '../../../platform/database/row-source.ts';
import { boolean, column, list, rowDecoder, safeInteger, text } from '../../../platform/database/rows.ts';
import { toTimestamp } from '../../../platform/database/upsert.ts';
import type { ChangeOrigin, MarketChange } from '../market-change.ts';

/** The columns of a change, as a list for SQL. */
const CHANGE_COLUMNS = `kind, at, chain, collection_id, asset, price_raw, from_account, to_account, order_id, marketplace, tx, reason,
  block_number, log_index, quantity, payment, tokens, fact, facts`;

/** The columns with their types, for `json_to_recordset`. */
const TYPED_COLUMNS = `seq bigint, kind text, at timestamptz, chain text, collection_id text, asset text, price_raw numeric,
  from_account text, to_account text, order_id text, marketplace text, tx text, reason text, block_number bigint, log_index integer,
  quantity numeric, payment text, tokens jsonb, fact text, facts text[]`;

/** Records changes of one schema, in the given order. */
export async function insertMarketChanges(
  tx: Queryable,
  origin: ChangeOrigin,
  changes: readonly MarketChange[],
): Promise<void> {
  for (const batch of toStatementBatches(changes)) {
    await tx.query(
      `insert into ${origin}.market_change (${CHANGE_COLUMNS})
       select ${CHANGE_COLUMNS} from json_to_recordset($1::json) as incoming (${TYPED_COLUMNS}) order by seq`,
      [JSON.stringify(batch.map(toChangeColumns))],
    );
  }
}

function toChangeColumns(change: MarketChange, seq: number): Record<string, unknown> {
  return {
    seq,
    kind: change.kind,
    at: toTimestamp(change.at),
    chain: change.chain,
    collection_id: change.collectionId,
    asset: change.asset,
    price_raw: change.priceRaw?.toString(),
    from_account: change.from,
    to_account: change.to,
    order_id: change.orderId,
    marketplace: change.marketplace,
    tx: change.tx,
    reason: change.reason,
    block_number: change.blockNumber,
    log_index: change.logIndex,
    quantity: change.quantity?.toString(),
    fact: change.fact,
    facts: change.facts,
  };
}

/** Changes in the order in which they were recorded. `rows` is JSON text for `insertActivity`. `more`: whether further changes wait. */
export type ChangeBatch = { seqs: number[]; rows: string; isReorg: boolean; more: boolean };

const decodeBatch = rowDecoder('market_change', {
  seqs: list(safeInteger),
  rows: text,
  isReorg: column('is_reorg', boolean),
  more: boolean,
});

/** The oldest changes that can be merged together, at most `limit`. A change of the kind `reorg` is returned alone. */
export async function listMarketChanges(db: Queryable, origin: ChangeOrigin, limit: number): Promise<ChangeBatch> {
  const [row] = await db.query(
    `with oldest as (
       select * from ${origin}.market_change order by seq limit $1
     ), batch as (
       select * from oldest where seq < coalesce((
         select case when kind = 'reorg' and seq = (select min(seq) from oldest) then seq + 1 else seq end
         from oldest where kind = 'reorg' order by seq limit 1), 9223372036854775807)
     )
     select coalesce(json_agg(seq order by seq), '[]') as seqs, coalesce(json_agg(batch order by seq), '[]')::text as rows,
       coalesce(bool_or(kind = 'reorg'), false) as is_reorg,
       (select count(*) from oldest) = $1 or (select count(*) from oldest) > count(*) as more
     from batch`,
    [limit],
  );
  return decodeBatch(row ?? {});
}

export async function hasMarketChanges(db: Queryable, origin: ChangeOrigin): Promise<boolean> {
  return (await db.query(`select 1 from ${origin}.market_change limit 1`)).length > 0;
}

const decodeFact = rowDecoder('market_change', { fact: text });

/** The facts of the transfers of these blocks that wait in the indexer to be merged. */
export async function listRecordedTransfers(
  db: Queryable,
  chain: string,
  blocks: readonly number[],
): Promise<string[]> {
  const rows = await db.query(
    `select fact from indexer.market_change where chain = $1 and block_number = any($2::bigint[])
       and kind in ('mint', 'transfer', 'burn') and fact is not null`,
    [chain, blocks],
  );
  return rows.map((row) => decodeFact(row).fact);
}

export async function deleteMarketChanges(db: Queryable, origin: ChangeOrigin, seqs: readonly number[]): Promise<void> {
  if (seqs.length === 0) return;
  await db.query(`delete from ${origin}.market_change where seq = any($1::bigint[])`, [seqs]);
}

/** The changes of a batch as a table with the columns of `market_change`. `rows` is the placeholder of the JSON text. */
export const changesFrom = (rows: string): string => `json_to_recordset(${rows}::json) as incoming (${TYPED_COLUMNS})`;
