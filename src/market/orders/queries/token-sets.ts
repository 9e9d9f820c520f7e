// Stores the sets of tokens that bids name by a Merkle root. Primary database.

import type { AssetId } from '../../../platform/core/address.ts';
import type { Queryable } from '../../../platform/database/port.ts';
import { toTextArray } from '../../../platform/database/row-source.ts';
import { assetId, column, rowDecoder } from '../../../platform/database/rows.ts';
import type { TokenSet } from '../token-sets.ts';

/** Does nothing if the set is stored: the root says which tokens it has. */
export async function insertTokenSet(tx: Queryable, collectionId: string, set: TokenSet): Promise<void> {
  await tx.query(
    `with added as (
       insert into main.token_set (collection_id, root, tokens, traits) values ($1, $2, $3, $4::jsonb)
       on conflict do nothing returning root
     )
     insert into main.token_set_member (collection_id, token_id, root)
     select $1, token_id, root from added cross join unnest($5::text[]) as member (token_id) order by token_id collate "C"`,
    [
      collectionId,
      set.root,
      set.tokenIds.length,
      set.traits && JSON.stringify(set.traits),
      toTextArray([...set.tokenIds]),
    ],
  );
}

/** Stores the set that reported bids name. If it is stored, it gets these tokens. Returns whether that has changed its tokens. */
export async function upsertTokenSet(tx: Queryable, collectionId: string, set: TokenSet): Promise<boolean> {
  const changed = await tx.query(
    `with written as (
       insert into main.token_set as stored (collection_id, root, tokens, traits) values ($1, $2, $3, $4::jsonb)
       on conflict (collection_id, root) do update set tokens = excluded.tokens where stored.tokens <> excluded.tokens
     ), removed as (
       delete from main.token_set_member as stored where collection_id = $1 and root = $2
         and not exists (select from unnest($5::text[]) as member (token_id) where member.token_id = stored.token_id)
       returning 1
     ), added as (
       insert into main.token_set_member (collection_id, token_id, root)
       select $1, token_id, $2 from unnest($5::text[]) as member (token_id) order by token_id collate "C"
       on conflict do nothing returning 1
     ) select 1 from removed union all select 1 from added`,
    [
      collectionId,
      set.root,
      set.tokenIds.length,
      set.traits && JSON.stringify(set.traits),
      toTextArray([...set.tokenIds]),
    ],
  );
  return changed.length > 0;
}

const decodeMember = rowDecoder('token_set_member', { tokenId: column('token_id', assetId) });

/** The tokens of a set. Empty if the set is not stored. */
export async function listTokensOfSet(db: Queryable, collectionId: string, root: string): Promise<AssetId[]> {
  const rows = await db.query(
    `select token_id from main.token_set_member where collection_id = $1 and root = $2 order by token_id`,
    [collectionId, root],
  );
  return rows.map((row) => decodeMember(row).tokenId);
}
