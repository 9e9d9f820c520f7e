// Runs a simulation on a local chain. When a test calls `settle`, the chain is followed into a database until no work is left. The orders
// of the simulation are stored directly, without the checks of the intake. Its bids are submitted to the intake.

import { toContext } from '../../support/service/intake.ts';
import { zeroAddress } from 'viem';
import type { Database } from '../../../src/platform/database/port.ts';
import { upsertFollow } from '../../../src/market/follows/queries/follows.ts';
import { copyCatalog } from '../../../src/market/index/catalog.ts';
import { lockChainsAndBooks } from '../../../src/market/orders/book.ts';
import { evaluateOrders } from '../../../src/market/orders/evaluate.ts';
import { refreshBookAssets } from '../../../src/market/orders/queries/book-figures.ts';
import { OrderRejected } from '../../../src/market/orders/rejection.ts';
import { submitOrder } from '../../../src/market/orders/submit.ts';
import { insertSignedOrder } from '../../../src/market/orders/queries/stored-orders.ts';
import { draftListing, heldTokens, signFirstListings, signListings } from '../../../devnet/listings.ts';
import { callOf, readChain, startChain, toSeconds, transact } from '../../../devnet/chain.ts';
import { createRandom } from '../../../devnet/random.ts';
import type { Bid, ChainState, Listing } from '../../../devnet/chain-state.ts';
import { operatorOf } from '../../../devnet/chain-state.ts';
import type { Simulation } from '../../../devnet/simulation.ts';
import { createSimulation } from '../../../devnet/simulation.ts';
import { toCriteria } from '../../../devnet/intake-client.ts';
import { totalOf, toWireComponents } from '../../../devnet/orders.ts';
import type { World, WorldSize } from '../../../devnet/world.ts';
import { accountsOf, createWorld } from '../../../devnet/world.ts';
import type { Address, AssetId } from '../../../src/platform/core/address.ts';
import { createChains } from '../../../src/platform/core/chains.ts';
import { createLog } from '../../../src/platform/core/log.ts';
import { FollowedChains } from '../../../src/sources/chains/followed-chains.ts';
import { backfillOnce } from '../../../src/sources/chains/backfill.ts';
import { followOnce } from '../../../src/sources/chains/follower.ts';
import { projectNext } from '../../../src/sources/chains/projection.ts';
import { sweepExpired } from '../../../src/service/workers/expiry.ts';
import type { FollowOperations } from '../../../src/service/workers/follow-operations.ts';

export type FollowedLife = {
  simulation: Simulation;
  /** The context that operations of the service receive. */
  operations: FollowOperations;
  /** Runs the follower, the backfill and the projection until no work is left. Then runs the sweep and the copy of the catalog. */
  settle(): Promise<void>;
  stop(): Promise<void>;
};

const SIZE: WorldSize = { people: 5, collections: 1, tokens: 30, editions: 6 };
const BOOK_SIZE = 40;
const STEPS_MAX = 2_000;

/**
 * Starts a local chain that the service takes for Ethereum. The collections of the chain are followed from block 0, in the database
 * that `open` returns.
 */
