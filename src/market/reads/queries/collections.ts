// Reads and writes collection records in the primary database. A record has the names, the description, the images and the stored snapshot
// of a collection.

import type { Address } from '../../../platform/core/address.ts';
import { toKnownPrice } from '../../../platform/core/amount.ts';
import type { Collection, CollectionSnapshot } from '../../../platform/core/collection.ts';
import type { Queryable, Row } from '../../../platform/database/port.ts';
import {
  address,
  amount,
  boolean,
  column,
  double,
  integer,
  nullable,
  rowDecoder,
  safeInteger,
  text,
  timestamp,
} from '../../../platform/database/rows.ts';
import type { UpsertRejection, UpsertCounts } from '../../../platform/database/upsert.ts';
import { columnsOf, foldRows, mergeKnown, toTimestamp } from '../../../platform/database/upsert.ts';
import { insertCatalogChanges } from '../../index/queries/catalog.ts';
import { listedImageSql } from '../../index/queries/listed-image.ts';

const FILLED_COLUMNS: ReadonlySet<string> = new Set(['image', 'banner', 'description', 'royalty_bps']);
const COLUMNS = `id, chain, contract_address, slug, name, image, banner, description, token_standard, royalty_bps,
  launched, created_at, snapshot_floor_raw, snapshot_volume, snapshot_supply, snapshot_owners, tokens_complete, sales_complete,
  listings_complete`;

/**
 * The columns as they are served. Metadata from the contract fills columns that are null in the record, and replaces a name that is only
 * the contract address.
 */
const SERVED_COLUMNS = toServedColumns((image) => image);
/** The same, with images as `listedImageSql` gives them. */
const LISTED_COLUMNS = toServedColumns(listedImageSql);

function toServedColumns(imageSql: (image: string) => string): string {
  return COLUMNS.split(/,\s*/)
    .map((name) => {
      if (name === 'name') {
        return `case when collection.name = collection.contract_address then coalesce(metadata.name, collection.name)
          else collection.name end as name`;
      }
      if (!FILLED_COLUMNS.has(name)) return `collection.${name}`;
      const filled = `coalesce(collection.${name}, metadata.${name})`;
      return `${name === 'image' || name === 'banner' ? imageSql(filled) : filled} as ${name}`;
    })
    .join(', ');
}

const SERVED = `main.collection left join main.collection_metadata as metadata on metadata.collection_id = collection.id`;

const decodeRecord = rowDecoder('collection', {
  id: text,
  chain: nullable(text),
  contractAddress: column('contract_address', nullable(address)),
  slug: nullable(text),
  name: text,
  image: nullable(text),
  banner: nullable(text),
  description: nullable(text),
  tokenStandard: column('token_standard', nullable(text)),
  royaltyBps: column('royalty_bps', nullable(integer)),
  launched: boolean,
  createdAt: column('created_at', timestamp),
  tokensComplete: column('tokens_complete', boolean),
  salesComplete: column('sales_complete', nullable(boolean)),
});
const decodeSnapshot: (row: Row) => CollectionSnapshot = rowDecoder('collection', {
  floorRaw: column('snapshot_floor_raw', nullable(amount)),
  volumeAllTime: column('snapshot_volume', nullable(double)),
  supply: column('snapshot_supply', nullable(safeInteger)),
  owners: column('snapshot_owners', nullable(safeInteger)),
});

function decodeCollection(row: Row): Collection {
  const { salesComplete, ...record } = decodeRecord(row);
  return { ...record, salesComplete: salesComplete ?? false, snapshot: decodeSnapshot(row) };
}

/**
 * Returns the collections that have one of these names, as they are served: at most one collection with each id, at most one with each slug,
 * and at most one with each address on each chain.
 */
export async function listCollectionsByName(
  db: Queryable,
  names: readonly { id: string; slug: string; address: string }[],
): Promise<Collection[]> {
  const rows = await db.query(
    `select ${SERVED_COLUMNS} from ${SERVED} where id = any($1) or slug = any($2) or contract_address = any($3)`,
    [names.map(({ id }) => id), names.map(({ slug }) => slug), names.map(({ address }) => address)],
  );
  return rows.map(decodeCollection);
}

/**
 * Returns collections as lists serve them, with metadata from contracts and with images as `listedImageSql` gives them. Before a record is changed, read it by `listRecordedCollections`, so that
 * this metadata is not written to the record.
 */
