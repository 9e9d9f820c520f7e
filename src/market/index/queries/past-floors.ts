// Reads the floors of the past from the history of the market. Indexer database.

import type { Queryable } from '../../../platform/database/port.ts';
import { amount, list, nullable, rowDecoder, text } from '../../../platform/database/rows.ts';
import { homeSql } from './figures.ts';

/** SQL of the floors of an hour. A floor of zero is not known: earlier versions recorded it when a source stated a floor of zero. */
export const KNOWN_FLOORS = {
  high: 'nullif(floor_high_raw, 0)',
  low: 'nullif(floor_low_raw, 0)',
  close: 'nullif(floor_close_raw, 0)',
} as const;

const decodeFloors = rowDecoder('market_hour', { id: text, floors: list(nullable(amount)) });

/**
 * Returns a list of floors for each collection id. The list has one floor for each of `times`, in their order: the floor at the end of the
 * hour that contains the time. A collection of which nothing is known has no list. Each floor takes one look-up in the index. Times are in
 * milliseconds.
 */
export async function listFloorsAt(
  db: Queryable,
  collectionIds: readonly string[],
  times: readonly number[],
): Promise<Map<string, (bigint | null)[]>> {
  const rows = await db.query(
    `with found as materialized (
       select home.collection_id as id, number, (
         select ${KNOWN_FLOORS.close}::text from indexer.market_hour as hours
         where hours.collection_id = home.collection_id and hour <= moment.at order by hour desc limit 1) as floor
       from unnest($1::text[]) as wanted (id) ${homeSql('wanted.id')}
       cross join unnest($2::timestamptz[]) with ordinality as moment (at, number)
     )
     select id, json_agg(floor order by number) as floors from found group by id`,
    [collectionIds, times.map((time) => new Date(time))],
  );
  return new Map(rows.map(decodeFloors).map(({ id, floors }) => [id, floors]));
}
