// Reads the rows that the digest of a chain covers, each as one line of text, in a fixed order. The ids that the service assigned and
// the times at which it stored rows are left out, because both differ between services with the same data.

import type { Queryable } from '../../../../platform/database/port.ts';
import { rowDecoder, text } from '../../../../platform/database/rows.ts';
import type { Sides } from '../../../../platform/database/snapshot.ts';

/** The parts of a digest. Their lines come in this order. */
const DIGEST_PARTS = ['listings', 'owners', 'sales', 'hours'] as const;
export type DigestPart = (typeof DIGEST_PARTS)[number];

type View = { part: DigestPart; side: 'main' | 'indexer'; sql: string };

const toMs = (column: string) => `(extract(epoch from ${column}) * 1000)::bigint`;
/** Selects the collections of the chain by their ids, for tables without a column for the chain. */
const OF_CHAIN = `left(collection_id, length($1) + 1) = $1 || '_'`;
/** Whether the row had expired at the time of the block. Its status does not show this, because the sweep uses the service's clock. */
const IS_OVER = `status in ('active', 'expired') and coalesce(expires_at <= $2, false)`;
/** The status at the time of the block. */
const STATUS = `case when ${IS_OVER} then 'expired' when status = 'expired' then 'active' else status end`;

/** `$1` is the chain, `$2` the time of the block, and `$3` the derived dormancies as JSON. */
const VIEWS: readonly View[] = [
  {
    part: 'listings',
    side: 'main',
    // The expiry sweep deletes the stored dormancy of an order. An order that expired after the block is still active in the digest, so the
    // caller derives its dormancy again and passes it in `$3`.
    sql: `select json_build_array('own', side, collection_id, token_id, root, currency, proceeds_raw::text, coalesce(order_hash, id), price_raw::text, seller, quantity::text,
        filled_quantity::text, ${toMs('expires_at')}, ${STATUS}, case when ${IS_OVER} then null else coalesce(
          (select reason from json_to_recordset($3::json) as derived (id text, reason text) where derived.id = book_order.id),
          dormant) end, tx)::text as line
      from main.book_order where chain = $1 order by collection_id, side, token_id, coalesce(order_hash, id)`,
  },
  {
    part: 'listings',
    side: 'indexer',
    sql: `select json_build_array('mirror', source, listing.id, collection_id, asset, price_raw::text, buyer_total_raw::text, seller,
        order_hash, ${toMs('listed_at')}, ${toMs('expires_at')}, ${STATUS},
        case when ${IS_OVER} then null when derived.id is not null then derived.reason else dormant end, tx)::text as line
      from indexer.listing left join json_to_recordset($3::json) as derived (id text, reason text) on derived.id = listing.key::text
      where chain = $1 and $2::timestamptz is not null order by source, listing.id, key`,
  },
  {
    part: 'owners',
    side: 'main',
    sql: `select json_build_array('holder', collection_id, token_id, holder, quantity::text)::text as line
      from main.holding where ${OF_CHAIN} order by collection_id, token_id, holder`,
  },
  {
    part: 'owners',
    side: 'indexer',
    sql: `select json_build_array('token', collection_id, asset, owner, burned)::text as line
      from indexer.token where chain = $1 order by collection_id, asset`,
  },
  {
    part: 'sales',
    side: 'indexer',
    sql: `select json_build_array('sale', source, collection_id, asset, price, seller, buyer, ${toMs('sold_at')}, tx, log_index,
        block_number)::text as line
      from indexer.sale where chain = $1 order by collection_id, sold_at, key`,
  },
  {
    part: 'hours',
    side: 'indexer',
    sql: `select json_build_array('hour', collection_id, ${toMs('hour')}, volume_raw::text, sales, unread)::text as line
      from indexer.sale_hour where ${OF_CHAIN} and sales <> 0 and hour > $2::timestamptz - interval '7 days'
      order by collection_id, hour`,
  },
  {
    part: 'hours',
    side: 'indexer',
    sql: `select json_build_array('total', collection_id, volume_raw::text, sales, unread)::text as line
      from indexer.sale_total where ${OF_CHAIN} and sales <> 0 order by collection_id`,
  },
];

/**
 * Whether an own order or a mirrored listing is dormant at the time of the block. `id`: the id of the order, or the key of the listing.
 * `reason`: why it is dormant. Null if it is not dormant.
 */
export type DerivedDormancy = { id: string; reason: string | null };

const decodeLine = rowDecoder('digest row', { line: text });

const CHUNK_SIZE = 2_000;

/** The parts come in the order of DIGEST_PARTS. */
export async function* readDigestLines(
  sides: Sides,
  chain: string,
  { blockTime, derived }: { blockTime: number; derived: readonly DerivedDormancy[] },
): AsyncGenerator<{ part: DigestPart; lines: string[] }> {
  const values = [chain, new Date(blockTime), JSON.stringify(derived)];
  for (const { part, side, sql } of VIEWS) {
    const highest = Math.max(...[...sql.matchAll(/\$(\d)/g)].map((match) => Number(match[1])));
    const from = sides[side];
    await from.query(`declare digest_rows no scroll cursor for ${sql}`, values.slice(0, highest));
    for (;;) {
      const rows = await from.query(`fetch ${CHUNK_SIZE} from digest_rows`);
      if (rows.length === 0) break;
      yield { part, lines: rows.map((row) => decodeLine(row).line) };
    }
    await from.query(`close digest_rows`);
  }
}

const decodeId = rowDecoder('book_order', { id: text });

export async function listExpiredSince(db: Queryable, chain: string, blockTime: number): Promise<string[]> {
  const rows = await db.query(
    `select id from main.book_order where chain = $1 and status = 'expired' and expires_at > $2 and order_hash is not null
     order by id`,
    [chain, new Date(blockTime)],
  );
  return rows.map((row) => decodeId(row).id);
}

export async function hasPendingListings(db: Queryable, chain: string): Promise<boolean> {
  const rows = await db.query(
    `select 1 from indexer.listing where chain = $1 and dormant = 'pending'
     union all select 1 from indexer.judged_collection where chain = $1 and state <> 'joined' limit 1`,
    [chain],
  );
  return rows.length > 0;
}
