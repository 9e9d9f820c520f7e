// A market that changes: two processes of the service share one PostgreSQL and follow a local chain on which a simulation trades.

import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import type { Listing } from '../../../devnet/chain-state.ts';
import { readHeight } from '../../../devnet/chain.ts';
import { startDevnet, startSimulation } from '../../../devnet/devnet.ts';
import { toCriteria } from '../../../devnet/intake-client.ts';
import type { SignedOrder } from '../../../devnet/orders.ts';
import { toWireComponents } from '../../../devnet/orders.ts';
import type { Marketplace, Simulation } from '../../../devnet/simulation.ts';
import type { World } from '../../../devnet/world.ts';
import { startCitus } from '../../support/engines/citus-cluster.ts';
import { RUNS_ON_CITUS } from '../../support/engines/citus-node.ts';
import { createTestDatabase, migratedTemplate, startPostgres } from '../../support/engines/postgres-server.ts';
import { until } from '../../support/until.ts';
import type { CopiedCollection } from './market-copy.ts';
import { Nodes } from './nodes.ts';

const CHAIN = 'ethereum';
const NODES = 2;
/** Only a service that hangs needs longer than this. */
const LIMIT_MS = 180_000;

export type LiveMarket = {
  nodes: Nodes;
  /** The databases of the processes, as settings. */
  databases: Record<string, string>;
  world: World;
  simulation: Simulation;
  /** The first orders, which the test must post before the first step. */
  book: readonly Listing[];
  collections: readonly CopiedCollection[];
  /** Resolves when a process has read the chain up to its head. */
  waitUntilFollowed(): Promise<void>;
  /** Calls `close` before the market is stopped. */
  atEnd(close: () => Promise<unknown>): void;
};

export async function startLiveMarket(
  t: TestContext,
  { seed, bookSize, settings }: { seed: number; bookSize: number; settings: Record<string, string> },
): Promise<LiveMarket> {
  const closers: (() => Promise<unknown>)[] = [];
  t.after(async () => {
    const outcomes: PromiseSettledResult<unknown>[] = [];
    for (const close of closers.toReversed()) outcomes.push(...(await Promise.allSettled([close()])));
    for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason;
  });
  const server = await startPostgres();
  closers.push(() => server.discard());
  const devnet = await startDevnet({ networks: [CHAIN], seed });
  closers.push(() => devnet.stop());
  const network = devnet.networks[0] ?? assert.fail();
  const { world } = network;
  const cluster = RUNS_ON_CITUS ? await startCitus() : null;
  if (cluster) closers.push(() => cluster.discard());
  const databases = {
    ...(cluster && { INDEXER_DATABASE_URL: await cluster.createDatabase('migrated') }),
    DATABASE_URL: await createTestDatabase(server.url, await migratedTemplate(server.url)),
  };
  const nodes = await Nodes.start(NODES, {
    ...databases,
    RPC_URL_ETHEREUM: world.chain.url,
    CHAIN_POLL_MS: '200',
    ...settings,
  });
  closers.push(() => nodes.stop());
  for (const { address, name } of world.collections)
    await nodes.operate('collections.add', { chain: CHAIN, address, name, fromBlock: 0 });
  const isRead = async () => (await nodes.operate('collections.list')).every(({ state }: any) => state === 'live');
  await until(isRead, LIMIT_MS, 'the backfills are not complete');

  const post = async (chain: string, { components, signature }: SignedOrder, more: object = {}) => {
    const order = { parameters: toWireComponents(components), signature };
    const { status, body } = await nodes.send('POST', '/intake/v1/orders', { chain, order, ...more });
    return status === 201 || body.error.code === 'duplicate' ? null : body.error.code;
  };
  const marketplace: Marketplace = {
    postOrder: ({ chain, listing }) => post(chain, listing),
    postBid: ({ chain, bid }) => post(chain, bid, toCriteria(bid.wanted)),
  };
  const { simulation, book } = await startSimulation(network, { seed, orders: bookSize, marketplace, reorgShare: 0 });
  const waitUntilFollowed = async () => {
    const height = await readHeight(world.chain);
    const isFollowed = async () =>
      (await nodes.operate('status')).chains.find(({ chain }: any) => chain === CHAIN)?.block === height;
    await until(isFollowed, LIMIT_MS, 'the chain was not read to its head');
  };
  return {
    nodes,
    databases,
    world,
    simulation,
    book,
    collections: world.collections.map(({ address, standard }) => ({
      id: `${CHAIN}_${address.toLowerCase()}`,
      standard,
    })),
    waitUntilFollowed,
    atEnd: (close) => void closers.push(close),
  };
}
