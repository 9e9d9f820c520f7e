// Reads the activity log from the primary database, in the order of positions.

import type { Queryable } from '../../database/port.ts';
import { nullable, rowDecoder, safeInteger, timestamp } from '../../database/rows.ts';
import type { ActivityRow } from './activity-rows.ts';
import { ACTIVITY_COLUMNS, decodeActivity } from './activity-rows.ts';

/** A row of the log. `mergedAt`: when the row got its position, in milliseconds. */
export type ActivityEvent = ActivityRow & { mergedAt: number };

/**
 * Events of the log, with the state of the log at the same moment. `newest`: the last assigned position. `oldest`: the oldest position
 * that is kept. Events of removed collections are missing, so positions have gaps.
 */
export type ActivityRange = { oldest: number; newest: number; events: ActivityEvent[] };

const decodeState = rowDecoder('activity_head', { oldest: safeInteger, newest: safeInteger });
const decodeMerged = rowDecoder('activity', { mergedAt: nullable(timestamp) });

/**
 * Reads at most `limit` events after the position `after`, up to the position `last`. One statement reads the events and the state of the
 * log, so that they agree.
 */
export async function readActivityRange(
  db: Queryable,
  { after, last, limit }: { after: number; last: number; limit: number },
): Promise<ActivityRange> {
  const rows = await db.query(
    `select head.position as newest, oldest, events.*
     from main.activity_head as head left join lateral (
       select ${ACTIVITY_COLUMNS}, merged_at as "mergedAt" from main.activity
       where position > $1 and position >= head.oldest and position <= $2 order by position limit $3) as events on true`,
    [after, last, limit],
  );
  const [first] = rows;
  // Before the first merge, `main.activity_head` has no row.
  const state = first ? decodeState(first) : { oldest: 1, newest: 0 };
  const events = rows.flatMap((row): ActivityEvent[] => {
    const { mergedAt } = decodeMerged(row);
    return mergedAt === null ? [] : [{ ...decodeActivity(row), mergedAt }];
  });
  return { ...state, events };
}
