// Reads in which collections a wallet has tokens and listings, and how many. `listHeldCollections` and `listMirroredCollections` read the indexer
// database, the other functions the primary database.

import type { Queryable } from '../../../platform/database/port.ts';
import { amount, column, nullable, rowDecoder, safeInteger, text } from '../../../platform/database/rows.ts';
import { LISTED } from '../../index/queries/figures.ts';
import { fillableAt } from '../../orders/queries/fillable-orders.ts';

/** `after`: the id of the last collection of the previous page; null on the first page. `now` in milliseconds. */
type WalletCollectionQuery = {
  account: string;
  chains: readonly string[];
  after: string | null;
  limit: number;
  now: number;
};

/** `floorRaw`: the stored ranking key, in base units. Null if the floor is unknown. */
export type HeldCollection = { collectionId: string; chain: string; tokens: number; floorRaw: bigint | null };

const decodeHeld = rowDecoder('holder', {
  collectionId: column('collection_id', text),
  chain: text,
  tokens: safeInteger,
  floorRaw: column('floor_raw', nullable(amount)),
});

/** The collections with a record in which the account is the recorded holder of tokens, sorted by id. */
export async function listHeldCollections(
  db: Queryable,
  { account, chains, after, limit }: WalletCollectionQuery,
): Promise<HeldCollection[]> {
  const rows = await db.query(
    `select held.collection_id, figures.chain, held.tokens, nullif(figures.floor_rank, '-Infinity') as floor_raw
     from indexer.holder as held join indexer.collection_figures as figures using (collection_id)
     where held.owner = $1 and held.collection_id > $2 and figures.recorded and figures.chain = any($3)
     order by held.collection_id limit $4`,
    [account, after ?? '', chains, limit],
  );
  return rows.map(decodeHeld);
}

type ListedIn = { collectionId: string; listed: number };

const decodeListed = rowDecoder('listing', { collectionId: column('collection_id', text), listed: safeInteger });

/** The number of assets that the account has listed in the mirror, by collection, sorted by id. An own order of the asset hides such a listing. */
export async function listMirroredCollections(
  db: Queryable,
  { account, chains, after, limit, now }: WalletCollectionQuery,
): Promise<ListedIn[]> {
  const rows = await db.query(
    `select collection_id, count(distinct asset) as listed from indexer.listing
     where seller = $1 and ${LISTED} and (expires_at is null or expires_at > $5) and collection_id > $2 and chain = any($3)
       and not exists (select from indexer.own_asset as own where own.collection_id = listing.collection_id and own.asset = listing.asset
         and (own.expires_at is null or own.expires_at > $5) offset 0)
     group by collection_id order by collection_id limit $4`,
    [account, after ?? '', chains, limit, new Date(now)],
  );
  return rows.map(decodeListed);
}

/** The number of assets that the account has listed in the own order book, by collection, sorted by id. */
export async function listOrderedCollections(
  db: Queryable,
  { account, chains, after, limit, now }: WalletCollectionQuery,
): Promise<ListedIn[]> {
  const rows = await db.query(
    `select collection_id, count(*) as listed from (
       select distinct seller, collection_id, token_id from main.book_order
       where seller = $1 and (seller, collection_id) > ($1, $2) and ${fillableAt('$5')} and chain = any($3)
       order by seller, collection_id, token_id
     ) as offered group by collection_id order by collection_id limit $4`,
    [account, after ?? '', chains, limit, new Date(now)],
  );
  return rows.map(decodeListed);
}

const decodeUnits = rowDecoder('holding', { collectionId: column('collection_id', text), units: amount });

/** The units that the account holds in each of the collections, from the log of their chains. A collection without such a log is missing. */
export async function listHeldUnits(
  db: Queryable,
  account: string,
  collectionIds: readonly string[],
): Promise<Map<string, bigint>> {
  const rows = await db.query(
    `select collection_id, sum(quantity) as units from main.holding
     where holder = $1 and collection_id = any($2) and quantity > 0 group by collection_id`,
    [account, collectionIds],
  );
  return new Map(rows.map(decodeUnits).map(({ collectionId, units }) => [collectionId, units]));
}

const decodeId = rowDecoder('collection', { id: text });

/** Those of the collections whose tokens have several units. */
export async function listEditionCollections(db: Queryable, collectionIds: readonly string[]): Promise<Set<string>> {
  const rows = await db.query(`select id from main.collection where id = any($1) and token_standard = 'ERC-1155'`, [
    collectionIds,
  ]);
  return new Set(rows.map((row) => decodeId(row).id));
}
