// Reads and stores the rarity ranks that the service computes from traits, and the state of this computation. The ranks that a source (a
// marketplace or an import) reports are in the table indexer.token. Indexer database.

import type { AssetId } from '../../../platform/core/address.ts';
import type { Queryable } from '../../../platform/database/port.ts';
import {
  assetId,
  boolean,
  column,
  integer,
  list,
  nullable,
  object,
  rowDecoder,
  safeInteger,
  text,
  timestamp,
} from '../../../platform/database/rows.ts';
import type { RankedTraits, TokenRank } from '../rarity.ts';

/**
 * The SQL condition that a source reports the rank of at least one token of the collection. `order by` makes PostgreSQL use the index of
 * reported ranks.
 */
export const hasReportedRanks = (collectionId: string) =>
  `(select rarity_rank from indexer.token where collection_id = ${collectionId} and rarity_rank is not null and not burned
    order by rarity_rank limit 1) is not null`;

/** The SQL subquery for the computed rank of a token. Empty while a source reports ranks of the collection. */
export const computedRankSql = (collectionId: string, asset: string) =>
  `select computed.rank from indexer.collection_rarity as rarity
   join indexer.rarity_rank as computed on computed.collection_id = rarity.collection_id and computed.generation = rarity.generation
   where rarity.collection_id = ${collectionId} and computed.asset = ${asset} and not ${hasReportedRanks(collectionId)} limit 1`;

const decodeGeneration = rowDecoder('collection_rarity', { generation: integer });

/** The number (`generation`) of the computation whose ranks are served. Null if no rank was computed, or if a source reports ranks. */
export async function findServedGeneration(db: Queryable, collectionId: string): Promise<number | null> {
  const [row] = await db.query(
    `select generation from indexer.collection_rarity
     where collection_id = $1 and generation > 0 and not ${hasReportedRanks('$1')}`,
    [collectionId],
  );
  return row ? decodeGeneration(row).generation : null;
}

/** Records that traits of tokens changed. The transaction must have locked the figures of the collections. */
export async function noteChangedTraits(tx: Queryable, collectionIds: Iterable<string>): Promise<void> {
  const ids = [...new Set(collectionIds)].sort();
  if (ids.length === 0) return;
  await tx.query(
    `insert into indexer.collection_rarity as stored (collection_id, revision) select id, 1 from unnest($1::text[]) as changed (id)
     on conflict (collection_id) do update set revision = stored.revision + 1`,
    [ids],
  );
}

export type RarityState = 'ranked' | 'reported' | 'incomplete' | 'untraited' | 'too-large';

const decodeDue = rowDecoder('collection_rarity', {
  collectionId: column('collection_id', text),
  revision: safeInteger,
  generation: integer,
});

export type DueRanking = ReturnType<typeof decodeDue>;

/**
 * Collections whose tokens are to be ranked now. `due_at` has come, and one of these holds: the traits of the tokens have changed; the number
 * of tokens has changed and the state is `ranked`; the state is `incomplete` or `reported`. The earliest `due_at` comes first.
 */
export async function listDueRankings(
  db: Queryable,
  { now, limit }: { now: number; limit: number },
): Promise<DueRanking[]> {
  const rows = await db.query(
    `select rarity.collection_id, revision, generation from indexer.collection_rarity as rarity
     left join indexer.collection_figures as figures on figures.collection_id = rarity.collection_id
     where due_at <= $1 and (ranked_revision is distinct from revision or state in ('incomplete', 'reported')
       or state = 'ranked' and rarity.tokens is distinct from figures.tokens)
     order by due_at, rarity.collection_id limit $2`,
    [new Date(now), limit],
  );
  return rows.map(decodeDue);
}

const decodeReported = rowDecoder('token', { isReported: column('is_reported', boolean) });

/** Whether a source reports the rank of at least one token of the collection. */
export async function findReportedRank(db: Queryable, collectionId: string): Promise<boolean> {
  const [row] = await db.query(`select ${hasReportedRanks('$1')} as is_reported`, [collectionId]);
  return row !== undefined && decodeReported(row).isReported;
}

/** `onChain`: only tokens in the log of the chain are ranked. */
export type RankedScope = { collectionId: string; onChain: boolean };

const inScope = `collection_id = $1 and not burned and ($2 or owner_block is not null)`;
// The id of the collection is a condition on every table, so that a Citus cluster runs the statement on the node of the collection.
const hasMetadata = `exists (select from indexer.token_metadata as metadata where metadata.collection_id = $1
  and metadata.asset = token.asset and metadata.fetched_at is not null)`;
const toScope = ({ collectionId, onChain }: RankedScope) => [collectionId, !onChain];

const decodeUnread = rowDecoder('token', { unread: safeInteger });

/** The number of tokens whose metadata was never read. Counts at most `limit` tokens. */
export async function countUnreadTokens(db: Queryable, scope: RankedScope, limit: number): Promise<number> {
  const [row] = await db.query(
    `select count(*) as unread from (select from indexer.token where ${inScope} and not ${hasMetadata} limit $3) as unread`,
    [...toScope(scope), limit],
  );
  return row ? decodeUnread(row).unread : 0;
}

const decodeTraited = rowDecoder('token', { asset: assetId, traits: list(object({ name: text, value: text })) });

/**
 * The next tokens after an asset, with their traits. Tokens whose metadata was never read are missing. Traits that are numbers or dates are
 * left out.
 */
