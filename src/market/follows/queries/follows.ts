// The collections that the workers follow, on chains and at vendors. Primary database.

import type { Address } from '../../../platform/core/address.ts';
import type { TokenStandard } from '../../../platform/core/evm.ts';
import type { Queryable, Row } from '../../../platform/database/port.ts';
import {
  address,
  boolean,
  column,
  list,
  nullable,
  object,
  oneOf,
  rowDecoder,
  safeInteger,
  text,
  timestamp,
} from '../../../platform/database/rows.ts';

export type Follow = {
  collectionId: string;
  chain: string;
  contractAddress: Address;
  /** Null if it is not known, or if the contract has neither standard (`TokenForm`). */
  standard: TokenStandard | null;
  /** Whether arguments of its transfers and approvals may not be indexed, as in contracts that are older than ERC-721. */
  unindexed: boolean;
  /** The first block to read. Null if the service did not read the chain when the collection was added. Then only marketplaces are read. */
  fromBlock: number | null;
  /** The last block that the backfill has read; null before the backfill has begun. */
  readToBlock: number | null;
  /** Whether the collection is part of its chain's live stream. Then every block up to the chain's cursor has been read for the collection. */
  joined: boolean;
  /** The collection's own names at vendors, such as the slug at OpenSea, by vendor. */
  names: ReadonlyMap<string, string>;
  createdAt: number;
};

type NewFollow = Omit<Follow, 'readToBlock' | 'joined' | 'unindexed'> & { unindexed?: boolean | undefined };

const COLUMNS = `collection_id, chain, contract_address, standard, unindexed, from_block, read_to_block, joined, created_at,
  coalesce((select json_agg(json_build_object('vendor', vendor, 'name', name) order by vendor)
            from main.follow_name where follow_name.collection_id = follow.collection_id), '[]') as names`;

const decodeFollow = rowDecoder('follow', {
  collectionId: column('collection_id', text),
  chain: text,
  contractAddress: column('contract_address', address),
  standard: nullable(oneOf(['erc721', 'erc1155'])),
  unindexed: boolean,
  fromBlock: column('from_block', nullable(safeInteger)),
  readToBlock: column('read_to_block', nullable(safeInteger)),
  joined: boolean,
  names: list(object({ vendor: text, name: text })),
  createdAt: column('created_at', timestamp),
});

/** Sorted by id. `chain` null: all chains. */
export async function listFollows(db: Queryable, chain: string | null = null): Promise<Follow[]> {
  const rows = await db.query(
    `select ${COLUMNS} from main.follow where $1::text is null or chain = $1 order by collection_id`,
    [chain],
  );
  return rows.map(toFollow);
}

export async function findFollow(db: Queryable, collectionId: string): Promise<Follow | null> {
  const [row] = await db.query(`select ${COLUMNS} from main.follow where collection_id = $1`, [collectionId]);
  return row ? toFollow(row) : null;
}

/** The contracts among the followed ones whose transfers and approvals may have arguments that are not indexed. */
export function toUnindexed(follows: readonly Follow[]): Set<Address> {
  return new Set(follows.flatMap(({ unindexed, contractAddress }) => (unindexed ? [contractAddress] : [])));
}

/**
 * Follows a collection. If it is already followed, each given name replaces the stored name at the same vendor. Names at other vendors and
 * the progress of the backfill are kept. A given standard that is not null replaces the stored standard. `unindexed` is kept unless it is given.
 * `fromBlock` is stored only if none is stored.
 */
export async function upsertFollow(tx: Queryable, follow: NewFollow): Promise<void> {
  await tx.query(
    `with followed as (
       insert into main.follow as stored (collection_id, chain, contract_address, standard, from_block, created_at, unindexed)
       values ($1, $2, $3, $4, $5, $6, coalesce($9, false))
       on conflict (collection_id) do update set standard = coalesce(excluded.standard, stored.standard),
         unindexed = coalesce($9, stored.unindexed),
         from_block = coalesce(stored.from_block, excluded.from_block)
       returning collection_id
     )
     insert into main.follow_name (collection_id, vendor, name)
     select collection_id, vendor, name from followed, unnest($7::text[], $8::text[]) as given (vendor, name)
     order by vendor collate "C"
     on conflict (collection_id, vendor) do update set name = excluded.name`,
    [
      follow.collectionId,
      follow.chain,
      follow.contractAddress,
      follow.standard,
      follow.fromBlock,
      new Date(follow.createdAt),
      [...follow.names.keys()],
      [...follow.names.values()],
      follow.unindexed ?? null,
    ],
  );
}

/** Stores a name, unless a name at this vendor is stored already or the collection is not followed. Waits for a concurrent removal of the collection. */
export async function insertFollowName(
  db: Queryable,
  { collectionId, vendor, name }: { collectionId: string; vendor: string; name: string },
): Promise<void> {
  await db.query(
    `insert into main.follow_name (collection_id, vendor, name)
     select collection_id, $2, $3 from main.follow where collection_id = $1 for key share
     on conflict do nothing`,
    [collectionId, vendor, name],
  );
}

export async function updateFollowProgress(
  tx: Queryable,
  collectionId: string,
  progress: { readToBlock: number; joined: boolean },
): Promise<void> {
  await tx.query(`update main.follow set read_to_block = $2, joined = $3 where collection_id = $1`, [
    collectionId,
    progress.readToBlock,
    progress.joined,
  ]);
}

/** Sets the backfills of a chain back to the common ancestor after a reorganisation, so that they read the later blocks again. */
export async function updateFollowsAfterReorg(tx: Queryable, chain: string, ancestor: number): Promise<void> {
  await tx.query(`update main.follow set read_to_block = $2 where chain = $1 and not joined and read_to_block > $2`, [
    chain,
    ancestor,
  ]);
}

/** Returns whether the collection was followed. */
export async function deleteFollow(tx: Queryable, collectionId: string): Promise<boolean> {
  const rows = await tx.query(`delete from main.follow where collection_id = $1 returning 1`, [collectionId]);
  return rows.length > 0;
}

function toFollow(row: Row): Follow {
  const { names, ...follow } = decodeFollow(row);
  return { ...follow, names: new Map(names.map(({ vendor, name }) => [vendor, name])) };
}
