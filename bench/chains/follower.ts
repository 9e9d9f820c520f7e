// The follower of a simulated chain, and the projection of its log, without the tasks of a service around them.

import { insertChainCursor } from '../../src/market/chain-log/queries/chain-cursors.ts';
import type { FollowContext } from '../../src/sources/chains/follower.ts';
import { projectNext } from '../../src/sources/chains/projection.ts';
import { listProtocolContracts } from '../../src/sources/chains/protocols/registry.ts';
import { ChainReader } from '../../src/sources/chains/rpc/chain-reader.ts';
import type { Address } from '../../src/platform/core/address.ts';
import type { Chain } from '../../src/platform/core/chains.ts';
import { createChains } from '../../src/platform/core/chains.ts';
import { systemClock } from '../../src/platform/core/clock.ts';
import { createLog } from '../../src/platform/core/log.ts';
import type { Database } from '../../src/platform/database/port.ts';
import { upsertFollow } from '../../src/market/follows/queries/follows.ts';
import { hashOf } from './chain-node.ts';
import { COLLECTION } from './synthetic.ts';

export const CHAIN = 'ethereum';
export const FOLLOWED_ID = `${CHAIN}_${COLLECTION}`;

const chains = createChains();

export function openFollower(database: Database, urls: readonly string[]): FollowContext {
  const chain = findChain();
  const log = createLog('warn');
  const reader = new ChainReader({ chain, urls, log, clock: systemClock, random: Math.random });
  const protocols = listProtocolContracts(chain, new Map());
  return { main: database, reader, protocols, clock: systemClock, log };
}

/** Returns a function that writes the next batch of the log into the indexer, and returns whether there was work. */
export function openProjection(database: Database): () => Promise<boolean> {
  const context = { main: database, indexer: database, chain: findChain(), chains, serviceName: 'mercat' };
  return async () => (await projectNext({ ...context, clock: systemClock })) !== null;
}

function findChain(): Chain {
  const chain = chains.get(CHAIN);
  if (!chain) throw new Error(`${CHAIN} is not a chain`);
  return chain;
}

export async function drain(project: () => Promise<boolean>): Promise<void> {
  while (await project());
}

/**
 * Sets the chain's cursor to block `number`. If `joined`, the collection counts as read up to this block. Otherwise it needs a backfill.
 */
export async function begin(database: Database, number: number, joined: boolean): Promise<void> {
  await insertChainCursor(database, CHAIN, { number, hash: hashOf(number), time: 0 }, 0);
  await upsertFollow(database, {
    collectionId: FOLLOWED_ID,
    chain: CHAIN,
    contractAddress: COLLECTION as Address,
    standard: 'erc721',
    fromBlock: 1,
    names: new Map(),
    createdAt: 0,
  });
  if (joined) await database.query(`update main.follow set joined = true`);
}
