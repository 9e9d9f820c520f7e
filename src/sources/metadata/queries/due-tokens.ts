// Finds the tokens of followed collections whose metadata is due to be read, and records and counts failed reads. Indexer database.

import type { AssetId } from '../../../platform/core/address.ts';
import type { Queryable } from '../../../platform/database/port.ts';
import { homeSql } from '../../../market/index/queries/figures.ts';
import { assetId, column, integer, nullable, rowDecoder, safeInteger, text } from '../../../platform/database/rows.ts';

/** `attempts`: failed reads in a row. */
export type DueToken = { asset: AssetId; attempts: number };

const decodeDue = rowDecoder('token_metadata', { asset: assetId, attempts: integer });
const decodeId = rowDecoder('token_metadata', { collectionId: column('collection_id', text) });

const NOT_BURNED = `not exists (select from indexer.token
  where token.collection_id = stored.collection_id and token.asset = stored.asset and token.burned)`;

/**
 * Finds the tokens whose owner was read from the chain but whose metadata was not, and makes them due. Such a token has either no
 * row in `indexer.token_metadata`, if an earlier version of this service stored the token, or a row from an import.
 */
export async function insertMissingStates(tx: Queryable, collectionId: string): Promise<void> {
  await tx.query(
    `insert into indexer.token_metadata (collection_id, asset, source, due_at)
     select collection_id, asset, 'chain', 'epoch' from indexer.token
     where collection_id = $1 and owner_block is not null and not burned and not exists (
       select from indexer.token_metadata as stored where stored.collection_id = token.collection_id
         and stored.asset = token.asset and stored.source <> 'import')
     order by asset on conflict (collection_id, asset) do update
       set source = excluded.source, due_at = excluded.due_at, fetched_at = null`,
    [collectionId],
  );
}

/** The given collections that have at least one due token. */
export async function listDueCollections(db: Queryable, collectionIds: readonly string[], now: number) {
  const rows = await db.query(
    `select home.collection_id from unnest($1::text[]) as wanted (id) ${homeSql('wanted.id')}
     where exists (select from indexer.token_metadata as stored
       where stored.collection_id = home.collection_id and stored.due_at <= $2 and ${NOT_BURNED})`,
    [collectionIds, new Date(now)],
  );
  return rows.map((row) => decodeId(row).collectionId);
}

const decodeAsset = rowDecoder('token', { asset: assetId });

/** The first token of the collection. Burned tokens are left out. */
export async function findFirstToken(db: Queryable, collectionId: string): Promise<AssetId | null> {
  const [row] = await db.query(
    `select asset from indexer.token where collection_id = $1 and not burned order by asset limit 1`,
    [collectionId],
  );
  return row ? decodeAsset(row).asset : null;
}

/** The tokens of a collection that are due. Tokens that have been due for the longest time come first. */
export async function listDueTokens(
  db: Queryable,
  collectionId: string,
  { now, limit }: { now: number; limit: number },
): Promise<DueToken[]> {
  const rows = await db.query(
    `select asset, attempts from indexer.token_metadata as stored
     where collection_id = $1 and due_at <= $2 and ${NOT_BURNED} order by due_at, asset limit $3`,
    [collectionId, new Date(now), limit],
  );
  return rows.map(decodeDue);
}

/**
 * The viewed tokens `assets` that are due, or that have no due time and were last read before `fetchedBefore`. The order of `assets` is
 * kept.
 */
export async function listDueViewedTokens(
  db: Queryable,
  collectionId: string,
  { assets, now, fetchedBefore }: { assets: readonly string[]; now: number; fetchedBefore: number },
): Promise<DueToken[]> {
  const rows = await db.query(
    `select stored.asset, attempts from unnest($2::text[]) with ordinality as viewed (asset, place)
     join indexer.token_metadata as stored on stored.collection_id = $1 and stored.asset = viewed.asset
     where (stored.due_at <= $3 or stored.due_at is null and stored.fetched_at < $4) and ${NOT_BURNED}
     order by viewed.place`,
    [collectionId, assets, new Date(now), new Date(fetchedBefore)],
  );
  return rows.map(decodeDue);
}

