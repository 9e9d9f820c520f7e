// The log of the chains, and what is served because of it, copied into a database of its own: there under the schema `told`,
// so that the schemas `main` and `indexer` beside it are free to be written anew from the log. It never writes what it reads.

import type { ChainEvent } from '../../chain-log/chain-event.ts';
import { toChainEvent } from '../../chain-log/queries/chain-events.ts';
import type { Database, Queryable } from '../../database/port.ts';
import type { Sides } from '../../database/snapshot.ts';

/** Of each table the part that concerns the chains, or the followed collections, `$1`. */
const TOLD = [
  { side: 'main', table: 'follow', by: 'collectionIds', where: `collection_id = any($1)` },
  { side: 'main', table: 'book_order', by: 'chains', where: `chain = any($1) and order_hash is not null` },
  {
    side: 'main',
    table: 'order_cancel',
    by: 'chains',
    where: `order_id in (select id from main.book_order where chain = any($1) and order_hash is not null)`,
  },
  { side: 'main', table: 'chain_event', by: 'chains', where: `chain = any($1)` },
  { side: 'main', table: 'offerer_counter', by: 'chains', where: `chain = any($1)` },
  { side: 'main', table: 'holding', by: 'collectionIds', where: `collection_id = any($1)` },
  { side: 'main', table: 'operator_approval', by: 'collectionIds', where: `collection_id = any($1)` },
  { side: 'main', table: 'token_approval', by: 'collectionIds', where: `collection_id = any($1)` },
  { side: 'indexer', table: 'sale', by: 'collectionIds', where: `collection_id = any($1)` },
  { side: 'indexer', table: 'sale_hour', by: 'collectionIds', where: `collection_id = any($1)` },
  { side: 'indexer', table: 'sale_total', by: 'collectionIds', where: `collection_id = any($1)` },
  { side: 'indexer', table: 'token', by: 'collectionIds', where: `collection_id = any($1)` },
] as const;

/** Rows copied at a time. */
const COPY_SIZE = 2_000;

/** Copies all that concerns the chains and the collections into `into`, which has both schemas, empty. */
export async function copyTold(
  sides: Sides,
  into: Database,
  wanted: { chains: readonly string[]; collectionIds: readonly string[] },
): Promise<void> {
  await into.query(`create schema told`);
  for (const { side, table, by, where } of TOLD) {
    const from = sides[side];
    await into.query(`create table told.${table} (like ${side}.${table} including indexes)`);
    // As text, so that no number is rounded. Signed orders are big, and what was signed does not change.
    await from.query(
      `declare told_rows no scroll cursor for
       select (to_jsonb(stored) - 'seaport')::text as row from ${side}.${table} as stored where ${where}`,
      [wanted[by]],
    );
    for (;;) {
      const rows = await from.query<{ row: string }>(`fetch ${COPY_SIZE} from told_rows`);
      if (rows.length === 0) break;
      await into.query(`insert into told.${table} select * from jsonb_populate_recordset(null::told.${table}, $1)`, [
        `[${rows.map(({ row }) => row).join(',')}]`,
      ]);
    }
    await from.query(`close told_rows`);
  }
}

/** Sets the stage for the log: what is followed, the cancels by word, and the orders as they were signed. */
export async function insertAsSigned(tx: Queryable): Promise<void> {
  await tx.query(`insert into main.follow select * from told.follow`);
  await tx.query(`insert into main.order_cancel select * from told.order_cancel`);
  await tx.query(`insert into main.book_order select * from told.book_order`);
  await tx.query(
    `update main.book_order set status = 'active', dormant = null, filled_quantity = 0, ended_at = null, tx = null`,
  );
}

type Place = Pick<ChainEvent, 'blockNumber' | 'logIndex' | 'part'>;

/** The copied log of a chain in the order of the chain, after a place in it. */
export async function listToldEvents(
  db: Queryable,
  chain: string,
  { after, limit }: { after: Place | null; limit: number },
): Promise<ChainEvent[]> {
  const rows = await db.query(
    `select block_number, log_index, part, block_time, tx, kind, contract, token_id, order_hash, account, details
     from told.chain_event where chain = $1 and (block_number, log_index, part) > ($2::bigint, $3::integer, $4::integer)
     order by block_number, log_index, part limit $5`,
    [chain, after?.blockNumber ?? -1, after?.logIndex ?? -1, after?.part ?? -1, limit],
  );
  return rows.map(toChainEvent);
}

/** The signed orders of a chain after an id, by their ids. */
export async function listOrdersToJudge(
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
