// Collection records: identity, words and pictures, and the stored snapshot. Primary database.

import type { Address } from '../../core/address.ts';
import type { Collection, CollectionSnapshot } from '../../core/collection.ts';
import type { Queryable, Row } from '../../database/port.ts';
import type { UpsertCounts } from '../../database/upsert.ts';
import { columnsOf, foldRows, toTimestamp } from '../../database/upsert.ts';

const COLUMNS = `id, chain, contract_address, slug, name, image, banner, description, token_standard, royalty_bps,
  launched, created_at, snapshot_floor_raw, snapshot_volume, snapshot_supply, snapshot_owners`;

/** Every record that the three readings of an id could mean: at most one by id, one by slug, one a chain by address. */
export async function listCollectionsByName(
  db: Queryable,
  names: { id: string; slug: string; address: string },
): Promise<Collection[]> {
  const rows = await db.query(
    `select ${COLUMNS} from main.collection where id = $1 or slug = $2 or contract_address = $3`,
    [names.id, names.slug, names.address],
  );
  return rows.map(toCollection);
}

export async function listCollectionsByIds(db: Queryable, ids: readonly string[]): Promise<Collection[]> {
  const rows = await db.query(`select ${COLUMNS} from main.collection where id = any($1)`, [ids]);
  return rows.map(toCollection);
}

/** What ranking needs of a collection. */
export type CollectionRankKey = {
  id: string;
  chain: string | null;
  launched: boolean;
  createdAt: number;
  snapshotFloorRaw: bigint | null;
  snapshotVolume: number | null;
};

/** All collections, or those of one chain, in the order of their ids. */
export async function listCollectionRankKeys(db: Queryable, chain: string | null): Promise<CollectionRankKey[]> {
  const rows = await db.query(
    `select id, chain, launched, extract(epoch from created_at)::float8 * 1000 as created_ms, snapshot_floor_raw, snapshot_volume
     from main.collection where $1::text is null or chain = $1 order by id`,
    [chain],
  );
  return rows.map((row) => ({
    id: row['id'] as string,
    chain: row['chain'] as string | null,
    launched: row['launched'] as boolean,
    createdAt: Math.round(Number(row['created_ms'])),
    snapshotFloorRaw: toBigInt(row['snapshot_floor_raw']),
    snapshotVolume: row['snapshot_volume'] as number | null,
  }));
}

/** A collection record as it was told: null is what was not told. */
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
  createdAt: number | null;
  snapshot: CollectionSnapshot;
};

/** A change that was not landed: its place among those given, and why. */
export type RejectedChange = { index: number; reason: string };

/** Lands changes in their order: what is told overwrites, what is not told stays. `now` is the default of `createdAt`. */
export async function upsertCollections(
  tx: Queryable,
  changes: readonly CollectionChange[],
  now: number,
): Promise<UpsertCounts & { refused: RejectedChange[] }> {
  if (changes.length === 0) return { inserted: 0, updated: 0, unchanged: 0, refused: [] };
  const names = await listNames(tx, changes);
  const stored = new Set(names.byId.keys());
  const refused: RejectedChange[] = [];
  const accepted = changes.filter((change, index) => {
    const reason = claimNames(names, change);
    if (reason !== null) refused.push({ index, reason });
    return reason === null;
  });
  const folded = foldRows(accepted, { keyOf: (change) => change.id, fold: foldChange });
  const inserts = folded.rows.filter((change) => !stored.has(change.id));
  const updated = await updateCollections(
    tx,
    folded.rows.filter((change) => stored.has(change.id)),
  );
  if (inserts.length > 0) {
    await tx.query(
      `insert into main.collection (${COLUMNS})
       select ${COLUMNS.replace('launched', 'coalesce(launched, false)').replace('created_at', 'coalesce(created_at, $2)')}
       from json_to_recordset($1::json) as told (${COLUMN_TYPES})`,
      [JSON.stringify(inserts.map(toColumns)), new Date(now)],
    );
  }
  const written = inserts.length + updated + folded.changes;
  return {
    inserted: inserts.length,
    updated: updated + folded.changes,
    unchanged: accepted.length - written,
    refused,
  };
}

