// Simulates people who trade on a local chain. Each step is drawn from a seed: one or more trades and other actions, a jump of the clock, or a
// reorganisation. A reorganisation restores the recorded state from before the orphaned blocks. A failed transaction is a bug of the
// simulation, and ends the simulation.

import type { Address, Hex } from 'viem';
import { encodeFunctionData, toEventSelector } from 'viem';
import type { Receipt } from './chain.ts';
import { mine, mineAlone, readChain, readHeight, rollBack, toSeconds, transact } from './chain.ts';
import {
  approveAgain,
  approveOne,
  burn,
  cancel,
  incrementCounter,
  list,
  listBriefly,
  mint,
  revokeApproval,
  transferAway,
  transferBack,
  validate,
} from './changes.ts';
import { bid, cancelBids, lowerAllowance, lowerBalance, raiseAllowance, raiseBalance, sellToBid } from './bids.ts';
import type { SeededRandom } from './random.ts';
import type { Bid, ChainState, Listing } from './chain-state.ts';
import { copyChainState, isAcceptable, isFillable, isOpen } from './chain-state.ts';
import type { SignedOrder } from './orders.ts';
import { buyAtBlur, buyAtLooksRare, buyFromPool, sellToPool } from './other-trades.ts';
import type { Plan, Planner, PlanContext } from './trades.ts';
import {
  acceptBid,
  buyBundle,
  buyForToken,
  fulfilBasicOrder,
  fulfilForAnother,
  fulfilOrder,
  fulfilPart,
  matchOrders,
  sweep,
} from './trades.ts';
import { recordEvents } from './wallet-transactions.ts';
import type { World } from './world.ts';

/** The marketplace to which listings and bids are posted. Both functions return null if the order is accepted, otherwise the reason of the rejection. */
export type Marketplace = {
  postOrder(order: { chain: string; listing: Listing }): Promise<string | null>;
  postBid(order: { chain: string; bid: Bid }): Promise<string | null>;
};

/** What a step did. `txs` is empty if the step sent no transaction. `orphaned` becomes true if `block` is orphaned later. */
export type Step = { chain: string; what: string; block: number; txs: readonly Hex[]; orphaned: boolean };

export type SimulationOptions = {
  world: World;
  state: ChainState;
  random: SeededRandom;
  marketplace: Marketplace;
  /** Moves the shared clock forward. If absent, listings expire only in real time. */
  skip?: (ms: number) => void;
  /** The share of the steps that are reorganisations. Default: REORG_SHARE. */
  reorgShare?: number;
  /** The deepest reorganisation. Default: REORG_DEPTH_MAX. */
  reorgDepthMax?: number;
};

const ACTIONS: readonly (readonly [planner: Planner, weight: number])[] = [
  [fulfilOrder, 14],
  [fulfilBasicOrder, 8],
  [fulfilForAnother, 3],
  [fulfilPart, 6],
  [sweep, 6],
  [matchOrders, 4],
  [buyBundle, 3],
  [buyForToken, 2],
  [acceptBid, 7],
  [buyAtLooksRare, 3],
  [buyAtBlur, 3],
  [sellToPool, 3],
  [buyFromPool, 2],
  [cancel, 5],
  [incrementCounter, 1],
  [validate, 1],
  [transferAway, 5],
  [transferBack, 4],
  [revokeApproval, 2],
  [approveAgain, 3],
  [approveOne, 3],
  [burn, 2],
  [mint, 5],
  [list, 16],
  [listBriefly, 4],
  [bid, 10],
  [sellToBid, 8],
  [cancelBids, 2],
  [lowerBalance, 3],
  [raiseBalance, 3],
  [lowerAllowance, 2],
  [raiseAllowance, 3],
];
const WEIGHT = ACTIONS.reduce((sum, [, weight]) => sum + weight, 0);
/** The simulation fails after this many successive draws of impossible actions. */
const DRAWS_MAX = 200;
const REORG_SHARE = 0.02;
const REORG_DEPTH_MAX = 20;
const SHALLOW_SHARE = 0.6;
const SHALLOW_DEPTH = 3;
const BUSY_SHARE = 0.2;
const BUSY_ACTIONS_MAX = 4;
const SKIP_SHARE = 0.02;
const SKIP_S_MAX = 300;
/** Actions are planned for the current time plus this margin, because their block may be mined some seconds later. */
const MINING_MARGIN_S = 5;
const STEPS_KEPT = 20_000;
const PRUNE_PERIOD = 200;
const FILLED_EVENT = toEventSelector(
  'OrderFulfilled(bytes32,address,address,address,(uint8,address,uint256,uint256)[],(uint8,address,uint256,uint256,address)[])',
);

