// Creates the initial state of a local chain: people with money, collections with tokens, and the approvals that listings need.

import type { Address, Hex } from 'viem';
import { parseEther, zeroHash } from 'viem';
import type { LocalAccount } from 'viem/accounts';
import type { TokenStandard } from '../src/platform/core/evm.ts';
import { readContract } from './artifacts.ts';
import type { Call, LocalChain } from './chain.ts';
import { callOf, deploy, transact } from './chain.ts';
import type { SeededRandom } from './random.ts';
import type { ChainState } from './chain-state.ts';
import { createChainState, move, operatorOf, setOperator } from './chain-state.ts';
import type { Share } from './orders.ts';
import { createPool, installOtherProtocols } from './other-protocols.ts';
import type { OtherProtocols } from './other-protocols.ts';
import type { Contract, Protocol } from './protocol.ts';
import { installProtocol } from './protocol.ts';

export type Person = {
  address: Address;
  account: LocalAccount;
  /** The key of the conduit that transfers this person's sold tokens. Zero if Seaport itself transfers them. */
  conduitKey: Hex;
};

export type LocalCollection = Contract & {
  name: string;
  standard: TokenStandard;
  royalty: Share;
  /** The number of initial token ids, from 1. */
  size: number;
};

export type World = {
  chain: LocalChain;
  protocol: Protocol;
  people: readonly Person[];
  /** Accounts for users who connect a wallet. They have money and tokens, and the simulation never acts for them. */
  visitors: readonly Address[];
  collections: readonly LocalCollection[];
  /** An ERC-20 that is not the wrapped native currency. */
  token: Contract;
  /** Further settlement protocols, with a pool for each ERC-721 collection. Null on a chain on which none of them is deployed. */
  others: (Omit<OtherProtocols, 'poolFactory'> & { pools: ReadonlyMap<Address, Contract> }) | null;
  /** The fee of orders for this marketplace, and of orders for other marketplaces. */
  fees: { own: Share; elsewhere: Share };
};

/** `visitors` is 0 by default. */
export type WorldSize = { people: number; visitors?: number; collections: number; tokens: number; editions: number };

export const WORLD_SIZE: WorldSize = { people: 8, visitors: 2, collections: 2, tokens: 120, editions: 24 };

/** The first accounts, which do not trade. */
const ROLES = ['deployer', 'platform fee', 'royalties'] as const;
/** The number of accounts that a world of this size needs. */
export function accountsOf({ people, visitors = 0 }: WorldSize): number {
  return ROLES.length + people + visitors;
}

/** The account that receives OpenSea's fee. A sale that pays this account is attributed to OpenSea. */
const OPENSEA_FEE_ADDRESS = '0x0000a26b00c1f0df003000390027140000faa719';
const OWN_FEE_BPS = 200;
const ELSEWHERE_FEE_BPS = 100;
const ROYALTIES_BPS = [500, 250, 750, 0];
const NAMES = ['Lantern Moths', 'Tidal Clocks', 'Paper Comets', 'Quiet Engines', 'Salt Gardens', 'Glass Orchards'];
const EDITIONS_NAME = 'Harbour Tickets';
const UNITS_EACH = 20n;
const VISITOR_TOKENS = 8;
const VISITOR_UNITS = 5n;
const SPENDING_MONEY = parseEther('100000');
const POOL_MONEY = parseEther('10000');
/** The chain that has the other settlement protocols. Each contract has the same address as on the real chain of this name. */
const CHAIN_OF_OTHERS = 'ethereum';
const UNLIMITED = 2n ** 256n - 1n;

export async function createWorld(
  chain: LocalChain,
  random: SeededRandom,
  size: WorldSize = WORLD_SIZE,
): Promise<{ world: World; state: ChainState }> {
  const protocol = await installProtocol(chain);
  const [, feeTo, royaltyTo] = chain.accounts.map(addressOf);
  if (feeTo === undefined || royaltyTo === undefined) throw new Error('a world needs more accounts');
  const people = chain.accounts.slice(ROLES.length, ROLES.length + size.people).map((account, index) => ({
    account,
    address: addressOf(account),
    conduitKey: index % 2 === 0 ? zeroHash : protocol.conduit.key,
  }));
  const visitors = chain.accounts.slice(ROLES.length + size.people).map(addressOf);
  const token = await deployContract(chain, 'DevnetWrapped');
  const collections: LocalCollection[] = [];
  for (let index = 0; index < size.collections; index += 1)
    collections.push(await deployCollection(chain, { index, size: size.tokens, royaltyTo }));
  if (size.editions > 0) collections.push(await deployEditions(chain, { size: size.editions, royaltyTo }));
  const fees = {
    own: { to: feeTo, bps: OWN_FEE_BPS },
    elsewhere: { to: OPENSEA_FEE_ADDRESS, bps: ELSEWHERE_FEE_BPS },
  } as const;
  const others = chain.id === CHAIN_OF_OTHERS ? await createOthers(chain, { collections, people }) : null;
  const world: World = { chain, protocol, people, visitors, collections, token, others, fees };
  const state = createChainState();
  await transact(chain, [
    ...people.flatMap((person) => fundingOf(world, person.address)),
    ...people.flatMap((person) => approvalsOf(world, state, person)),
    ...collections.flatMap((collection) => mintsOf(world, state, { collection, random })),
    ...visitors.flatMap((visitor) => fundingOf(world, visitor)),
    ...visitors.flatMap((visitor, index) => visitorMintsOf(world, state, { visitor, index })),
  ]);
  return { world, state };
}

