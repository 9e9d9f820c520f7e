// Local chains with everything that life on them needs, started together and ended together.

import { createChains } from '../src/core/chains.ts';
import type { Clock } from '../src/core/clock.ts';
import { systemClock } from '../src/core/clock.ts';
import { signBook } from './book.ts';
import { startChain, toSeconds } from './chain.ts';
import { createRandom } from './chance.ts';
import type { Ledger, Listing } from './ledger.ts';
import type { Life, Marketplace } from './life.ts';
import { createLife } from './life.ts';
import type { World, WorldSize } from './world.ts';
import { WORLD_SIZE, accountsOf, createWorld } from './world.ts';

/** Networks that the local chains can stand for, with the chain id of each: the published chains that have one. */
export const NETWORKS: ReadonlyMap<string, number> = new Map(
  [...createChains().values()].flatMap(({ id, chainId }) => (chainId === null ? [] : [[id, chainId]])),
);

export type LocalNetwork = { world: World; ledger: Ledger };

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

/** Signs a book of about `orders` listings, to be posted to the life that begins here. */
export async function startLife(
  { world, ledger }: LocalNetwork,
  options: {
    seed: number;
    orders: number;
    marketplace: Marketplace;
    skip?: (ms: number) => void;
    reorgShare?: number;
  },
): Promise<{ life: Life; book: readonly Listing[] }> {
  const chance = createRandom(options.seed * 31 + world.chain.chainId);
  const now = toSeconds(world.chain.clock());
  const book = await signBook({ world, ledger, chance, now }, options.orders);
  return { life: await createLife({ ...options, world, ledger, chance }), book };
}

/** A clock that can be moved on, for all who are given it. */
export function createMovableClock(base: Clock = systemClock): { clock: Clock; skip: (ms: number) => void } {
  let ahead = 0;
  return {
    clock: () => base() + ahead,
    skip: (ms) => {
      ahead += ms;
    },
  };
}