/**
 * Creates a simulation on a chain whose world was just created. Afterwards, only the simulation may change the chain. Transactions of
 * wallets must go through `include`.
 */
export async function createSimulation(options: SimulationOptions): Promise<Simulation> {
  await readFunds(options.world, options.state);
  return new Simulation(options, await readHeight(options.world.chain));
}

export class Simulation {
  readonly world: World;
  /** The newest STEPS_KEPT steps, newest last. Steps in orphaned blocks are kept, and their `orphaned` is true. */
  readonly steps: Step[] = [];
  /** All listings that the marketplace accepted, including ended listings. */
  readonly accepted: Listing[] = [];
  /** All bids that the marketplace accepted, including ended bids. */
  readonly acceptedBids: Bid[] = [];
  readonly rejected: { listing: SignedOrder; reason: string }[] = [];
  readonly #options: SimulationOptions;
  readonly #reorgDepthMax: number;
  #listings: Listing[] = [];
  #bids: Bid[] = [];
  /** The orders that are signed and not yet posted. */
  readonly #signed: Listing[] = [];
  readonly #signedBids: Bid[] = [];
  #state: ChainState;
  #height: number;
  /** The state after each of the newest blocks. */
  readonly #stateAt: Map<number, ChainState>;
  /** Resolves when the newest requested change of the chain has ended. Changes are made one after the other. */
  #last: Promise<unknown> = Promise.resolve();

  constructor(options: SimulationOptions, height: number) {
    this.world = options.world;
    this.#options = options;
    this.#reorgDepthMax = options.reorgDepthMax ?? REORG_DEPTH_MAX;
    this.#state = options.state;
    this.#height = height;
    this.#stateAt = new Map([[height, copyChainState(options.state)]]);
  }

  /** The simulation's record of the state of the chain. */
  state(): ChainState {
    return this.#state;
  }

  /** The depth of the deepest reorganisation that is possible now. */
  reorgDepth(): number {
    return this.#stateAt.size - 1;
  }

  /** Posts signed listings to the marketplace. */
  async post(listings: readonly Listing[]): Promise<void> {
    for (const listing of listings) {
      const reason = await this.#options.marketplace.postOrder({ chain: this.world.chain.id, listing });
      if (reason === null) {
        this.accepted.push(listing);
        this.#listings.push(listing);
      } else this.rejected.push({ listing, reason });
    }
  }

  /** Posts signed bids to the marketplace. */
  async postBids(bids: readonly Bid[]): Promise<void> {
    for (const one of bids) {
      const reason = await this.#options.marketplace.postBid({ chain: this.world.chain.id, bid: one });
      if (reason === null) {
        this.acceptedBids.push(one);
        this.#bids.push(one);
      } else this.rejected.push({ listing: one, reason });
    }
  }

  /**
   * Makes one step: moves the clock forward, reorganises the chain, or makes one or more actions. The transactions of the actions are mined in
   * one block, and the orders that the actions have signed are posted.
   */
  step(): Promise<Step> {
    return this.#inTurn(() => this.#step());
  }

  /** Replaces the newest `depth` blocks by `depth` + 1 other blocks. */
  reorganise(depth: number): Promise<Step> {
    return this.#inTurn(() => this.#reorganise(depth));
  }

