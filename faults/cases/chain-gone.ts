// The endpoint of a chain refuses connections while people bid, move their money and sell to bids, and blocks are reorganised. Meanwhile the processes are killed.

import assert from 'node:assert/strict';
import { randomInt } from 'node:crypto';
import path from 'node:path';
import { signBids } from '../../devnet/bids.ts';
import { isAcceptable } from '../../devnet/chain-state.ts';
import { mine, readHeight, toSeconds } from '../../devnet/chain.ts';
import { startDevnet, startSimulation } from '../../devnet/devnet.ts';
import { createIntakeClient } from '../../devnet/intake-client.ts';
import { createRandom } from '../../devnet/random.ts';
import type { Simulation } from '../../devnet/simulation.ts';
import { askBidVerdicts } from '../../oracle/chain-verdicts.ts';
import type { Finding } from '../../oracle/compare.ts';
import { compareBids } from '../../oracle/compare-bids.ts';
import { createEndpoint } from '../../oracle/rpc.ts';
import { createServedApi } from '../../oracle/served.ts';
import { toSignedBid } from '../../oracle/run/books.ts';
import { startTcpProxy } from '../../test/support/engines/tcp-proxy.ts';
import type { Fault } from '../fault.ts';
import { RECOVERY_LIMIT_MS } from '../platform.ts';
import type { Platform } from '../platform.ts';
import { isReached } from '../wait.ts';

const CHAIN = 'ethereum';
const SIZE = { people: 5, collections: 1, tokens: 30, editions: 6 };
const BIDS = 40;
const BIDS_AT_ONCE = 4;
const STEPS = 60;
const REORG_DEPTH = 12;
const REQUESTS = 40;
const FOLLOWED_LIMIT_MS = 120_000;

export const fault: Fault = {
  name: 'chain-gone',
  promise: 'requests succeed; a minute after the endpoint is back, exactly the bids that the chain accepts are shown',
  engines: ['embedded', 'postgresql'],
  mayGet: ['no response'],
  run: async ({ start, onEnd }) => {
    const devnet = await startDevnet({ networks: [CHAIN], seed: 1, size: SIZE });
    onEnd(devnet.stop);
    const [network] = devnet.networks;
    assert.ok(network);
    const proxy = await startTcpProxy(network.world.chain.url);
    onEnd(proxy.close);
    const platform = await start({ settings: { [`RPC_URL_${CHAIN.toUpperCase()}`]: proxy.url, CHAIN_POLL_MS: '100' } });
    for (const { address, name } of network.world.collections)
      await platform.operate('collections.add', { chain: CHAIN, address, name, fromBlock: 0 });
    const socketPath = path.join(platform.databaseSettings['DATA_DIR'] ?? '', 'mercat.sock');
    // An order that cannot be checked while the endpoint is away is given up at once.
    let patienceMs = FOLLOWED_LIMIT_MS;
    const marketplace = {
      postOrder: () => Promise.resolve(null),
      postBid: (order: Parameters<ReturnType<typeof createIntakeClient>['postBid']>[0]) =>
        createIntakeClient({ socketPath }, { patienceMs })
          .postBid(order)
          .catch(() => 'no response'),
    };
    const options = { seed: 1, orders: 0, marketplace, reorgShare: 0, reorgDepthMax: REORG_DEPTH };
    const { simulation } = await startSimulation(network, options);
    await postBids(simulation);
    assert.ok(await isServedAsAccepted(platform, simulation), 'before the fault, other bids are shown');
    const before = await countAcceptable(simulation);
    await platform.whileBroken(async () => {
      await proxy.refuse();
      patienceMs = 0;
      for (let step = 0; step < STEPS; step += 1) await simulation.step();
      await simulation.reorganise(Math.min(REORG_DEPTH, simulation.reorgDepth()));
      await platform.load.progress(REQUESTS);
      for (const program of platform.programs) {
        await program.end('SIGKILL');
        program.launch();
      }
      await platform.ready();
      await platform.load.progress(REQUESTS);
      await proxy.heal();
    });
    await mine(simulation.world.chain);
    const isRight = await isServedAsAccepted(platform, simulation);
    const after = await countAcceptable(simulation);
    assert.ok(
      isRight,
      `a minute after the endpoint is back: ${JSON.stringify(await findDifferences(platform, simulation))}`,
    );
    assert.notDeepEqual(after, before, 'no bid has changed meanwhile');
    const [many, few] = [simulation.acceptedBids.length, after.size];
    return [`${STEPS} steps and a reorganisation while the endpoint was away; ${few} of ${many} bids can be accepted`];
  },
};

async function postBids(simulation: Simulation): Promise<void> {
  const { world } = simulation;
  const random = createRandom(2);
  while (simulation.acceptedBids.length < BIDS) {
    const height = await readHeight(world.chain);
    const now = toSeconds(world.chain.clock());
    const signing = { world, state: simulation.state(), random, now, height, reorgDepthMax: REORG_DEPTH };
    const bids = await signBids(signing, BIDS_AT_ONCE);
    await simulation.postBids(bids.filter((bid) => isAcceptable(simulation.state(), bid, now)));
    assert.deepEqual(simulation.rejected, []);
  }
}

/** The bids that the chain accepts at its newest block, by key. */
async function countAcceptable({ world, acceptedBids }: Simulation): Promise<Set<string>> {
  const bids = acceptedBids.map((bid) => toSignedBid(CHAIN, bid));
  const verdicts = await askBidVerdicts(createEndpoint(world.chain.url), bids, await readHeight(world.chain));
  return new Set(bids.flatMap(({ key }) => (verdicts.get(key)?.fillable === true ? [key] : [])));
}

function isServedAsAccepted(platform: Platform, simulation: Simulation): Promise<boolean> {
  const deadline = performance.now() + RECOVERY_LIMIT_MS;
  return isReached(async () => (await findDifferences(platform, simulation)).length === 0, deadline);
}

async function findDifferences({ url }: Platform, { world, acceptedBids }: Simulation): Promise<Finding[]> {
  const bids = acceptedBids.map((bid) => toSignedBid(CHAIN, bid));
  const verdicts = await askBidVerdicts(createEndpoint(world.chain.url), bids, await readHeight(world.chain));
  // Each request has another client address, so that no rate limit applies.
  const api = createServedApi(url, () => ({
    'x-forwarded-for': `10.${randomInt(256)}.${randomInt(256)}.${randomInt(256)}`,
  }));
  const compared = world.collections.map(async ({ address }) => {
    const collectionId = `${CHAIN}_${address}`;
    const readFrom = Date.now();
    const rows = await api.bids(collectionId);
    return compareBids({
      collectionId,
      rows,
      bids: bids.filter((bid) => bid.collectionId === collectionId),
      verdicts,
      topBids: [],
      isFor: () => false,
      readFrom,
      readTo: Date.now(),
    }).findings;
  });
  return (await Promise.all(compared)).flat();
}
