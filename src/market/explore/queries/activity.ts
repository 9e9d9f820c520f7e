// Reads the activity log, newest first. Also finds which of the given sales are in the log, so that the caller can add the missing sales to a
// list. A list of one token takes one index scan. A list of an account takes two index scans for each kind. Any other list takes one for each
// kind.

import type { AssetId } from '../../../platform/core/address.ts';
import type { ActivityKind } from '../../activity/market-change.ts';
import type { ActivityRow } from '../../activity/queries/activity-rows.ts';
import { ACTIVITY_COLUMNS, decodeActivity } from '../../activity/queries/activity-rows.ts';
import type { Queryable } from '../../../platform/database/port.ts';
import { rowDecoder, text } from '../../../platform/database/rows.ts';
import type { Sale } from '../../index/queries/sales.ts';

/**
 * Which rows are read. All conditions that are not null must hold. `kinds` must not be empty. Set `chain` only together with `account` and
 * without `collectionId`: no index supports other conditions on the chain.
 */
export type ActivityFilter = {
  chain: string | null;
  collectionId: string | null;
  asset: AssetId | null;
  account: string | null;
  kinds: readonly ActivityKind[];
};

/** `at` in milliseconds. */
export type LogPosition = { at: number; position: number };

/** The rows after the position `after`, or the newest rows if `after` is null. Primary database. */
export async function listActivity(
  db: Queryable,
  { chain, collectionId, asset, account, kinds }: ActivityFilter,
  { after, limit }: { after: LogPosition | null; limit: number },
): Promise<ActivityRow[]> {
  const params: unknown[] = [
    kinds,
    after === null ? 'infinity' : new Date(after.at),
    after?.position ?? Number.MAX_SAFE_INTEGER,
    limit,
  ];
  const use = (value: string) => `$${params.push(value)}`;
  // Filters that are null are left out of the statement. A condition such as `$5 is null or chain = $5` would mislead the planner about the
  // number of rows.
  const subject = [
    ...(chain === null ? [] : [`chain = ${use(chain)}`]),
    ...(collectionId === null ? [] : [`collection_id = ${use(collectionId)}`]),
    ...(asset === null ? [] : [`asset = ${use(asset)}`]),
  ];
  const parties = account === null ? [] : partiesSql(use(account));
  const scan = (...conditions: string[]) => `(select ${ACTIVITY_COLUMNS} from main.activity as stored
    where ${[...conditions, ...subject].join(' and ')} and (at, position) < ($2::timestamptz, $3::bigint)
    order by at desc, position desc limit $4)`;
  const ofKind = (...conditions: string[]) => scan('kind = wanted.kind', ...conditions);
  const perKind = parties.length === 0 ? ofKind() : parties.map((party) => ofKind(party)).join(' union all ');
  const scans =
    asset === null
      ? `select found.* from unnest($1::text[]) as wanted (kind) cross join lateral (${perKind}) as found`
      : scan('kind = any($1)', ...(parties.length === 0 ? [] : [`(${parties.join(' or ')})`]));
  const rows = await db.query(`select * from (${scans}) as found order by at desc, position desc limit $4`, params);
  return rows.map(decodeActivity);
}

/** Conditions for rows with the account as sender, and for rows with the account as recipient. A row with the account in both roles meets only the first. */
const partiesSql = (account: string) => [
  `from_account = ${account}`,
  `to_account = ${account} and from_account is distinct from ${account}`,
];

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