export async function startFollowedLife(open: () => Promise<Database>, seed: number): Promise<FollowedLife> {
  let skippedMs = 0;
  const clock = () => Date.now() + skippedMs;
  const chain = await startChain({ id: 'ethereum', chainId: 1, accounts: accountsOf(SIZE), clock });
  try {
    const main = await open();
    const seeded = createRandom(seed);
    const { world, state } = await createWorld(chain, seeded, SIZE);
    const chains = createChains();
    const ethereum = chains.get(chain.id);
    if (!ethereum) throw new Error('there is no Ethereum');
    const log = createLog('silent');
    const random = () => seeded.below(1_000) / 1_000;
    const config = {
      rpcUrls: new Map([[chain.id, [chain.url]]]),
      comparedReads: 'all' as const,
      frozenChains: new Set<string>(),
      extraSeaport: new Map(),
    };
    const followedChains = new FollowedChains({ config, chains, log, clock, random });
    const reader = followedChains.readerOf(chain.id);
    if (!reader) throw new Error('the chain is not followed');
    const protocols = followedChains.protocolsOf(chain.id);
    const context = toContext(main, { clock, log, random });
    const operations: FollowOperations = {
      ...context,
      followed: followedChains,
      onFollowed: async () => undefined,
    };
    const projection = { ...operations, chain: ethereum };
    const settle = async () => {
      for (let steps = 0; steps < STEPS_MAX; steps += 1) {
        const head = await followOnce({ main, reader, protocols, clock, log });
        const past = await backfillOnce({ main, reader, protocols, clock, log });
        const projected = await projectNext(projection);
        if (head.more || past.more || projected !== null) continue;
        await sweepExpired(operations);
        await copyCatalog(operations, { timeoutMs: 30_000, batchesMax: 100 });
        return;
      }
      throw new Error(`the follower still has work after ${STEPS_MAX} steps`);
    };
    for (const { address, standard } of world.collections) {
      const contractAddress = address as Address;
      await upsertFollow(main, {
        collectionId: `${chain.id}_${address}`,
        chain: chain.id,
        contractAddress,
        standard,
        fromBlock: 0,
        names: new Map(),
        createdAt: clock(),
      });
    }
    await settle();
    await raiseCounter(world, state);
    let orders = 0;
    const marketplace = {
      postOrder: async ({ listing }: { listing: Listing }) => {
        orders += 1;
        await insertListing(main, chain.id, { listing, id: String(orders), now: clock() });
        return null;
      },
      postBid: async ({ bid: { components, signature, wanted } }: { bid: Bid }) => {
        const order = { parameters: toWireComponents(components), signature };
        const submission = { chain: ethereum, protocolAddress: null, order, ...toCriteria(wanted) };
        try {
          await submitOrder({ ...context, checksOf: () => reader.contracts }, submission);
          return null;
        } catch (error) {
          if (error instanceof OrderRejected) return error.code;
          throw error;
        }
      },
    };
    const skip = (ms: number) => {
      skippedMs += ms;
    };
    const simulation = await createSimulation({ world, state, random: seeded, marketplace, skip, reorgShare: 0.05 });
    const signing = { world, state: simulation.state(), random: seeded, now: toSeconds(clock()) };
    await simulation.post(await signFirstListings(signing, BOOK_SIZE));
    const [held] = heldTokens(signing);
    if (held)
      await simulation.post(
        await signListings(signing, [draftListing(signing, held.person, held.token, signing.now - 1)]),
      );
    return { simulation, operations, settle, stop: chain.stop };
  } catch (error) {
    await chain.stop();
    throw error;
  }
}

/** Raises the counter of one person. The simulation chooses its actions at random, and raises no counter with some seeds. */
async function raiseCounter({ chain, people, protocol }: World, state: ChainState): Promise<void> {
  const [person] = people;
  if (!person) throw new Error('there are no people');
  const [receipt] = await transact(chain, [callOf(person.address, protocol.seaport, 'incrementCounter')]);
  const value = (await readChain(chain, protocol.seaport, 'getCounter', [person.address])) as bigint;
  state.counters.set(person.address, { value, block: Number(receipt?.blockNumber) });
}

async function insertListing(
  main: Database,
  chain: string,
  { listing, id, now }: { listing: Listing; id: string; now: number },
): Promise<void> {
  const { components, hash, signature, tokens } = listing;
  const [token] = tokens;
  if (!token) throw new Error('the listing offers no token');
  const collectionId = `${chain}_${token.contract}`;
  const orderId = `${collectionId}_${token.tokenId}_${id}`;
  await main.transaction(async (tx) => {
    await lockChainsAndBooks(tx, [{ chain, collectionId }]);
    await insertSignedOrder(
      tx,
      {
        orderId,
        collectionId,
        chain,
        contractAddress: token.contract as Address,
        side: 'ask',
        asset: token.tokenId.toString() as AssetId,
        proceeds: null,
        root: null,
        currency: null,
        raw: totalOf(components) / token.units,
        seller: components.offerer as Address,
        createdAt: now,
        startsAt: Number(components.startTime) * 1_000,
        expiresAt: Number(components.endTime) * 1_000,
        seaport: { parameters: { zone: zeroAddress }, signature },
        orderHash: hash,
        protocolAddress: '0x0000000000000068f116a894984e2db1123eb395' as Address,
        orderType: components.orderType,
        standard: token.standard,
        quantity: token.units,
        buyerTotalRaw: totalOf(components) / token.units,
        counter: components.counter,
        operator: operatorOf(components.conduitKey) as Address,
      },
      now,
    );
    await evaluateOrders(tx, [orderId], now);
    await refreshBookAssets(tx, [{ collectionId, asset: token.tokenId.toString() }], now);
  });
}
