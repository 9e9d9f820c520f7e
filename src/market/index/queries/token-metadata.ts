// Writes the metadata and traits of tokens that the service has read from contracts or from a DAS endpoint. Indexer database. Names and
// pictures from other sources are in indexer.token. The transaction must have locked the figures of the collection.

import type { Queryable } from '../../../platform/database/port.ts';
import { boolean, column, rowDecoder, text } from '../../../platform/database/rows.ts';
import { noteChangedTraits } from './rarity.ts';
import { refreshTraits } from './traits.ts';

export const TRAIT_KINDS = ['text', 'number', 'date'] as const;
export type TraitKind = (typeof TRAIT_KINDS)[number];

/** `value` is the text in the metadata, also for a number or a date. */
export type Trait = { name: string; value: string; kind: TraitKind };

/** `uriDigest` is null if the metadata was not read from a URI, for example if a DAS endpoint has stated it. */
export type NewTokenMetadata = {
  asset: string;
  name: string | null;
  image: string | null;
  description: string | null;
  traits: readonly Trait[];
  host: string | null;
  uriDigest: string | null;
};

type Written = { collectionId: string; source: 'chain' | 'das'; at: number };

const IS_SAME_TOKEN = 'stored.collection_id = $1 and stored.asset = incoming.asset';
const decodeAsset = rowDecoder('token_metadata', { asset: text });
const decodeWritten = rowDecoder('token_metadata', {
  asset: text,
  isChanged: column('is_changed', boolean),
  isFirst: column('is_first', boolean),
});

/**
 * Replaces the metadata and the traits of tokens of one collection. `tokens` must not contain a token twice. A token that is not stored in
 * indexer.token is skipped. Returns the tokens whose fields or traits changed.
 */
export async function upsertTokenMetadata(
  tx: Queryable,
  tokens: readonly NewTokenMetadata[],
  { collectionId, source, at }: Written,
): Promise<string[]> {
  if (tokens.length === 0) return [];
  const rows = tokens.toSorted((a, b) => (a.asset < b.asset ? -1 : 1));
  const fields = rows.map(({ asset, name, image, description, host, uriDigest }) => ({
    asset,
    name,
    image,
    description,
    host,
    uri_digest: uriDigest,
  }));
  const written = await tx.query(
    `with incoming as (
       select incoming.* from json_to_recordset($2::json) as incoming (
         asset text, name text, image text, description text, host text, uri_digest text)
       where exists (select from indexer.token as stored where ${IS_SAME_TOKEN})
     ), before as (
       select stored.asset, stored.name, stored.image, stored.description, stored.fetched_at
       from indexer.token_metadata as stored join incoming on ${IS_SAME_TOKEN}
     ), written as (
       insert into indexer.token_metadata as stored
         (collection_id, asset, source, name, image, description, host, uri_digest, fetched_at)
       select $1, asset, $3, name, image, description, host, uri_digest, $4 from incoming
       on conflict (collection_id, asset) do update set source = excluded.source, name = excluded.name,
         image = excluded.image, description = excluded.description, host = excluded.host,
         uri_digest = excluded.uri_digest, fetched_at = excluded.fetched_at, due_at = null, attempts = 0, failure = null
       where excluded.source = 'chain' or (stored.source, stored.description) is distinct from ('das', excluded.description)
     )
     select incoming.asset, before.fetched_at is null as is_first,
       (incoming.name, incoming.image, incoming.description) is distinct from (before.name, before.image, before.description) as is_changed
     from incoming left join before using (asset)`,
    [collectionId, JSON.stringify(fields), source, new Date(at)],
  );
  const retraited = await replaceTraits(tx, collectionId, rows);
  await refreshTraits(tx, {
    tokens: retraited.map((asset) => ({ collectionId, asset })),
    moved: rows.map(({ asset }) => ({ collectionId, asset })),
  });
  const outcomes = written.map(decodeWritten);
  if (retraited.length > 0 || outcomes.some(({ isFirst }) => isFirst)) await noteChangedTraits(tx, [collectionId]);
  return [...new Set([...outcomes.flatMap(({ asset, isChanged }) => (isChanged ? [asset] : [])), ...retraited])];
}

async function replaceTraits(tx: Queryable, collectionId: string, tokens: readonly NewTokenMetadata[]) {
  const traits = tokens.flatMap((token) =>
    token.traits.map(({ name, value, kind }, position) => ({ asset: token.asset, name, value, kind, position })),
  );
  const rows = await tx.query(
    `with incoming as (
       select incoming.* from json_to_recordset($3::json) as incoming (
         asset text, name text, value text, kind text, position smallint)
       where exists (select from indexer.token as stored where ${IS_SAME_TOKEN})
     ), removed as (
       delete from indexer.token_trait as stored
       where stored.collection_id = $1 and stored.asset = any($2) and not exists (
         select from incoming where ${IS_SAME_TOKEN} and stored.name = incoming.name and stored.value = incoming.value)
       returning stored.asset
     ), written as (
       insert into indexer.token_trait as stored (collection_id, asset, name, value, kind, position)
       select $1, asset, name, value, kind, position from incoming
       on conflict (collection_id, asset, name, value) do update set kind = excluded.kind, position = excluded.position
       where (stored.kind, stored.position) is distinct from (excluded.kind, excluded.position)
       returning stored.asset
     )
     select asset from removed union select asset from written`,
    [collectionId, tokens.map(({ asset }) => asset), JSON.stringify(traits)],
  );
  return rows.map((row) => decodeAsset(row).asset);
}