/** The addresses as written of those of the given collections that have one. */
export async function listContractAddresses(db: Queryable, ids: readonly string[]): Promise<Map<string, string>> {
  const rows = await db.query<{ id: string; contract_address: string }>(
    `select id, contract_address from main.collection where id = any($1) and contract_address is not null`,
    [ids],
  );
  return new Map(rows.map((row) => [row.id, row.contract_address]));
}

type Named = { id: string; slug: string | null; contractAddress: string | null };
type Names = { byId: Map<string, Named>; bySlug: Map<string, Named> };

/** The stored collections that the changes name by id or by slug. */
async function listNames(tx: Queryable, changes: readonly CollectionChange[]): Promise<Names> {
  const rows = await tx.query<Named>(
    `select id, slug, contract_address as "contractAddress" from main.collection where id = any($1) or slug = any($2)`,
    [changes.map((change) => change.id), changes.map((change) => change.slug).filter((slug) => slug !== null)],
  );
  return {
    byId: new Map(rows.map((row) => [row.id, row])),
    bySlug: new Map(rows.flatMap((row) => (row.slug === null ? [] : [[row.slug, row]]))),
  };
}

/** Gives the collection the names of the change, or says why it cannot have them. */
function claimNames(names: Names, change: CollectionChange): string | null {
  const known = names.byId.get(change.id);
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

const MERGED = COLUMNS.split(/,\s*/).filter((column) => column !== 'id');
const COLUMN_TYPES = `id text, chain text, contract_address text, slug text, name text, image text, banner text,
  description text, token_standard text, royalty_bps integer, launched boolean, created_at timestamptz,
  snapshot_floor_raw numeric, snapshot_volume double precision, snapshot_supply bigint, snapshot_owners bigint`;

/** Returns how many rows really changed. */
async function updateCollections(tx: Queryable, changes: readonly CollectionChange[]): Promise<number> {
  if (changes.length === 0) return 0;
  const told = JSON.stringify(changes.map(toColumns));
  // A slug that moves from one row to another in one statement would be found taken: it is given back first.
  await tx.query(
    `update main.collection as stored set slug = null from json_to_recordset($1::json) as told (id text, slug text)
     where stored.id = told.id and stored.slug <> told.slug`,
    [told],
  );
  const merged = MERGED.map((column) => `coalesce(told.${column}, stored.${column})`);
  const rows = await tx.query(
    `update main.collection as stored set ${MERGED.map((column, index) => `${column} = ${merged[index]}`).join(', ')}
     from json_to_recordset($1::json) as told (${COLUMN_TYPES})
     where stored.id = told.id and (${columnsOf('stored', MERGED)}) is distinct from (${merged.join(', ')})
     returning stored.id`,
    [told],
  );
  return rows.length;
}

function foldChange(earlier: CollectionChange, later: CollectionChange): CollectionChange {
  const told = <T extends object>(change: T) =>
    Object.fromEntries(Object.entries(change).filter(([, value]) => value !== null)) as Partial<T>;
  return { ...earlier, ...told(later), snapshot: { ...earlier.snapshot, ...told(later.snapshot) } };
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
    created_at: change.createdAt === null ? null : toTimestamp(change.createdAt),
    snapshot_floor_raw: change.snapshot.floorRaw?.toString(),
    snapshot_volume: change.snapshot.volumeAllTime,
    snapshot_supply: change.snapshot.supply,
    snapshot_owners: change.snapshot.owners,
  };
}

function toCollection(row: Row): Collection {
  return {
    id: row['id'] as string,
    chain: row['chain'] as string | null,
    contractAddress: row['contract_address'] as Address | null,
    slug: row['slug'] as string | null,
    name: row['name'] as string,
    image: row['image'] as string | null,
    banner: row['banner'] as string | null,
    description: row['description'] as string | null,
    tokenStandard: row['token_standard'] as string | null,
    royaltyBps: row['royalty_bps'] as number | null,
    launched: row['launched'] as boolean,
    createdAt: (row['created_at'] as Date).getTime(),
    snapshot: {
      floorRaw: toBigInt(row['snapshot_floor_raw']),
      volumeAllTime: row['snapshot_volume'] as number | null,
      supply: toNumber(row['snapshot_supply']),
      owners: toNumber(row['snapshot_owners']),
    },
  };
}

function toBigInt(value: unknown): bigint | null {
  return value === null ? null : BigInt(value as string);
}

function toNumber(value: unknown): number | null {
  return value === null ? null : Number(value);
}
