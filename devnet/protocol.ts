// Installs Seaport 1.6, its conduit controller, OpenSea's conduit and the wrapped native currency on a local chain, at their addresses on
// the real chain. Orders and signatures are then the same as on the real chain.

import type { Abi, Address, Hex } from 'viem';
import { domainSeparator, getContractAddress } from 'viem';
import { readConduitController, readContract, readSeaport } from './artifacts.ts';
import type { LocalChain } from './chain.ts';
import { callOf, deploy, readChain, transact } from './chain.ts';

export type Contract = { address: Address; abi: Abi };

export type Protocol = {
  seaport: Contract;
  conduitController: Contract;
  /** The conduit that most sellers approve. */
  conduit: { key: Hex; address: Address };
  wrapped: Contract;
};

// https://github.com/ProjectOpenSea/seaport#deployments
export const SEAPORT_ADDRESS = '0x0000000000000068f116a894984e2db1123eb395';
const CONDUIT_CONTROLLER_ADDRESS = '0x00000000f9490004c11cef243f5400493c00ad63';
/** The key of OpenSea's conduit, which is the same on every chain. */
export const CONDUIT_KEY = '0x0000007b02230091a7ed01230072f7006a004d60a8d4e71d599b8104250f0000';
export const CONDUIT_ADDRESS = '0x1e0049783f008a0085193e00003d00cd54003c71';
/** The hash of the creation code with which the real controller deploys conduits. The address of a conduit depends on this hash. */
const CONDUIT_CODE_HASH = '0x023d904f2503c37127200ca07b976c3a53cc562623f67023115bf311f5805059';
/** The addresses of the wrapped native currency, by chain id. */
const WRAPPED_ADDRESSES: Readonly<Record<number, Address>> = {
  1: '0xc02aaa39b223fe8d0a0e5c4f27ead9083c756cc2',
  137: '0x0d500b1d8e8ef31e21c99d1db9a6444d3adf1270',
  8453: '0x4200000000000000000000000000000000000006',
  57073: '0x4200000000000000000000000000000000000006',
  33139: '0x48b62137edfa95a428d35c09e44256a739f6b557',
  2741: '0x3439153eb7af838ad19d56e1571fbd09333c2809',
};
const WRAPPED_ADDRESS_DEFAULT = '0x00000000000000000000000000000000000e7e00';
/** The balance that the creator of the conduit gets for its gas, in wei. */
const CONDUIT_OWNER_BALANCE = '0xde0b6b3a7640000';
/** The chain id under which Seaport is deployed, before the chain gets its final chain id (see `installSeaport`). */
const SETUP_CHAIN_ID = 999_999;

/** Installs the contracts on an empty chain. */
export async function installProtocol(chain: LocalChain): Promise<Protocol> {
  // The accounts sign for the chain id with which anvil was started. While the chain has SETUP_CHAIN_ID, such signatures are not valid, so
  // transactions are sent by impersonation, which needs no signature.
  await chain.rpc.call('anvil_autoImpersonateAccount', true);
  await chain.rpc.call('anvil_setChainId', SETUP_CHAIN_ID);
  const { conduitController, conduitCodeHash } = await installConduitController(chain);
  const seaport = await installSeaport(chain, conduitController.address);
  await installConduit(chain, conduitController, conduitCodeHash);
  const wrapped = readContract('DevnetWrapped');
  const address = WRAPPED_ADDRESSES[chain.chainId] ?? WRAPPED_ADDRESS_DEFAULT;
  await chain.rpc.call('anvil_setCode', address, wrapped.deployedBytecode);
  await chain.rpc.call('anvil_setChainId', chain.chainId);
  await chain.rpc.call('anvil_autoImpersonateAccount', false);
  await checkDomain(chain, seaport);
  return {
    seaport,
    conduitController,
    conduit: { key: CONDUIT_KEY, address: CONDUIT_ADDRESS },
    wrapped: { address, abi: wrapped.abi },
  };
}

/**
 * Installs the packaged controller. In the controller's code, replaces the code hash of the packaged conduits with the code hash of the real
 * conduits. The two hashes differ, because the packages were compiled with other settings than the real contracts. The controller derives
 * the address of a conduit from the code hash.
 */
async function installConduitController(chain: LocalChain) {
  const artifact = readConduitController();
  const local = { address: await deploy(chain, artifact), abi: artifact.abi };
  const [conduitCodeHash] = (await readChain(chain, local, 'getConduitCodeHashes')) as readonly [Hex, Hex];
  const code = await chain.rpc.call<Hex>('eth_getCode', local.address, 'latest');
  const patched = code.replaceAll(conduitCodeHash.slice(2), CONDUIT_CODE_HASH.slice(2));
  if (patched === code)
    throw new Error('the code of the conduit controller does not contain the code hash of its conduits');
  await chain.rpc.call('anvil_setCode', CONDUIT_CONTROLLER_ADDRESS, patched);
  const conduitController: Contract = { address: CONDUIT_CONTROLLER_ADDRESS, abi: artifact.abi };
  return { conduitController, conduitCodeHash };
}

/**
 * Seaport's code contains the domain for the chain id and the address with which it was deployed. If the chain id has changed since then,
 * Seaport computes the domain from the present chain id and its present address. So Seaport is deployed under SETUP_CHAIN_ID and copied to
 * its real address. The caller then sets the final chain id.
 */
async function installSeaport(chain: LocalChain, controller: Address): Promise<Contract> {
  const artifact = readSeaport();
  const address = await deploy(chain, artifact, [controller]);
  await chain.rpc.call('anvil_setCode', SEAPORT_ADDRESS, await chain.rpc.call('eth_getCode', address, 'latest'));
  return { address: SEAPORT_ADDRESS, abi: artifact.abi };
}

/**
 * Creates the conduit. CONDUIT_KEY begins with the address of the only account that may create the conduit. Copies the conduit's code to the
 * address that the patched controller derives from CONDUIT_KEY.
 */
async function installConduit(chain: LocalChain, controller: Contract, codeHash: Hex): Promise<void> {
  const owner = CONDUIT_KEY.slice(0, 42) as Address;
  await chain.rpc.call('anvil_setBalance', owner, CONDUIT_OWNER_BALANCE);
  await transact(chain, [callOf(owner, controller, 'createConduit', [CONDUIT_KEY, owner])]);
  const from = controller.address;
  const createdAt = getContractAddress({ opcode: 'CREATE2', from, salt: CONDUIT_KEY, bytecodeHash: codeHash });
  await chain.rpc.call('anvil_setCode', CONDUIT_ADDRESS, await chain.rpc.call('eth_getCode', createdAt, 'latest'));
  await transact(chain, [callOf(owner, controller, 'updateChannel', [CONDUIT_ADDRESS, SEAPORT_ADDRESS, true])]);
}

async function checkDomain(chain: LocalChain, seaport: Contract): Promise<void> {
  const [version, separator] = (await readChain(chain, seaport, 'information')) as readonly [string, Hex];
  const { chainId } = chain;
  const expected = domainSeparator({
    domain: { name: 'Seaport', version, chainId, verifyingContract: seaport.address },
  });
  if (separator !== expected) throw new Error(`Seaport ${version} has a wrong domain separator on chain ${chainId}`);
}