export async function listCollectionsByIds(db: Queryable, ids: readonly string[]): Promise<Collection[]> {
  const rows = await db.query(`select ${LISTED_COLUMNS} from ${SERVED} where id = any($1)`, [ids]);
  return rows.map(decodeCollection);
}

/** Returns collections as they are recorded, without metadata from contracts. */
export async function listRecordedCollections(db: Queryable, ids: readonly string[]): Promise<Collection[]> {
  const rows = await db.query(`select ${COLUMNS} from main.collection where id = any($1)`, [ids]);
  return rows.map(decodeCollection);
}

const decodeContractAddress = rowDecoder('collection', { id: text, contractAddress: column('contract_address', text) });

/** Returns the contract addresses by collection id, in their original letter case. Collections without an address are left out. */
export async function listContractAddresses(db: Queryable, ids: readonly string[]): Promise<Map<string, string>> {
  const rows = await db.query(
    `select id, contract_address from main.collection where id = any($1) and contract_address is not null`,
    [ids],
  );
  return new Map(rows.map(decodeContractAddress).map((row) => [row.id, row.contractAddress]));
}

const decodeId = rowDecoder('collection', { id: text });

export async function listRecordedIds(db: Queryable, ids: readonly string[]): Promise<string[]> {
  const rows = await db.query(`select id from main.collection where id = any($1)`, [ids]);
  return rows.map((row) => decodeId(row).id);
}

/** A null field leaves the stored value unchanged, and so does a floor of 0, which is unknown. */
export type CollectionChange = {
  id: string;
  chain: string | null;
  contractAddress: Address | null;
  slug: string | null;
  name: string;
  image: string | null;
  banner: string | null;
  description: string | null;
  tokenStandard: string | null;
  royaltyBps: number | null;
  launched: boolean | null;
  tokensComplete: boolean | null;
  salesComplete: boolean | null;
  listingsComplete: boolean | null;
  createdAt: number | null;
  snapshot: CollectionSnapshot;
};

/** Applies the changes in the order given. A new collection without `createdAt` gets `now`. */
export async function upsertCollections(
  tx: Queryable,
  given: readonly CollectionChange[],
  now: number,
): Promise<UpsertCounts & { rejections: UpsertRejection[] }> {
  if (given.length === 0) return { inserted: 0, updated: 0, unchanged: 0, rejections: [] };
  const changes = given.map((change) => ({
    ...change,
    snapshot: { ...change.snapshot, floorRaw: toKnownPrice(change.snapshot.floorRaw) },
  }));
  const names = await listNames(tx, changes);
  const stored = new Set(names.byId.keys());
  const rejections: UpsertRejection[] = [];
  const accepted = changes.filter((change, index) => {
    const reason = claimNames(names, change);
    if (reason !== null) rejections.push({ index, reason });
    return reason === null;
  });
  const folded = await foldRows(accepted, { keyOf: (change) => change.id, fold: foldChange });
  const inserts = folded.rows.filter((change) => !stored.has(change.id));
  const updatedIds = await updateCollections(
    tx,
    folded.rows.filter((change) => stored.has(change.id)),
  );
  if (inserts.length > 0) {
    await tx.query(
      `insert into main.collection (${COLUMNS})
       select ${COLUMNS.replace('launched', 'coalesce(launched, false)')
         .replace('tokens_complete', 'coalesce(tokens_complete, false)')
         .replace('created_at', 'coalesce(created_at, $2)')}
       from json_to_recordset($1::json) as incoming (${COLUMN_TYPES})`,
      [JSON.stringify(inserts.map(toColumns)), new Date(now)],
    );
  }
  await insertCatalogChanges(tx, [...inserts.map((change) => change.id), ...updatedIds]);
  const updated = updatedIds.length;
  const written = inserts.length + updated + folded.changes;
  return {
    inserted: inserts.length,
    updated: updated + folded.changes,
    unchanged: accepted.length - written,
    rejections,
  };
}

type CollectionNames = { id: string; slug: string | null; contractAddress: string | null };
/** The names of collections, by id and by slug. They include names that earlier changes of this batch have claimed. */
type NameIndex = { byId: Map<string, CollectionNames>; bySlug: Map<string, CollectionNames> };

const decodeNames = rowDecoder('collection', {
  id: text,
  slug: nullable(text),
  contractAddress: column('contract_address', nullable(text)),
});

