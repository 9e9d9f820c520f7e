// Life on a local chain, drawn from a seed: blocks of trades and other changes, listings posted to the marketplace, and
// reorganisations after which everything that was orphaned is forgotten. A transaction that fails is a mistake of this
// generator and ends it.

import type { Address, Hex } from 'viem';
import { toEventSelector } from 'viem';
import type { Desk } from './book.ts';
import type { Receipt } from './chain.ts';
import { mine, readChain, readHeight, rollBack, toSeconds, transact } from './chain.ts';
import {
  REORG_DEPTH_MAX,
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
import type { Random } from './chance.ts';
import type { Ledger, Listing } from './ledger.ts';
import { copyLedger, isFillable, isOpen } from './ledger.ts';
import type { Plan, Planner, Scene } from './trades.ts';
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
import type { World } from './world.ts';

/** Where listings go. */
export type Marketplace = {
  /** The reason when it is refused, null when it is taken. */
  postOrder(order: { chain: string; listing: Listing }): Promise<string | null>;
};

/** What was done. Hashes of transactions; none for what was only signed. */
export type Step = { chain: string; what: string; block: number; txs: readonly Hex[]; orphaned: boolean };

export type LifeOptions = {
  world: World;
  ledger: Ledger;
  chance: Random;
  marketplace: Marketplace;
  /** Lets time pass, for all who share the clock. Without it, short listings end in their own time. */
  skip?: (ms: number) => void;
  /** Share of the steps that are reorganisations. */
  reorgShare?: number;
};

export type Life = {
  world: World;
  /** The newest ones last. Those that a reorganisation took back stay, and say so. */
  steps: Step[];
  /** Listings that the marketplace took, whatever became of them. */
  accepted: Listing[];
  refused: { listing: Listing; reason: string }[];
  /** Posts listings that were signed elsewhere. */
  post(listings: readonly Listing[]): Promise<void>;
  /** Does the next thing, and says what. */
  step(): Promise<Step>;
  /** Takes back so many blocks, and makes one more than that. */
  reorganise(depth: number): Promise<Step>;
  /** What is known of the chain now. */
  ledger(): Ledger;
};

const DEEDS: readonly (readonly [planner: Planner, weight: number])[] = [
  [fulfilOrder, 14],
  [fulfilBasicOrder, 8],
  [fulfilForAnother, 3],
  [fulfilPart, 6],
  [sweep, 6],
  [matchOrders, 4],
  [buyBundle, 3],
  [buyForToken, 2],
  [acceptBid, 7],
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
];
const WEIGHT = DEEDS.reduce((sum, [, weight]) => sum + weight, 0);
/** When so many deeds in a row cannot be done, nothing can. */
const DRAWS_MAX = 200;
const REORG_SHARE = 0.02;
const SHALLOW_SHARE = 0.6;
const SHALLOW_DEPTH = 3;
const BUSY_SHARE = 0.2;
const BUSY_DEEDS_MAX = 4;
const SKIP_SHARE = 0.02;
const SKIP_S_MAX = 300;
/** The block may be made a little later than it was planned. */
const MINING_MARGIN_S = 5;
const STEPS_KEPT = 20_000;
const PRUNE_PERIOD = 200;
const FILLED_EVENT = toEventSelector(
  'OrderFulfilled(bytes32,address,address,address,(uint8,address,uint256,uint256)[],(uint8,address,uint256,uint256,address)[])',
);

/** The chain must be as the world was made: nobody else changes it. */
export async function createLife(options: LifeOptions): Promise<Life> {
  const { world, chance, marketplace } = options;
  const { chain } = world;
  const steps: Step[] = [];
  const accepted: Listing[] = [];
  const refused: Life['refused'] = [];
  let listings: Listing[] = [];
  let { ledger } = options;
  let height = await readHeight(chain);
  /** What was known after each of the newest blocks. */
  const known = new Map([[height, copyLedger(ledger)]]);

  const record = (what: string, txs: readonly Hex[] = []): Step => {
    const step = { chain: chain.id, what, block: height, txs, orphaned: false };
    steps.push(step);
    if (steps.length > STEPS_KEPT) steps.shift();
    if (steps.length % PRUNE_PERIOD === 0) prune();
    return step;
  };
  const desk = (): Desk => ({ world, ledger, chance, now: toSeconds(chain.clock()) + MINING_MARGIN_S });

  const draw = async (): Promise<Plan> => {
    const scene: Scene = { ...desk(), listings, height };
    for (let draws = 0; draws < DRAWS_MAX; draws += 1) {
      const plan = await drawDeed(chance)(scene);
      if (plan) return plan;
    }
    throw new Error(`nothing can be done on ${chain.id} any more`);
  };

  const remember = () => {
    known.set(height, copyLedger(ledger));
    known.delete(height - REORG_DEPTH_MAX - 1);
  };

  const post = async (posted: readonly Listing[]) => {
    for (const listing of posted) {
      const reason = await marketplace.postOrder({ chain: chain.id, listing });
      if (reason === null) {
        accepted.push(listing);
        listings.push(listing);
      } else refused.push({ listing, reason });
    }
  };

  /** One block of what the plans say, planned one after the other, each on what the one before makes true. */
  const act = async (count: number): Promise<Step> => {
    const plans: Plan[] = [];
    while (plans.length < count) {
      const plan = await draw();
      plan.apply(ledger);
      plans.push(plan);
      // The new counter is known when the block is there: nothing is planned on it before.
      if (plan.what === 'incrementCounter') break;
    }
    const calls = plans.flatMap((plan) => plan.calls);
    const receipts = calls.length > 0 ? await transact(chain, calls) : [];
    if (receipts.length > 0) {
      height += 1;
      checkFills(plans, receipts);
      await readCounters(world, ledger);
      remember();
    }
    const txs = receipts.map(({ transactionHash }) => transactionHash);
    const step = record(plans.map(({ what }) => what).join(', '), txs);
    // What a later plan of the same block sold or moved is not posted.
    const posted = plans.flatMap((plan) => plan.posted ?? []);
    await post(posted.filter((listing) => isFillable(ledger, listing, desk().now)));
    return step;
  };

  const reorganise = async (depth: number): Promise<Step> => {
    const common = height - depth;
    const before = known.get(common);
    if (!before) throw new Error(`what was known at block ${common} is forgotten`);
    await rollBack(chain, depth);
    for (let orphan = common + 1; orphan <= height; orphan += 1) known.delete(orphan);
    for (const step of steps) if (step.block > common && step.txs.length > 0) step.orphaned = true;
    ledger = copyLedger(before);
    height = common;
    const step = record(`reorganisation of ${depth} blocks`);
    while (height < common + depth + 1) {
      if (chance.happens(0.5)) await act(1);
      else {
        await mine(chain);
        height += 1;
        remember();
      }
    }
    return step;
  };

  /** Leaves out what no reorganisation can bring back. */
  const prune = () => {
    const oldest = known.get(Math.min(...known.keys())) ?? ledger;
    const now = toSeconds(chain.clock());
    listings = listings.filter((listing) => isOpen(oldest, listing, now) || isOpen(ledger, listing, now));
  };

  const step = async () => {
    if (options.skip && chance.happens(SKIP_SHARE)) {
      const seconds = 1 + chance.below(SKIP_S_MAX);
      options.skip(seconds * 1000);
      await mine(chain);
      height += 1;
      remember();
      return record(`${seconds} s pass`);
    }
    if (known.size > 1 && chance.happens(options.reorgShare ?? REORG_SHARE)) {
      const deepest = Math.min(REORG_DEPTH_MAX, known.size - 1);
      const most = chance.happens(SHALLOW_SHARE) ? Math.min(SHALLOW_DEPTH, deepest) : deepest;
      return reorganise(1 + chance.below(most));
    }
    return act(chance.happens(BUSY_SHARE) ? 1 + chance.below(BUSY_DEEDS_MAX) : 1);
  };

  return { world, steps, accepted, refused, post, step, reorganise, ledger: () => ledger };
}

function drawDeed(chance: Random): Planner {
  let drawn = chance.below(WEIGHT);
  for (const [planner, weight] of DEEDS) {
    if (drawn < weight) return planner;
    drawn -= weight;
  }
  return mint;
}

/** Seaport leaves out of a sweep what it cannot fill, without a word: so the fills are counted. */
function checkFills(plans: readonly Plan[], receipts: readonly Receipt[]): void {
  let at = 0;
  for (const { what, calls, fills } of plans) {
    const own = receipts.slice(at, at + calls.length);
    at += calls.length;
    const filled = own.flatMap(({ logs }) => logs).filter(({ topics }) => topics[0] === FILLED_EVENT).length;
    if (filled !== fills) throw new Error(`${what}: ${filled} orders were filled and not ${fills}`);
  }
}

/** Learns the counters that were raised in the newest block. */
async function readCounters({ chain, protocol }: World, ledger: Ledger): Promise<void> {
  for (const [person, { value, block }] of ledger.counters) {
    if (value >= 0n) continue;
    const counter = await readChain(chain, protocol.seaport, 'getCounter', [person satisfies Address]);
    ledger.counters.set(person, { value: counter as bigint, block });
  }
}
