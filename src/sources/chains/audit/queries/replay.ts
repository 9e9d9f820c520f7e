// Copies the chain log, and the rows that were derived from it, into the schema `served` of another database. A replay of the log
// then writes the schemas `main` and `indexer` of that database. The databases of the service are only read.

import type { ChainEvent, EventPosition } from '../../../../market/chain-log/chain-event.ts';
import { decodeEvent, KINDS } from '../../../../market/chain-log/queries/event-rows.ts';
import type { Database, Queryable } from '../../../../platform/database/port.ts';
import type { Sides } from '../../../../platform/database/snapshot.ts';

/** The copied tables. `$1` holds chain ids or collection ids, as `by` says. */
const COPIED = [
  { side: 'main', table: 'follow', by: 'collectionIds', where: `collection_id = any($1)` },
  { side: 'main', table: 'book_order', by: 'chains', where: `chain = any($1) and order_hash is not null` },
  {
    side: 'main',
    table: 'order_cancel',
    by: 'chains',
    where: `order_id in (select id from main.book_order where chain = any($1) and order_hash is not null)`,
  },
  { side: 'main', table: 'funds', by: 'chains', where: `chain = any($1)` },
  { side: 'main', table: 'chain_event', by: 'chains', where: `chain = any($1)` },
  { side: 'main', table: 'offerer_counter', by: 'chains', where: `chain = any($1)` },
  { side: 'main', table: 'holding', by: 'collectionIds', where: `collection_id = any($1)` },
  { side: 'main', table: 'operator_approval', by: 'collectionIds', where: `collection_id = any($1)` },
  { side: 'main', table: 'token_approval', by: 'collectionIds', where: `collection_id = any($1)` },
  { side: 'indexer', table: 'sale', by: 'collectionIds', where: `collection_id = any($1)` },
  { side: 'indexer', table: 'sale_hour', by: 'collectionIds', where: `collection_id = any($1)` },
  { side: 'indexer', table: 'sale_total', by: 'collectionIds', where: `collection_id = any($1)` },
  { side: 'indexer', table: 'token', by: 'collectionIds', where: `collection_id = any($1)` },
  { side: 'indexer', table: 'holder', by: 'collectionIds', where: `collection_id = any($1)` },
] as const;

const COPY_SIZE = 2_000;

/** `into` is a database that has both schemas and no rows. */
export async function copyServed(
  sides: Sides,
  into: Database,
  selected: { chains: readonly string[]; collectionIds: readonly string[] },
): Promise<void> {
  await into.query(`create schema served`);
  for (const { side, table, by, where } of COPIED) {
    const from = sides[side];
    await into.query(`create table served.${table} (like ${side}.${table} including indexes)`);
    // Rows are copied as text, so that no number is rounded. The column `seaport` is left out: it is large and not derived from the log.
    await from.query(
      `declare served_rows no scroll cursor for
       select (to_jsonb(stored) - 'seaport')::text as row from ${side}.${table} as stored where ${where}`,
      [selected[by]],
    );
    for (;;) {
      const rows = await from.query<{ row: string }>(`fetch ${COPY_SIZE} from served_rows`);
      if (rows.length === 0) break;
      await into.query(
        `insert into served.${table} select * from jsonb_populate_recordset(null::served.${table}, $1)`,
        [`[${rows.map(({ row }) => row).join(',')}]`],
      );
    }
    await from.query(`close served_rows`);
  }
}

/** Writes the rows to which the log is applied, and the funds of bidders, which are not in the log. The orders are reset to the state that they had when they were signed. */
export async function insertAsSigned(tx: Queryable): Promise<void> {
  await tx.query(`insert into main.follow select * from served.follow`);
  await tx.query(`insert into main.order_cancel select * from served.order_cancel`);
  await tx.query(`insert into main.funds select * from served.funds`);
  await tx.query(`insert into main.book_order select * from served.book_order`);
  await tx.query(
    `update main.book_order set status = 'active', dormant = null, filled_quantity = 0, ended_at = null, tx = null`,
  );
}

/** The copied events of a chain after the position `after`, in block order. */
export async function listCopiedEvents(
  db: Queryable,
  chain: string,
  { after, limit }: { after: Pick<EventPosition, 'blockNumber' | 'logIndex' | 'part'> | null; limit: number },
): Promise<ChainEvent[]> {
  const rows = await db.query(
    `select block_number, log_index, part, block_time, tx, kind, details
     from served.chain_event where chain = $1 and (block_number, log_index, part) > ($2::bigint, $3::integer, $4::integer)
       and kind = any($6)
     order by block_number, log_index, part limit $5`,
    [chain, after?.blockNumber ?? -1, after?.logIndex ?? -1, after?.part ?? -1, limit, KINDS],
  );
  return rows.map(decodeEvent);
}

export async function listOrderIdsAfter(
  db: Queryable,
  chain: string,
  { after, limit }: { after: string; limit: number },
): Promise<string[]> {
  const rows = await db.query<{ id: string }>(
    `select id from main.book_order where chain = $1 and order_hash is not null and id > $2 order by id limit $3`,
    [chain, after, limit],
  );
  return rows.map((row) => row.id);
}
