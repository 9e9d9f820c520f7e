// Starts and stops local chains with their contracts and accounts, and starts simulations on them.

import { createChains } from '../src/platform/core/chains.ts';
import type { Clock } from '../src/platform/core/clock.ts';
import { systemClock } from '../src/platform/core/clock.ts';
import { signFirstListings } from './listings.ts';
import { startChain, toSeconds } from './chain.ts';
import { createRandom } from './random.ts';
import type { ChainState, Listing } from './chain-state.ts';
import type { Simulation, Marketplace } from './simulation.ts';
import { createSimulation } from './simulation.ts';
import type { World, WorldSize } from './world.ts';
import { WORLD_SIZE, accountsOf, createWorld } from './world.ts';

/**
 * The chain ids of the networks that a local chain can imitate, by chain name, such as `ethereum`. These networks are the built-in chains of
 * the service that have a chain id.
 */
export const NETWORKS: ReadonlyMap<string, number> = new Map(
  [...createChains().values()].flatMap(({ id, chainId }) => (chainId === null ? [] : [[id, chainId]])),
);

export type LocalNetwork = { world: World; state: ChainState };

export type Devnet = {
  networks: readonly LocalNetwork[];
  stop(): Promise<void>;
};

export type DevnetOptions = { networks: readonly string[]; seed: number; clock?: Clock; size?: WorldSize };

export async function startDevnet(options: DevnetOptions): Promise<Devnet> {
  const { size = WORLD_SIZE, clock = systemClock, seed } = options;
  const starting = options.networks.map((id) => {
    const chainId = NETWORKS.get(id);
    if (chainId === undefined) throw new TypeError(`no network ${id}`);
    return startChain({ id, chainId, accounts: accountsOf(size), clock });
  });
  const stop = async () => {
    const started = await Promise.allSettled(starting);
    const chains = started.flatMap((result) => (result.status === 'fulfilled' ? result.value : []));
    await Promise.all(chains.map((chain) => chain.stop()));
  };
  try {
    const chains = await Promise.all(starting);
    const worlds = chains.map((chain) => createWorld(chain, createRandom(seed + chain.chainId), size));
    return { networks: await Promise.all(worlds), stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Creates a simulation. Signs about `orders` listings and returns them as `book`, which the caller must post before the first step. */
export async function startSimulation(
  { world, state }: LocalNetwork,
  options: {
    seed: number;
    orders: number;
    marketplace: Marketplace;
    skip?: (ms: number) => void;
    reorgShare?: number;
    reorgDepthMax?: number;
  },
): Promise<{ simulation: Simulation; book: readonly Listing[] }> {
  const random = createRandom(options.seed * 31 + world.chain.chainId);
  const now = toSeconds(world.chain.clock());
  const book = await signFirstListings({ world, state, random, now }, options.orders);
  return { simulation: await createSimulation({ ...options, world, state, random }), book };
}

/** A clock that can be moved forward. */
export function createMovableClock(base: Clock = systemClock): { clock: Clock; skip: (ms: number) => void } {
  let ahead = 0;
  return {
    clock: () => base() + ahead,
    skip: (ms) => {
      ahead += ms;
    },
  };
}
