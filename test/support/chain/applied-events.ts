// Applies events of a followed collection on Ethereum to the chain log, and projects them into the indexer. The events come from the test,
// so no chain is read.

import type { ChainEvent } from '../../../src/market/chain-log/chain-event.ts';
import { applyEvents } from '../../../src/sources/chains/apply-block.ts';
import { projectNext } from '../../../src/sources/chains/projection.ts';
import type { Address } from '../../../src/platform/core/address.ts';
import { createChains } from '../../../src/platform/core/chains.ts';
import type { Database } from '../../../src/platform/database/port.ts';
import { updateFollowProgress, upsertFollow } from '../../../src/market/follows/queries/follows.ts';
import { EVM, NOW, emptyTables, toContext } from '../service/intake.ts';

const CHAIN = 'ethereum';
export const FOLLOWED = `${CHAIN}_${EVM}`;

/** Empties the tables, and stores a follow of the collection FOLLOWED with a complete backfill. */
export async function followAnew(db: Database): Promise<void> {
  await emptyTables(db);
  await db.query(
    `truncate main.follow, main.chain_event, main.chain_reorg, indexer.chain_cursor, indexer.judged_collection cascade`,
  );
  await upsertFollow(db, {
    collectionId: FOLLOWED,
    chain: CHAIN,
    contractAddress: EVM as Address,
    standard: 'erc721',
    fromBlock: 0,
    names: new Map(),
    createdAt: NOW,
  });
  await updateFollowProgress(db, FOLLOWED, { readToBlock: 0, joined: true });
}

export async function applyAndProject(db: Database, events: readonly ChainEvent[]): Promise<void> {
  await db.transaction((tx) => applyEvents(tx, CHAIN, events, NOW));
  await projectAll(db);
}

export async function projectAll(db: Database): Promise<void> {
  const chain = createChains().get(CHAIN);
  if (!chain) throw new Error(`there is no ${CHAIN}`);
  while (await projectNext({ ...toContext(db), chain }));
}
