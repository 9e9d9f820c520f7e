// Creates a collection and three accounts on a local chain, and a follower of this chain. No task runs the follower: a test runs it
// with `settle`.

import type { Address } from '../../../src/platform/core/address.ts';
import { createChains } from '../../../src/platform/core/chains.ts';
import { upsertFollow } from '../../../src/market/follows/queries/follows.ts';
import type { Database } from '../../../src/platform/database/port.ts';
import { createLog } from '../../../src/platform/core/log.ts';
import type { ChainReader } from '../../../src/sources/chains/rpc/chain-reader.ts';
import { backfillOnce } from '../../../src/sources/chains/backfill.ts';
import type { FollowContext } from '../../../src/sources/chains/follower.ts';
import { followOnce } from '../../../src/sources/chains/follower.ts';
import { listProtocolContracts } from '../../../src/sources/chains/protocols/registry.ts';
import { rereadOnce } from '../../../src/sources/chains/reread.ts';
import type { ProjectionContext } from '../../../src/sources/chains/projection.ts';
import { projectNext } from '../../../src/sources/chains/projection.ts';
import { readContract } from '../../../devnet/artifacts.ts';
import type { Call, LocalChain, Receipt } from '../../../devnet/chain.ts';
import { callOf, deploy, startChain, transact } from '../../../devnet/chain.ts';
import type { SeaportOrder } from '../../../client/src/seaport.ts';
import type { SignedOrder } from '../../../devnet/orders.ts';
import { buildAsk, signOrder, toOrder, totalOf } from '../../../devnet/orders.ts';
import type { Contract, Protocol } from '../../../devnet/protocol.ts';
import { installProtocol } from '../../../devnet/protocol.ts';
import type { Hex } from '../../../src/platform/core/evm.ts';
import { ZERO_HASH } from '../../../src/platform/core/evm.ts';
import { createTestReader } from './reader.ts';

const STEPS_MAX = 2_000;

export type LocalWorld = {
  chain: LocalChain;
  protocol: Protocol;
  nft: Contract;
  /** The addresses of accounts 1 to 3 of the chain. */
  people: readonly [Hex, Hex, Hex];
  act(...calls: Call[]): Promise<Receipt[]>;
  mint(to: Hex, ...ids: bigint[]): Promise<void>;
  approve(owner: Hex, approved?: boolean): Promise<void>;
  /** Signs an ask for one token in the native currency. `person` is an index of `people`. */
  sign(
    person: number,
    terms: { tokenId: bigint; price: bigint; endsInS?: number; counter?: bigint },
  ): Promise<SignedOrder>;
  fillCall(order: SignedOrder, buyer: Hex): Call;
  cancelCall(order: SignedOrder): Call;
};

export async function startLocalWorld(id = 'ethereum'): Promise<LocalWorld> {
  const chainId = createChains().get(id)?.chainId ?? 1;
  const chain = await startChain({ id, chainId, accounts: 6, clock: () => Date.now() });
  const protocol = await installProtocol(chain);
  const artifact = readContract('DevnetCollection');
  const people = chain.accounts.slice(1, 4).map(({ address }) => address.toLowerCase() as Hex);
  const [first, second, third] = people;
  if (!first || !second || !third) throw new Error('the local chain has fewer than four accounts');
  const nft = { address: await deploy(chain, artifact, ['Lamps', 'LAMP', '', first, 500]), abi: artifact.abi };
  const { seaport } = protocol;
  let salt = 0n;
  return {
    chain,
    protocol,
    nft,
    people: [first, second, third],
    act: (...calls) => transact(chain, calls),
    mint: async (to, ...ids) => {
      await transact(
        chain,
        ids.map((tokenId) => callOf(to, nft, 'mint', [to, tokenId])),
      );
    },
    approve: async (owner, approved = true) => {
      await transact(chain, [callOf(owner, nft, 'setApprovalForAll', [seaport.address, approved])]);
    },
    sign: (person, { tokenId, price, endsInS = 86_400, counter = 0n }) => {
      const account = chain.accounts[person + 1];
      if (!account) throw new Error(`there is no person ${person}`);
      salt += 1n;
      const now = Math.floor(Date.now() / 1000);
      const components = buildAsk({
        offerer: account.address.toLowerCase() as Hex,
        price,
        currency: null,
        shares: [],
        conduitKey: ZERO_HASH,
        startTime: now - 60,
        endTime: now + endsInS,
        salt,
        counter,
        tokens: [{ contract: nft.address, standard: 'erc721', tokenId, units: 1n }],
      });
      return signOrder(account, chain.chainId, components);
    },
    fillCall: (order, buyer) =>
      callOf(buyer, seaport, 'fulfillOrder', [toOrder(order), ZERO_HASH], totalOf(order.components)),
    cancelCall: ({ components }) => callOf(components.offerer, seaport, 'cancel', [[components]]),
  };
}

