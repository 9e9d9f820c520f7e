// Copies the imported traits of tokens from indexer.token to indexer.token_trait. The traits of a token are copied only if its metadata was
// not read from its contract or from a DAS endpoint. Indexer database.

import type { Queryable } from '../../../platform/database/port.ts';
import { column, rowDecoder, text } from '../../../platform/database/rows.ts';
import type { CollectionAsset } from './figures.ts';
import { noteChangedTraits } from './rarity.ts';
import { refreshTraits } from './traits.ts';

/** An SQL condition: no metadata of `token` was read from its contract or from a DAS endpoint, so its imported traits are used. */
const IS_REPORTED = `not exists (select from indexer.token_metadata as metadata where metadata.collection_id = token.collection_id
  and metadata.asset = token.asset and metadata.source <> 'import' and metadata.fetched_at is not null)`;

const decodeId = rowDecoder('token_trait', { collectionId: column('collection_id', text) });

/**
 * Updates the copies of the tokens' imported traits. Must be called after each change of `indexer.token.traits`. The transaction must have
 * locked the figures of the collections.
 */
export async function copyReportedTraits(tx: Queryable, tokens: readonly CollectionAsset[]): Promise<void> {
  if (tokens.length === 0) return;
  const params = [tokens.map(({ collectionId }) => collectionId), tokens.map(({ asset }) => asset)];
  const wanted = `select distinct * from unnest($1::text[], $2::text[]) as wanted (collection_id, asset)`;
  const described = await tx.query(
    `with wanted as (${wanted}), removed as (
       delete from indexer.token_metadata as stored using wanted
       where stored.collection_id = wanted.collection_id and stored.asset = wanted.asset and stored.source = 'import'
         and exists (select from indexer.token where token.collection_id = wanted.collection_id
           and token.asset = wanted.asset and token.traits is null)
       returning stored.collection_id
     ), written as (
       insert into indexer.token_metadata (collection_id, asset, source, fetched_at)
       select token.collection_id, token.asset, 'import', now() from wanted
       join indexer.token on token.collection_id = wanted.collection_id and token.asset = wanted.asset
       where token.traits is not null order by 1, 2 on conflict do nothing returning collection_id
     )
     select collection_id from removed union select collection_id from written`,
    params,
  );
  const traited = await tx.query(
    `with token as (
       select token.collection_id, token.asset, coalesce(token.traits, '[]') as traits from (${wanted}) as wanted
       join indexer.token on token.collection_id = wanted.collection_id and token.asset = wanted.asset where ${IS_REPORTED}
     ), incoming as (
       select token.collection_id, token.asset, trait.value ->> 'name' as name, trait.value ->> 'value' as value,
         trait.value ->> 'kind' as kind, (trait.place - 1)::smallint as position
       from token cross join lateral jsonb_array_elements(token.traits) with ordinality as trait (value, place)
     ), removed as (
       delete from indexer.token_trait as stored using token
       where stored.collection_id = token.collection_id and stored.asset = token.asset and not exists (
         select from incoming where incoming.collection_id = stored.collection_id and incoming.asset = stored.asset
           and incoming.name = stored.name and incoming.value = stored.value)
       returning stored.collection_id
     ), written as (
       insert into indexer.token_trait as stored (collection_id, asset, name, value, kind, position)
       select * from incoming
       on conflict (collection_id, asset, name, value) do update set kind = excluded.kind, position = excluded.position
       where (stored.kind, stored.position) is distinct from (excluded.kind, excluded.position)
       returning collection_id
     )
     select collection_id from removed union select collection_id from written`,
    params,
  );
  await refreshTraits(tx, { tokens });
  await noteChangedTraits(
    tx,
    [...described, ...traited].map((row) => decodeId(row).collectionId),
  );
}
