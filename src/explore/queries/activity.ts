// Reads the activity log, newest first, and the past sales that are not in it. Each list is one index scan, or one for each kind.

import type { AssetId } from '../../core/address.ts';
import type { ActivityKind } from '../../activity/market-change.ts';
import type { ActivityRow } from '../../activity/queries/activity-rows.ts';
import { ACTIVITY_COLUMNS, decodeActivity } from '../../activity/queries/activity-rows.ts';
import type { Queryable } from '../../database/port.ts';
import { rowDecoder, text } from '../../database/rows.ts';
import type { Sale } from '../../market/queries/sales.ts';

/** What the rows concern. All conditions that are not null must hold. `kinds` is not empty. */
export type ActivityFilter = {
  collectionId: string | null;
  asset: AssetId | null;
  account: string | null;
  kinds: readonly ActivityKind[];
};

/** `at` in milliseconds. */
export type LogPosition = { at: number; position: number };

/** The rows after `after`, or the newest. Primary database. */
export async function listActivity(
  db: Queryable,
  { collectionId, asset, account, kinds }: ActivityFilter,
  { after, limit }: { after: LogPosition | null; limit: number },
): Promise<ActivityRow[]> {
  const params = [
    kinds,
    after === null ? 'infinity' : new Date(after.at),
    after?.position ?? Number.MAX_SAFE_INTEGER,
    limit,
    collectionId,
    asset,
    account,
  ];
  const scan = (condition: string) => `(select ${ACTIVITY_COLUMNS} from main.activity as stored
    where ${condition} and (at, position) < ($2::timestamptz, $3::bigint)
      and ($5::text is null or collection_id = $5) and ($6::text is null or asset = $6)
      and ($7::text is null or from_account = $7 or to_account = $7)
    order by at desc, position desc limit $4)`;
  const ofKind = (condition: string) => scan(`kind = wanted.kind and ${condition}`);
  const scans =
    asset !== null
      ? scan('collection_id = $5 and asset = $6 and kind = any($1)')
      : `select found.* from unnest($1::text[]) as wanted (kind) cross join lateral (${
          account !== null
            ? `${ofKind('from_account = $7')} union all ${ofKind('to_account = $7 and from_account is distinct from $7')}`
            : ofKind(collectionId === null ? 'true' : 'collection_id = $5')
        }) as found`;
  const rows = await db.query(`select * from (${scans}) as found order by at desc, position desc limit $4`, params);
  return rows.map(decodeActivity);
}

const decodeFact = rowDecoder('activity', { fact: text });

/** The keys of those `sales` that are in the log and were not taken back. Primary database. */
export async function listLoggedSales(db: Queryable, sales: readonly Pick<Sale, 'key'>[]): Promise<Set<string>> {
  if (sales.length === 0) return new Set();
  const rows = await db.query(
    `select fact from main.activity where fact = any($1) and origin = 'indexer' and voided_by is null`,
    [sales.map(({ key }) => key)],
  );
  return new Set(rows.map((row) => decodeFact(row).fact));
}