async function listNames(tx: Queryable, changes: readonly CollectionChange[]): Promise<NameIndex> {
  const rows = await tx.query(
    `select id, slug, contract_address from main.collection where id = any($1) or slug = any($2)`,
    [changes.map((change) => change.id), changes.map((change) => change.slug).filter((slug) => slug !== null)],
  );
  const names = rows.map(decodeNames);
  return {
    byId: new Map(names.map((one) => [one.id, one])),
    bySlug: new Map(names.flatMap((one) => (one.slug === null ? [] : [[one.slug, one]]))),
  };
}

/** Returns null, or the reason why the collection cannot have the names of the change. */
function claimNames(names: NameIndex, change: CollectionChange): string | null {
  const known = names.byId.get(change.id);
  // A collection id contains the address in lower case. Both addresses give the same id, so they differ only in letter case.
  if (known?.contractAddress && change.contractAddress && known.contractAddress !== change.contractAddress) {
    return `contractAddress: differs only in letter case from ${known.contractAddress}, which is stored`;
  }
  const holder = change.slug === null ? undefined : names.bySlug.get(change.slug);
  if (holder && holder.id !== change.id) return `slug: ${change.slug} belongs to the collection ${holder.id}`;
  if (known && !change.contractAddress && known.slug !== change.slug) {
    return `slug: the id ${change.id} belongs to the collection with the slug ${known.slug}`;
  }
  const claimed = {
    id: change.id,
    slug: change.slug ?? known?.slug ?? null,
    contractAddress: change.contractAddress ?? known?.contractAddress ?? null,
  };
  if (known && known.slug !== null && known.slug !== claimed.slug) names.bySlug.delete(known.slug);
  if (claimed.slug !== null) names.bySlug.set(claimed.slug, claimed);
  names.byId.set(claimed.id, claimed);
  return null;
}

/** Those of the collections whose imported listings include all that have ended. */
export async function listWithCompleteListings(db: Queryable, ids: readonly string[]): Promise<string[]> {
  const rows = await db.query(`select id from main.collection where id = any($1) and listings_complete`, [ids]);
  return rows.map((row) => decodeId(row).id);
}

const MERGED = COLUMNS.split(/,\s*/).filter((name) => name !== 'id');
const COLUMN_TYPES = `id text, chain text, contract_address text, slug text, name text, image text, banner text,
  description text, token_standard text, royalty_bps integer, launched boolean, created_at timestamptz,
  snapshot_floor_raw numeric, snapshot_volume double precision, snapshot_supply bigint, snapshot_owners bigint, tokens_complete boolean,
  sales_complete boolean, listings_complete boolean`;

/** Returns the ids of the rows that changed. */
async function updateCollections(tx: Queryable, changes: readonly CollectionChange[]): Promise<string[]> {
  if (changes.length === 0) return [];
  const incoming = JSON.stringify(changes.map(toColumns));
  // Slugs are unique, and rows are updated one after another. So a slug that moves to another row is first removed from its old row.
  await tx.query(
    `update main.collection as stored set slug = null from json_to_recordset($1::json) as incoming (id text, slug text)
     where stored.id = incoming.id and stored.slug <> incoming.slug`,
    [incoming],
  );
  const merged = MERGED.map((name) => `coalesce(incoming.${name}, stored.${name})`);
  const rows = await tx.query(
    `update main.collection as stored set ${MERGED.map((name, index) => `${name} = ${merged[index]}`).join(', ')}
     from json_to_recordset($1::json) as incoming (${COLUMN_TYPES})
     where stored.id = incoming.id and (${columnsOf('stored', MERGED)}) is distinct from (${merged.join(', ')})
     returning stored.id`,
    [incoming],
  );
  return rows.map((row) => decodeId(row).id);
}

function foldChange(earlier: CollectionChange, later: CollectionChange): CollectionChange {
  return { ...mergeKnown(earlier, later), snapshot: mergeKnown(earlier.snapshot, later.snapshot) };
}

function toColumns(change: CollectionChange): Record<string, unknown> {
  return {
    id: change.id,
    chain: change.chain,
    contract_address: change.contractAddress,
    slug: change.slug,
    name: change.name,
    image: change.image,
    banner: change.banner,
    description: change.description,
    token_standard: change.tokenStandard,
    royalty_bps: change.royaltyBps,
    launched: change.launched,
    tokens_complete: change.tokensComplete,
    sales_complete: change.salesComplete,
    listings_complete: change.listingsComplete,
    created_at: change.createdAt === null ? null : toTimestamp(change.createdAt),
    snapshot_floor_raw: change.snapshot.floorRaw?.toString(),
    snapshot_volume: change.snapshot.volumeAllTime,
    snapshot_supply: change.snapshot.supply,
    snapshot_owners: change.snapshot.owners,
  };
}
