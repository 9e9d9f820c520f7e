// Starts small local chains for tests, and OpenSea's own library with an account on such a chain.

import { Seaport } from '@opensea/seaport-js';
import { HDNodeWallet, JsonRpcProvider } from 'ethers';
import type { Address, Hex } from 'viem';
import type { LocalChain } from '../../../devnet/chain.ts';
import { MNEMONIC, readBlock } from '../../../devnet/chain.ts';
import type { Devnet, DevnetOptions } from '../../../devnet/devnet.ts';
import { createMovableClock, startDevnet } from '../../../devnet/devnet.ts';
import type { WorldSize } from '../../../devnet/world.ts';

/** A world that is large enough for every kind of action of the local chains. */
const SMALL: WorldSize = { people: 5, collections: 2, tokens: 40, editions: 8 };
const POLLING_MS = 10;

export type TestDevnet = Devnet & ReturnType<typeof createMovableClock>;

export async function startTestDevnet(options: Partial<DevnetOptions> = {}): Promise<TestDevnet> {
  const time = createMovableClock();
  const devnet = await startDevnet({ networks: ['ethereum'], seed: 1, size: SMALL, clock: time.clock, ...options });
  return { ...devnet, ...time };
}

/** Sets up OpenSea's library as its users do. The library signs as the account number `index` of the chain. Call `end` when the test is done. */
export function createSeaportJs(chain: LocalChain, index: number): { seaport: Seaport; address: Address; end(): void } {
  const provider = new JsonRpcProvider(chain.url, undefined, { cacheTimeout: -1, pollingInterval: POLLING_MS });
  const wallet = HDNodeWallet.fromPhrase(MNEMONIC, undefined, `m/44'/60'/0'/0/${index}`).connect(provider);
  // The library may use the types of ethers' CommonJS build, while this file uses the types of its ESM build.
  const seaport = new Seaport(wallet as unknown as ConstructorParameters<typeof Seaport>[0]);
  return { seaport, address: wallet.address.toLowerCase() as Address, end: () => provider.destroy() };
}

/** The hashes of all blocks, from the first block to the newest. */
export async function readHashes(chain: LocalChain): Promise<Hex[]> {
  const height = Number((await readBlock(chain, 'latest')).number);
  const hashes: Hex[] = [];
  for (let number = 0; number <= height; number += 1) hashes.push((await readBlock(chain, number)).hash);
  return hashes;
}