export type FailedRead = DueToken & { failure: string; host: string | null; dueAt: number };

/** Records failed reads. `attempts` includes the failed read. The values of the last successful read are kept. */
export async function updateFailedReads(
  tx: Queryable,
  collectionId: string,
  failed: readonly FailedRead[],
): Promise<void> {
  if (failed.length === 0) return;
  const rows = failed.toSorted((a, b) => (a.asset < b.asset ? -1 : 1));
  await tx.query(
    `update indexer.token_metadata as stored set failure = incoming.failure, host = incoming.host, due_at = incoming.due_at,
       attempts = incoming.attempts
     from unnest($2::text[], $3::text[], $4::text[], $5::timestamptz[], $6::integer[])
       as incoming (asset, failure, host, due_at, attempts)
     where stored.collection_id = $1 and stored.asset = incoming.asset`,
    [
      collectionId,
      rows.map(({ asset }) => asset),
      rows.map(({ failure }) => failure),
      rows.map(({ host }) => host),
      rows.map(({ dueAt }) => new Date(dueAt)),
      rows.map(({ attempts }) => attempts),
    ],
  );
}

/**
 * Makes tokens due now, if their last read failed at one of `hosts` for one of the reasons `failures`. The tokens `except` are not changed.
 */
export async function updateDueOfHosts(
  tx: Queryable,
  collectionId: string,
  {
    hosts,
    failures,
    except,
    now,
  }: { hosts: readonly string[]; failures: readonly string[]; except: readonly string[]; now: number },
): Promise<void> {
  if (hosts.length === 0) return;
  await tx.query(
    `update indexer.token_metadata set due_at = $4
     where collection_id = $1 and failure = any($2) and host = any($3) and due_at > $4
       and asset <> all($5)`,
    [collectionId, failures, hosts, new Date(now), except],
  );
}

const decodeProgress = rowDecoder('token_metadata', {
  collectionId: column('collection_id', text),
  tokens: safeInteger,
  waiting: safeInteger,
});
const decodeFailures = rowDecoder('token_metadata', {
  collectionId: column('collection_id', text),
  failure: text,
  host: nullable(text),
  tokens: safeInteger,
});

/** `tokens`: how many tokens are stored and not burned. `waiting`: how many of these tokens wait for their first read. */
export type MetadataProgress = ReturnType<typeof decodeProgress>;
/** `tokens`: how many tokens could not be read from `host` for the reason `failure`. `host` is null if the failure has no host. */
export type MetadataFailures = ReturnType<typeof decodeFailures>;

export async function listMetadataProgress(
  db: Queryable,
  collectionIds: readonly string[],
): Promise<MetadataProgress[]> {
  const rows = await db.query(
    `with found as materialized (
       select figures.collection_id, figures.tokens, (
         select count(*) from indexer.token_metadata as stored
         where stored.collection_id = figures.collection_id and due_at is not null and fetched_at is null and failure is null
           and ${NOT_BURNED}) as waiting
       from indexer.collection_figures as figures where figures.collection_id = any($1)
     )
     select wanted.id as collection_id, coalesce(tokens, 0) as tokens, coalesce(waiting, 0) as waiting
     from unnest($1::text[]) as wanted (id) left join found on found.collection_id = wanted.id order by wanted.id`,
    [collectionIds],
  );
  return rows.map(decodeProgress);
}

/** Sorted by collection, the most frequent failures first. */
export async function listMetadataFailures(
  db: Queryable,
  collectionIds: readonly string[],
): Promise<MetadataFailures[]> {
  const rows = await db.query(
    `select collection_id, failure, host, count(*) as tokens from indexer.token_metadata as stored
     where collection_id = any($1) and failure is not null and ${NOT_BURNED}
     group by collection_id, failure, host order by collection_id, tokens desc, failure, host`,
    [collectionIds],
  );
  return rows.map(decodeFailures);
}