export async function listTraitedTokens(
  db: Queryable,
  scope: RankedScope,
  { after, limit }: { after: string; limit: number },
): Promise<{ asset: AssetId; traits: RankedTraits }[]> {
  const rows = await db.query(
    `select token.asset, trait.traits
     from (select asset from indexer.token
           where ${inScope} and asset > $3 and ${hasMetadata} order by asset limit $4) as token
     cross join lateral (
       select coalesce(json_agg(json_build_object('name', name, 'value', value)), '[]') as traits
       from indexer.token_trait as stored
       where stored.collection_id = $1 and stored.asset = token.asset and stored.kind = 'text'
     ) as trait
     order by token.asset`,
    [...toScope(scope), after, limit],
  );
  return rows.map(decodeTraited);
}

/** A token that is no longer stored is left out. The transaction must have locked the figures of the collection. */
export async function insertRanks(
  tx: Queryable,
  { collectionId, generation }: { collectionId: string; generation: number },
  ranks: readonly TokenRank[],
): Promise<void> {
  await tx.query(
    `insert into indexer.rarity_rank (collection_id, asset, generation, rank)
     select $1, asset, $2, rank from unnest($3::text[], $4::bigint[]) as computed (asset, rank)
     where exists (select from indexer.token as stored where stored.collection_id = $1 and stored.asset = computed.asset)`,
    [collectionId, generation, ranks.map(({ asset }) => asset), ranks.map(({ rank }) => rank)],
  );
}

const decodeDeleted = rowDecoder('rarity_rank', { deleted: integer });

/** Deletes at most `limit` ranks that are not served. Returns how many were deleted. */
export async function deleteOldRanks(db: Queryable, collectionId: string, limit: number): Promise<number> {
  const [row] = await db.query(
    `with old as (
       select stored.asset, stored.generation from indexer.rarity_rank as stored
       join indexer.collection_rarity as rarity using (collection_id)
       where collection_id = $1 and stored.generation <> rarity.generation limit $2
     ), deleted as (
       delete from indexer.rarity_rank as stored using old
       where stored.collection_id = $1 and stored.asset = old.asset and stored.generation = old.generation returning 1
     )
     select count(*)::int as deleted from deleted`,
    [collectionId, limit],
  );
  return row ? decodeDeleted(row).deleted : 0;
}

/** Times in milliseconds. `tokens`: how many tokens the collection had. `dueAt`: the tokens are not ranked again before this time. */
export type RankingResult = {
  collectionId: string;
  state: RarityState;
  revision: number;
  tokens: number | null;
  /** In the states `untraited` and `too-large`, no ranks are served. In the other states, null means that the served ranks do not change. */
  ranks: { generation: number; kind: string; source: string | null; at: number } | null;
  dueAt: number;
};

export async function updateRarity(db: Queryable, result: RankingResult): Promise<void> {
  const { collectionId, state, revision, tokens, ranks, dueAt } = result;
  await db.query(
    `update indexer.collection_rarity set state = $2, ranked_revision = $3, tokens = $4, due_at = $5,
       generation = case when $2 in ('untraited', 'too-large') then 0 else coalesce($6, generation) end, kind = coalesce($7, kind),
       source = case when $6::integer is null then source else $8 end, ranked_at = coalesce($9, ranked_at)
     where collection_id = $1`,
    [
      collectionId,
      state,
      revision,
      tokens,
      new Date(dueAt),
      ranks?.generation ?? null,
      ranks?.kind ?? null,
      ranks?.source ?? null,
      ranks ? new Date(ranks.at) : null,
    ],
  );
}

const decodeSource = rowDecoder('collection_rarity', {
  isReported: column('is_reported', boolean),
  reportedBy: column('reported_by', nullable(text)),
  kind: nullable(text),
  source: nullable(text),
  rankedAt: column('ranked_at', nullable(timestamp)),
  isComplete: column('is_complete', boolean),
});

/** Where the ranks that are served come from. `isComplete`: each token that is not burned has a rank. */
export type RankSource = ReturnType<typeof decodeSource>;

/**
 * Null when no token of the collection has a rank. For `isComplete`, the statement does not count all computed ranks. A computed rank is 1 more
 * than the number of tokens with a smaller rank. So the number of ranked tokens is the last rank, minus 1, plus the number of tokens with the
 * last rank. Each `order by` makes PostgreSQL use the index that ends with the columns of this `order by`.
 */
export async function findRankSource(db: Queryable, collectionId: string): Promise<RankSource | null> {
  const [row] = await db.query(
    `with reported as (
       select rarity_source from indexer.token where collection_id = $1 and rarity_rank is not null and not burned
       order by rarity_rank, length(asset), asset limit 1
     )
     select true as is_reported, rarity_source as reported_by, null as kind, null as source, null::timestamptz as ranked_at,
       (select asset from indexer.token where collection_id = $1 and rarity_rank is null and not burned
        order by length(asset), asset limit 1) is null as is_complete
     from reported
     union all
     select false, null, kind, source, ranked_at, last.rank - 1 + last.tokens = figures.tokens
     from indexer.collection_rarity as rarity
     join indexer.collection_figures as figures using (collection_id)
     cross join lateral (
       select rank, (select count(*) from indexer.rarity_rank as tied
                     where tied.collection_id = $1 and tied.generation = rarity.generation and tied.rank = stored.rank) as tokens
       from indexer.rarity_rank as stored
       where stored.collection_id = $1 and stored.generation = rarity.generation
       order by stored.rank desc, length(stored.asset) desc, stored.asset desc limit 1
     ) as last
     where collection_id = $1 and rarity.generation > 0 and not exists (select from reported)`,
    [collectionId],
  );
  return row ? decodeSource(row) : null;
}