export type Following = {
  reader: ChainReader;
  context: FollowContext;
  projection: ProjectionContext;
  /** Runs the follower, the backfill, the reads of stored blocks and the projection until no work is left. */
  settle(): Promise<void>;
};

export function followWorld(
  { main, indexer }: { main: Database; indexer: Database },
  world: LocalWorld,
  options: { urls?: readonly string[]; clock?: () => number } = {},
): Following {
  const { chain } = world;
  const chains = createChains();
  const known = chains.get(chain.id);
  if (!known) throw new Error(`${chain.id} is not a chain`);
  const log = createLog('silent');
  const clock = options.clock ?? (() => Date.now());
  const reader = createTestReader({ chain: known, urls: options.urls ?? [chain.url], clock });
  const context: FollowContext = { main, reader, protocols: listProtocolContracts(known, new Map()), clock, log };
  const projection: ProjectionContext = {
    main,
    indexer,
    chain: known,
    chains,
    serviceName: 'mercat',
    clock,
  };
  return {
    reader,
    context,
    projection,
    settle: async () => {
      for (let steps = 0; steps < STEPS_MAX; steps += 1) {
        const head = await followOnce(context);
        const past = await backfillOnce(context);
        const again = await rereadOnce(context);
        const projected = await projectNext(projection);
        if (!head.more && !past.more && !again.more && projected === null) return;
      }
      throw new Error(`the follower still had work after ${STEPS_MAX} steps`);
    },
  };
}

/** Records that a contract is followed from `fromBlock`, as `collections add` does. Does not read the chain first. */
export async function follow(
  main: Database,
  world: LocalWorld,
  contract: Contract = world.nft,
  fromBlock = 0,
): Promise<void> {
  const contractAddress = contract.address as Address;
  await upsertFollow(main, {
    collectionId: `${world.chain.id}_${contractAddress}`,
    chain: world.chain.id,
    contractAddress,
    standard: 'erc721',
    fromBlock,
    names: new Map(),
    createdAt: Date.now(),
  });
}

/** Inserts a signed order into the order book without checking it. Returns the id of the order. */
export async function insertOrder(
  main: Database,
  world: LocalWorld,
  order: SignedOrder,
  now = Date.now(),
): Promise<string> {
  const { components, hash } = order;
  const { token, identifierOrCriteria } = components.offer[0] as SeaportOrder['offer'][number];
  const collectionId = `${world.chain.id}_${token}`;
  const id = `${collectionId}_${identifierOrCriteria}_${hash.slice(2, 14)}`;
  await main.query(
    `insert into main.book_order (id, collection_id, chain, contract_address, token_id, price_raw, seller, status, created_at,
       expires_at, order_hash, protocol_address, order_type, standard, counter, starts_at, operator)
     values ($1, $2, $3, $4, $5, $6, $7, 'active', $8, $9, $10, $11, $12, 'erc721', $13, $14, $11)`,
    [
      id,
      collectionId,
      world.chain.id,
      token,
      identifierOrCriteria.toString(),
      totalOf(components).toString(),
      components.offerer,
      new Date(now),
      new Date(Number(components.endTime) * 1000),
      hash,
      world.protocol.seaport.address,
      components.orderType,
      components.counter.toString(),
      new Date(Number(components.startTime) * 1000),
    ],
  );
  return id;
}
