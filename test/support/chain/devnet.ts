// Small local chains for tests, and what OpenSea's own library needs to work on them.

import { Seaport } from '@opensea/seaport-js';
import { HDNodeWallet, JsonRpcProvider } from 'ethers';
import type { Address, Hex } from 'viem';
import type { LocalChain } from '../../../devnet/chain.ts';
import { MNEMONIC, readBlock } from '../../../devnet/chain.ts';
import type { Devnet, DevnetOptions } from '../../../devnet/devnet.ts';
import { createMovableClock, startDevnet } from '../../../devnet/devnet.ts';
import type { WorldSize } from '../../../devnet/world.ts';

/** Enough for every kind of action to be possible. */
const SMALL: WorldSize = { people: 5, collections: 2, tokens: 40, editions: 8 };
const POLLING_MS = 10;

export type TestDevnet = Devnet & ReturnType<typeof createMovableClock>;

/** Chains on a clock that the test can move on. */
export async function startTestDevnet(options: Partial<DevnetOptions> = {}): Promise<TestDevnet> {
  const time = createMovableClock();
  const devnet = await startDevnet({ networks: ['ethereum'], seed: 1, size: SMALL, clock: time.clock, ...options });
  return { ...devnet, ...time };
}

/** OpenSea's library as its users have it, for the account of that index. Its provider has to be ended. */
export function createSeaportJs(chain: LocalChain, index: number): { seaport: Seaport; address: Address; end(): void } {
  const provider = new JsonRpcProvider(chain.url, undefined, { cacheTimeout: -1, pollingInterval: POLLING_MS });
  const wallet = HDNodeWallet.fromPhrase(MNEMONIC, undefined, `m/44'/60'/0'/0/${index}`).connect(provider);
  // The library and this repository may be given ethers' types by different module systems.
  const seaport = new Seaport(wallet as unknown as ConstructorParameters<typeof Seaport>[0]);
  return { seaport, address: wallet.address.toLowerCase() as Address, end: () => provider.destroy() };
}

/** Hashes of all blocks, from the first to the newest. */
export async function readHashes(chain: LocalChain): Promise<Hex[]> {
  const height = Number((await readBlock(chain, 'latest')).number);
  const hashes: Hex[] = [];
  for (let at = 0; at <= height; at += 1) hashes.push((await readBlock(chain, at)).hash);
  return hashes;
}