export function addressOf({ address }: { address: Address }): Address {
  return address.toLowerCase() as Address;
}

async function deployContract(
  chain: LocalChain,
  name: Parameters<typeof readContract>[0],
  args: readonly unknown[] = [],
): Promise<Contract> {
  const artifact = readContract(name);
  return { address: await deploy(chain, artifact, args), abi: artifact.abi };
}

type CollectionOptions = { size: number; royaltyTo: Address };

async function deployCollection(
  chain: LocalChain,
  { index, size, royaltyTo }: CollectionOptions & { index: number },
): Promise<LocalCollection> {
  const bps = ROYALTIES_BPS[index % ROYALTIES_BPS.length] ?? 0;
  const name = NAMES[index] ?? `Collection ${index + 1}`;
  const args = [name, `DEV${index + 1}`, '', royaltyTo, bps];
  const contract = await deployContract(chain, 'DevnetCollection', args);
  return { ...contract, name, standard: 'erc721', royalty: { to: royaltyTo, bps }, size };
}

async function deployEditions(chain: LocalChain, { size, royaltyTo }: CollectionOptions): Promise<LocalCollection> {
  const bps = ROYALTIES_BPS[0] ?? 0;
  const contract = await deployContract(chain, 'DevnetEditions', [EDITIONS_NAME, '', royaltyTo, bps]);
  return { ...contract, name: EDITIONS_NAME, standard: 'erc1155', royalty: { to: royaltyTo, bps }, size };
}

/** The calls that give an account a balance in both ERC-20 currencies and approve Seaport and the conduit to spend it. */
function fundingOf({ protocol, token }: World, address: Address): Call[] {
  return [protocol.wrapped, token].flatMap((currency) => [
    callOf(address, currency, 'deposit', [], SPENDING_MONEY),
    ...[protocol.seaport.address, protocol.conduit.address].map((spender) =>
      callOf(address, currency, 'approve', [spender, UNLIMITED]),
    ),
  ]);
}

function approvalsOf({ collections, others }: World, state: ChainState, { address, conduitKey }: Person): Call[] {
  return collections.flatMap((collection) => {
    const pool = others?.pools.get(collection.address);
    const operators = [
      operatorOf(conduitKey),
      ...(others && pool ? [others.looksRare.address, others.blur.address, pool.address] : []),
    ];
    return operators.map((operator) => {
      setOperator(state, { contract: collection.address, owner: address, operator }, true);
      return callOf(address, collection, 'setApprovalForAll', [operator, true]);
    });
  });
}

async function createOthers(
  chain: LocalChain,
  { collections, people }: Pick<World, 'collections' | 'people'>,
): Promise<World['others']> {
  const { poolFactory, ...others } = await installOtherProtocols(chain);
  // The address of a contract depends on how many transactions its creator has sent before. A person creates the pools, so that the contracts
  // of the account `deployer` have the same addresses with and without pools.
  const from = people.at(-1)?.address;
  const pools = new Map<Address, Contract>();
  for (const { address, standard } of collections) {
    if (standard !== 'erc721' || !from) continue;
    pools.set(address, await createPool(chain, poolFactory, { from, collection: address, value: POOL_MONEY }));
  }
  return { ...others, pools };
}

/**
 * Returns the calls that mint the tokens. Each owner gets runs of consecutive ERC-721 tokens. About half of the people get units of each
 * ERC-1155 token.
 */
function mintsOf(
  { people }: World,
  state: ChainState,
  { collection, random }: { collection: LocalCollection; random: SeededRandom },
): Call[] {
  const { address: contract, standard, size } = collection;
  const mint = (person: Person | undefined, tokenId: number, units: bigint) => {
    if (person) move(state, { contract, standard, tokenId: BigInt(tokenId), units }, null, person.address);
  };
  if (standard === 'erc1155') {
    return random.shuffle(people).flatMap((person) => {
      const ids = Array.from({ length: size }, (_, index) => index + 1).filter(() => random.happens(0.5));
      for (const id of ids) mint(person, id, UNITS_EACH);
      const units = ids.map(() => UNITS_EACH);
      return callOf(person.address, collection, 'mintBatch', [person.address, ids.map(BigInt), units]);
    });
  }
  const calls: Call[] = [];
  for (let first = 1; first <= size;) {
    const person = random.pick(people);
    const count = Math.min(size - first + 1, 2 + random.below(6));
    for (let id = first; id < first + count; id += 1) mint(person, id, 1n);
    if (person)
      calls.push(callOf(person.address, collection, 'mintBatch', [person.address, BigInt(first), BigInt(count)]));
    first += count;
  }
  return calls;
}

/** The calls that mint the tokens of a visitor: ERC-721 tokens above the initial ids, and units of the first ERC-1155 tokens. */
function visitorMintsOf(
  { collections }: World,
  state: ChainState,
  { visitor, index }: { visitor: Address; index: number },
): Call[] {
  return collections.flatMap((collection) => {
    const { address: contract, standard, size } = collection;
    const isSingle = standard === 'erc721';
    const first = isSingle ? size + index * VISITOR_TOKENS + 1 : 1;
    const ids = Array.from({ length: VISITOR_TOKENS }, (_, offset) => BigInt(first + offset));
    const units = isSingle ? 1n : VISITOR_UNITS;
    for (const tokenId of ids) move(state, { contract, standard, tokenId, units }, null, visitor);
    const args = isSingle ? [visitor, BigInt(first), BigInt(ids.length)] : [visitor, ids, ids.map(() => units)];
    return callOf(visitor, collection, 'mintBatch', args);
  });
}
