// Writes the holders of followed collections to the indexer database. `sources/chains/chain-holders.ts` computes them from the log of the chain.
// Must be called within `changeIndex`.

import type { Queryable } from '../../../platform/database/port.ts';
import { column, rowDecoder, text } from '../../../platform/database/rows.ts';

/** How many different tokens of a collection an account holds; 0 when it holds none. */
export type TokensOfHolder = { holder: string; tokens: number };

const decodeCollectionId = rowDecoder('collection_figures', { collectionId: column('collection_id', text) });

/** Returns the ids of the collections whose holders come from the log of this chain, sorted. */
export async function listChainHeldCollections(db: Queryable, chain: string): Promise<string[]> {
  const rows = await db.query(
    `select collection_id from indexer.collection_figures where has_chain_holders and starts_with(collection_id, $1 || '_')
     order by collection_id`,
    [chain],
  );
  return rows.map((row) => decodeCollectionId(row).collectionId);
}

/**
 * Replaces all holders of a collection, and writes only the rows that differ. After this call, owners that marketplaces report do not
 * change the holders.
 */
export async function replaceChainHolders(
  tx: Queryable,
  collectionId: string,
  holders: readonly TokensOfHolder[],
): Promise<void> {
  await tx.query(
    `with incoming as (
       select * from unnest($2::text[], $3::bigint[]) as incoming (owner, tokens) where tokens > 0
     ), removed as (
       delete from indexer.holder as stored where stored.collection_id = $1
         and not exists (select from incoming where incoming.owner = stored.owner)
     ), written as (
       insert into indexer.holder as stored (collection_id, owner, tokens) select $1, owner, tokens from incoming
       on conflict (collection_id, owner) do update set tokens = excluded.tokens where stored.tokens <> excluded.tokens
     )
     update indexer.collection_figures set has_chain_holders = true, holders = (select count(*) from incoming)
     where collection_id = $1`,
    [collectionId, holders.map(({ holder }) => holder), holders.map(({ tokens }) => tokens)],
  );
}

/** Stores how many tokens the given accounts hold, and updates the number of holders. Each account must be given at most once. */
export async function updateChainHolders(
  tx: Queryable,
  collectionId: string,
  holders: readonly TokensOfHolder[],
): Promise<void> {
  await tx.query(
    `with incoming as (
       select * from unnest($2::text[], $3::bigint[]) as incoming (owner, tokens)
     ), removed as (
       delete from indexer.holder as stored using incoming
       where stored.collection_id = $1 and stored.owner = incoming.owner and incoming.tokens = 0 returning stored.owner
     ), written as (
       insert into indexer.holder as stored (collection_id, owner, tokens)
       select $1, owner, tokens from incoming where tokens > 0
       on conflict (collection_id, owner) do update set tokens = excluded.tokens where stored.tokens <> excluded.tokens
       returning xmax = 0 as inserted
     )
     update indexer.collection_figures set holders = holders
       + (select count(*) from written where inserted) - (select count(*) from removed)
     where collection_id = $1`,
    [collectionId, holders.map(({ holder }) => holder), holders.map(({ tokens }) => tokens)],
  );
}

/**
 * If `indexer.coverage` says that all tokens of a collection were read from its chain, adds that all owners were read from it too. Must be
 * called after `replaceChainHolders`, because before that call the stored holders may differ from the holders on the chain.
 */
export async function insertOwnersCoverage(tx: Queryable, collectionId: string): Promise<void> {
  await tx.query(
    `insert into indexer.coverage (collection_id, subject, source, kind, from_time, to_time)
     select collection_id, 'owners', source, kind, from_time, to_time from indexer.coverage
     where collection_id = $1 and subject = 'tokens' and kind = 'chain' on conflict do nothing`,
    [collectionId],
  );
}

/**
 * Derives the holders of a collection from the stored owners of its tokens again, because its chain is no longer read. Deletes the coverage
 * of the owners by the chain.
 */
export async function updateToReportedHolders(tx: Queryable, collectionId: string): Promise<void> {
  await tx.query(`delete from indexer.coverage where collection_id = $1 and subject = 'owners' and kind = 'chain'`, [
    collectionId,
  ]);
  await tx.query(`delete from indexer.holder where collection_id = $1`, [collectionId]);
  await tx.query(
    `with counted as (
       insert into indexer.holder (collection_id, owner, tokens)
       select collection_id, owner, count(*) from indexer.token
       where collection_id = $1 and owner is not null and not burned group by collection_id, owner returning owner
     )
     update indexer.collection_figures set has_chain_holders = false, holders = (select count(*) from counted)
     where collection_id = $1`,
    [collectionId],
  );
}