  /**
   * Mines the transaction that `sendOne` sends for a wallet, in a block of its own, and records its effects. Rejects if `sendOne` rejects.
   */
  include(sendOne: () => Promise<Hex>): Promise<Step> {
    return this.#inTurn(async () => {
      const receipt = await mineAlone(this.world.chain, sendOne);
      this.#height += 1;
      recordEvents(this.world, this.#state, receipt);
      await readFunds(this.world, this.#state);
      this.#keepState();
      return this.#record('a transaction of a wallet', [receipt.transactionHash]);
    });
  }

  #inTurn<T>(change: () => Promise<T>): Promise<T> {
    const changed = this.#last.then(change);
    this.#last = changed.catch(() => undefined);
    return changed;
  }

  async #step(): Promise<Step> {
    const { random, skip, reorgShare = REORG_SHARE } = this.#options;
    if (skip && random.happens(SKIP_SHARE)) {
      const seconds = 1 + random.below(SKIP_S_MAX);
      skip(seconds * 1000);
      await this.#mineEmpty();
      return this.#record(`${seconds} s pass`);
    }
    if (this.#stateAt.size > 1 && random.happens(reorgShare)) {
      const deepest = Math.min(this.#reorgDepthMax, this.#stateAt.size - 1);
      const most = random.happens(SHALLOW_SHARE) ? Math.min(SHALLOW_DEPTH, deepest) : deepest;
      return this.#reorganise(1 + random.below(most));
    }
    const step = await this.#act(random.happens(BUSY_SHARE) ? 1 + random.below(BUSY_ACTIONS_MAX) : 1);
    await this.#postSigned();
    return step;
  }

  async #reorganise(depth: number): Promise<Step> {
    const ancestor = this.#height - depth;
    const before = this.#stateAt.get(ancestor);
    if (!before) throw new Error(`the state at block ${ancestor} is no longer kept`);
    await rollBack(this.world.chain, depth);
    for (let orphan = ancestor + 1; orphan <= this.#height; orphan += 1) this.#stateAt.delete(orphan);
    for (const step of this.steps) if (step.block > ancestor && step.txs.length > 0) step.orphaned = true;
    this.#state = copyChainState(before);
    this.#height = ancestor;
    const step = this.#record(`reorganisation of ${depth} blocks`);
    while (this.#height < ancestor + depth + 1) {
      if (this.#options.random.happens(0.5)) await this.#act(1);
      else await this.#mineEmpty();
    }
    // Orders are posted after the new blocks have been mined. Until then the chain is shorter than before the reorganisation, and a
    // marketplace that has read the replaced blocks cannot check an order.
    await this.#postSigned();
    return step;
  }

  /**
   * Plans `count` actions and mines them in one block. Their orders are signed but not posted. Each action is planned on the state after
   * the previous action.
   */
  async #act(count: number): Promise<Step> {
    const plans: Plan[] = [];
    while (plans.length < count) {
      const plan = await this.#plan();
      plan.apply(this.#state);
      plans.push(plan);
      // The new counter can only be read from the mined block, so no further action is planned for this block.
      if (plan.what === 'incrementCounter') break;
    }
    const calls = plans.flatMap((plan) => plan.calls);
    const receipts = calls.length > 0 ? await transact(this.world.chain, calls) : [];
    if (receipts.length > 0) {
      this.#height += 1;
      checkFills(plans, receipts);
      await readCounters(this.world, this.#state);
      await readFunds(this.world, this.#state);
      this.#keepState();
    }
    const txs = receipts.map(({ transactionHash }) => transactionHash);
    const step = this.#record(plans.map(({ what }) => what).join(', '), txs);
    this.#signed.push(...plans.flatMap((plan) => plan.posted ?? []));
    this.#signedBids.push(...plans.flatMap((plan) => plan.bids ?? []));
    return step;
  }

  /** Posts the signed orders, except orders that cannot be filled after all actions. */
  async #postSigned(): Promise<void> {
    const { now } = this.#planContext();
    const signed = this.#signed.splice(0);
    const signedBids = this.#signedBids.splice(0);
    await this.post(signed.filter((listing) => isFillable(this.#state, listing, now)));
    await this.postBids(signedBids.filter((one) => isAcceptable(this.#state, one, now)));
  }

  async #plan(): Promise<Plan> {
    const context = this.#planContext();
    for (let draws = 0; draws < DRAWS_MAX; draws += 1) {
      const plan = await drawAction(context.random)(context);
      if (plan) return plan;
    }
    throw new Error(`no action is possible on ${this.world.chain.id}`);
  }

  #planContext(): PlanContext {
    const { world } = this;
    const now = toSeconds(world.chain.clock()) + MINING_MARGIN_S;
    return {
      world,
      state: this.#state,
      random: this.#options.random,
      now,
      listings: this.#listings,
      bids: this.#bids,
      height: this.#height,
      reorgDepthMax: this.#reorgDepthMax,
    };
  }

  async #mineEmpty(): Promise<void> {
    await mine(this.world.chain);
    this.#height += 1;
    this.#keepState();
  }

  #keepState(): void {
    this.#stateAt.set(this.#height, copyChainState(this.#state));
    this.#stateAt.delete(this.#height - this.#reorgDepthMax - 1);
  }

  #record(what: string, txs: readonly Hex[] = []): Step {
    const step = { chain: this.world.chain.id, what, block: this.#height, txs, orphaned: false };
    this.steps.push(step);
    if (this.steps.length > STEPS_KEPT) this.steps.shift();
    if (this.steps.length % PRUNE_PERIOD === 0) this.#prune();
    return step;
  }

  /** Forgets ended orders that no reorganisation can open again. */
  #prune(): void {
    const oldest = this.#stateAt.get(Math.min(...this.#stateAt.keys())) ?? this.#state;
    const now = toSeconds(this.world.chain.clock());
    const isKept = (order: Listing | Bid) => isOpen(oldest, order, now) || isOpen(this.#state, order, now);
    this.#listings = this.#listings.filter(isKept);
    this.#bids = this.#bids.filter(isKept);
  }
}

function drawAction(random: SeededRandom): Planner {
  let drawn = random.below(WEIGHT);
  for (const [planner, weight] of ACTIONS) {
    if (drawn < weight) return planner;
    drawn -= weight;
  }
  return mint;
}

/**
 * Throws unless each plan filled as many orders as expected. If Seaport cannot fill an order of a sweep, it skips the order without an
 * error.
 */
function checkFills(plans: readonly Plan[], receipts: readonly Receipt[]): void {
  let at = 0;
  for (const { what, calls, fills } of plans) {
    const own = receipts.slice(at, at + calls.length);
    at += calls.length;
    const filled = own.flatMap(({ logs }) => logs).filter(({ topics }) => topics[0] === FILLED_EVENT).length;
    if (filled !== fills) throw new Error(`${what}: ${filled} orders were filled, expected ${fills}`);
  }
}

/** Reads the counters that were incremented in the newest block. Until they are read, their recorded value is -1. */
async function readCounters({ chain, protocol }: World, state: ChainState): Promise<void> {
  for (const [person, { value, block }] of state.counters) {
    if (value >= 0n) continue;
    const counter = await readChain(chain, protocol.seaport, 'getCounter', [person satisfies Address]);
    state.counters.set(person, { value: counter as bigint, block });
  }
}

/** Reads what people can pay in the wrapped native currency at the newest block, and how much of it Seaport and the conduit may spend. */
async function readFunds({ chain, protocol, people }: World, state: ChainState): Promise<void> {
  const { wrapped, seaport, conduit } = protocol;
  const reads = people.flatMap(({ address }) => [
    { functionName: 'balanceOf', args: [address], set: (read: bigint) => state.balances.set(address, read) },
    ...[seaport.address, conduit.address].map((spender) => ({
      functionName: 'allowance',
      args: [address, spender],
      set: (read: bigint) => state.allowances.set(`${address}:${spender}`, read),
    })),
  ]);
  const calls = reads.map(({ functionName, args }) => {
    const data = encodeFunctionData({ abi: wrapped.abi, functionName, args });
    return { method: 'eth_call', params: [{ to: wrapped.address, data }, 'latest'] };
  });
  const results = await chain.rpc.readAll<Hex>(calls);
  for (const [index, { set }] of reads.entries()) set(BigInt(results[index] ?? 0));
}
