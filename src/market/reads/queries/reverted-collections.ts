// Prepares an undo of collection records: finds which collections are followed, and whose earlier slugs are taken, and removes the
// current slugs. Primary database.

import type { Queryable } from '../../../platform/database/port.ts';
import { column, rowDecoder, text } from '../../../platform/database/rows.ts';

const decodeId = rowDecoder('follow', { id: column('collection_id', text) });

export async function listFollowedIds(tx: Queryable, ids: readonly string[]): Promise<string[]> {
  const rows = await tx.query(`select collection_id from main.follow where collection_id = any($1)`, [ids]);
  return rows.map((row) => decodeId(row).id);
}

const decodeKey = rowDecoder('collection', { key: text });

/** The records whose earlier slug now belongs to another collection. Collections in `reverted` do not count as other collections. */
export async function listTakenSlugs(
  tx: Queryable,
  rows: readonly { key: string; image: string }[],
  reverted: readonly string[],
): Promise<string[]> {
  const taken = await tx.query(
    `select wanted.key from unnest($1::text[], $2::text[]) as wanted (key, image)
     where exists (select from main.collection as other
       where other.slug = wanted.image::jsonb ->> 'slug' and other.id <> wanted.key and other.id <> all($3::text[]))`,
    [rows.map(({ key }) => key), rows.map(({ image }) => image), reverted],
  );
  return taken.map((row) => decodeKey(row).key);
}

/** Removes the slugs, so that slugs that have moved between the collections can be restored one after the other. */
export async function updateWithoutSlugs(tx: Queryable, ids: readonly string[]): Promise<void> {
  await tx.query(`update main.collection set slug = null where id = any($1)`, [ids]);
}
