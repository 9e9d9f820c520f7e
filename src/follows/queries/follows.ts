// What the workers follow: contracts on chains, and collections at marketplaces. Primary database.

import type { Address } from '../../core/address.ts';
import type { TokenStandard } from '../../core/evm.ts';
import type { Queryable, Row } from '../../database/port.ts';

export type Follow = {
  collectionId: string;
  chain: string;
  contractAddress: Address;
  standard: TokenStandard | null;
  /** The first block that concerns it; null where the chain itself is not followed. */
  fromBlock: number | null;
  /** The last block that has been read for it while it catches up. */
  readToBlock: number | null;
  /** Part of the live stream: all that its chain's cursor has passed has been read. */
  joined: boolean;
  openseaSlug: string | null;
  magicedenSymbol: string | null;
  createdAt: number;
};

const COLUMNS = `collection_id, chain, contract_address, standard, from_block, read_to_block, joined, opensea_slug,
  magiceden_symbol, created_at`;

/** All that is followed, or that of one chain, in the order of ids. */
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

/** Follows a collection. What is told anew of one that is followed already is taken; where it has been read to stays. */
export async function upsertFollow(tx: Queryable, follow: Omit<Follow, 'readToBlock' | 'joined'>): Promise<void> {
  await tx.query(
    `insert into main.follow as stored (collection_id, chain, contract_address, standard, from_block, opensea_slug,
       magiceden_symbol, created_at)
     values ($1, $2, $3, $4, $5, $6, $7, $8)
     on conflict (collection_id) do update set standard = coalesce(excluded.standard, stored.standard),
       from_block = coalesce(stored.from_block, excluded.from_block),
       opensea_slug = coalesce(excluded.opensea_slug, stored.opensea_slug),
       magiceden_symbol = coalesce(excluded.magiceden_symbol, stored.magiceden_symbol)`,
    [
      follow.collectionId,
      follow.chain,
      follow.contractAddress,
      follow.standard,
      follow.fromBlock,
      follow.openseaSlug,
      follow.magicedenSymbol,
      new Date(follow.createdAt),
    ],
  );
}

/** Notes what a collection is called at OpenSea, unless somebody said so meanwhile, or it is followed no more. */
export async function updateFollowOpenSeaSlug(db: Queryable, collectionId: string, slug: string): Promise<void> {
  await db.query(`update main.follow set opensea_slug = $2 where collection_id = $1 and opensea_slug is null`, [
    collectionId,
    slug,
  ]);
}

/** Notes how far a collection has caught up, and whether it is part of the live stream from here on. */
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

/** After a reorganisation: what a collection that is catching up has read beyond the ancestor is read again. */
export async function updateFollowsAfterReorg(tx: Queryable, chain: string, ancestor: number): Promise<void> {
  await tx.query(`update main.follow set read_to_block = $2 where chain = $1 and not joined and read_to_block > $2`, [
    chain,
    ancestor,
  ]);
}

/** True when there was such a row. */
export async function deleteFollow(tx: Queryable, collectionId: string): Promise<boolean> {
  const rows = await tx.query(`delete from main.follow where collection_id = $1 returning 1`, [collectionId]);
  return rows.length > 0;
}

function toFollow(row: Row): Follow {
  const block = (name: string) => (row[name] === null ? null : Number(row[name]));
  return {
    collectionId: row['collection_id'] as string,
    chain: row['chain'] as string,
    contractAddress: row['contract_address'] as Address,
    standard: row['standard'] as TokenStandard | null,
    fromBlock: block('from_block'),
    readToBlock: block('read_to_block'),
    joined: row['joined'] as boolean,
    openseaSlug: row['opensea_slug'] as string | null,
    magicedenSymbol: row['magiceden_symbol'] as string | null,
    createdAt: (row['created_at'] as Date).getTime(),
  };
}
