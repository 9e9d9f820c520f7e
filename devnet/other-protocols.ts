// On a local chain, installs contracts that emit the events of LooksRare, Blur and Sudoswap. Each contract has the address that its
// protocol has on Ethereum.

import type { Address } from 'viem';
import { parseEventLogs } from 'viem';
import { readContract } from './artifacts.ts';
import type { LocalChain } from './chain.ts';
import { callOf, transact } from './chain.ts';
import type { Contract } from './protocol.ts';

/** `poolFactory` makes the pools of Sudoswap's second version. */
export type OtherProtocols = { looksRare: Contract; blur: Contract; poolFactory: Contract };

const LOOKSRARE = '0x0000000000e655fae4d56241588680f86e3b2377';
const BLUR = '0xb2ecfe4e4d61f8790bbb9de2d1259b9e2410cea5';
const POOL_FACTORY = '0xa020d57ab0448ef74115c112d18a9c231cc86000';
/** The pools that the factory makes are proxies of the contract at this address, which DevnetPoolFactory.sol states too. */
const POOL_TEMPLATE = '0x000000000000000000000000000000000000e721';

export async function installOtherProtocols(chain: LocalChain): Promise<OtherProtocols> {
  const install = async (address: Address, name: Parameters<typeof readContract>[0]): Promise<Contract> => {
    const { abi, deployedBytecode } = readContract(name);
    await chain.rpc.call('anvil_setCode', address, deployedBytecode);
    return { address, abi };
  };
  await install(POOL_TEMPLATE, 'DevnetPool');
  return {
    looksRare: await install(LOOKSRARE, 'DevnetLooksRare'),
    blur: await install(BLUR, 'DevnetBlur'),
    poolFactory: await install(POOL_FACTORY, 'DevnetPoolFactory'),
  };
}

/** Makes a pool that buys and sells the tokens of a collection. `from` gives the pool `value` wei, with which the pool pays. */
export async function createPool(
  chain: LocalChain,
  poolFactory: Contract,
  { from, collection, value }: { from: Address; collection: Address; value: bigint },
): Promise<Contract> {
  const [receipt] = await transact(chain, [callOf(from, poolFactory, 'createPairERC721ETH', [collection], value)]);
  const logs = parseEventLogs({ abi: poolFactory.abi, logs: (receipt?.logs ?? []) as never }) as unknown;
  const [created] = logs as readonly { args: { poolAddress: Address } }[];
  if (!created) throw new Error('the factory has made no pool');
  return { address: created.args.poolAddress.toLowerCase() as Address, abi: readContract('DevnetPool').abi };
}
