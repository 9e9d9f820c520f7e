// Reads the activity log from the primary database, in the order of positions.

import type { Queryable } from '../../../platform/database/port.ts';
import { nullable, rowDecoder, safeInteger, text, timestamp } from '../../../platform/database/rows.ts';
import { ACTIVITY_KINDS } from '../market-change.ts';
import type { ActivityRow } from './activity-rows.ts';
import { ACTIVITY_COLUMNS, decodeActivity } from './activity-rows.ts';

/** A row of the log. `mergedAt`: when the row got its position, in milliseconds. */
export type ActivityEvent = ActivityRow & { mergedAt: number };

/**
 * Events of the log, with the state of the log at the same moment. `epoch`: which log it is. `newest`: the last assigned position. `oldest`: the oldest position
 * that is kept. Events of removed collections are missing, so positions have gaps.
 */
export type ActivityRange = { epoch: string; oldest: number; newest: number; events: ActivityEvent[] };

const decodeState = rowDecoder('activity_head', { headEpoch: text, oldest: safeInteger, newest: safeInteger });
const decodeMerged = rowDecoder('activity', { mergedAt: nullable(timestamp) });

/** Which events to read. Null: all. Events without a collection are among those of any collections. Removals of collections are always among them. */
export type LoggedEventFilter = { collectionIds: ReadonlySet<string> | null; kinds: ReadonlySet<string> | null };

type Range = { after: number; limit: number };

/**
 * Reads at most `limit` events after the position `after`, up to the position `last`. One statement reads the events and the state of the
 * log, so that they agree.
 */
export async function readActivityRange(
  db: Queryable,
  { after, last, limit }: Range & { last: number },
): Promise<ActivityRange> {
  return readRange(
    db,
    `select ${ACTIVITY_COLUMNS}, merged_at as "mergedAt" from main.activity
     where position > $1 and position >= head.oldest and position <= $3 order by position limit $2`,
    [after, limit, last],
  );
}

/**
 * Reads at most `limit` events after the position `after` that pass the filter. The cost depends on the events that pass, and on the number of
 * kinds and collections in the filter, but not on the other events: each kind of each collection is searched in an index for itself. The
 * removals are searched as a kind of all collections.
 */
export async function readMatchingActivity(
  db: Queryable,
  { after, limit }: Range,
  { collectionIds, kinds }: LoggedEventFilter,
): Promise<ActivityRange> {
  const wantedKind = 'unnest($3::text[]) as wanted_kind';
  const positions =
    collectionIds === null
      ? matchesSql(wantedKind, { columns: 'kind', values: 'wanted_kind' })
      : `${matchesSql(`${wantedKind} cross join unnest($4::text[]) as wanted_id`, {
          columns: 'collection_id, kind',
          values: 'wanted_id, wanted_kind',
          condition: 'collection_id is not null',
        })} union all ${matchesSql(wantedKind, { columns: 'kind', values: 'wanted_kind', condition: 'collection_id is null' })}`;
  const removals = matchesSql(`(values ('remove')) as removal (kind)`, { columns: 'kind', values: 'removal.kind' });
  return readRange(
    db,
    // `limit 1` makes PostgreSQL search the index for each position, instead of reading the table.
    `select stored.* from (select position from (${positions} union all ${removals}) as found order by position limit $2) as matches
     cross join lateral (
       select ${ACTIVITY_COLUMNS}, merged_at as "mergedAt" from main.activity where position = matches.position limit 1) as stored
     order by matches.position`,
    [
      after,
      limit,
      [...(kinds ?? ACTIVITY_KINDS)].filter((kind) => kind !== 'remove'),
      ...(collectionIds === null ? [] : [[...collectionIds]]),
    ],
  );
}

/**
 * SQL for the positions of the first events of each row of `from`. The events are compared by the columns of an SQL index, and not by
 * equality, because PostgreSQL would otherwise read all events in the order of their positions when it expects many of them to be equal.
 */
function matchesSql(
  from: string,
  { columns, values, condition = 'true' }: { columns: string; values: string; condition?: string },
): string {
  return `(select found.position from ${from} cross join lateral (
    select position from main.activity
    where ${condition} and (${columns}, position) > (${values}, greatest($1::bigint, head.oldest - 1))
      and (${columns}, position) < (${values}, 9223372036854775807)
    order by ${columns}, position limit $2) as found)`;
}

/** `events`: SQL for the events, which may name the row of `main.activity_head` as `head`. */
async function readRange(db: Queryable, events: string, params: readonly unknown[]): Promise<ActivityRange> {
  const rows = await db.query(
    `select head.epoch as "headEpoch", head.position as newest, oldest, events.*
     from main.activity_head as head left join lateral (${events}) as events on true`,
    [...params],
  );
  const { headEpoch: epoch, oldest, newest } = decodeState(rows[0] ?? {});
  const found = rows.flatMap((row): ActivityEvent[] => {
    const { mergedAt } = decodeMerged(row);
    return mergedAt === null ? [] : [{ ...decodeActivity(row), mergedAt }];
  });
  return { epoch, oldest, newest, events: found };
}
