// A run of the oracle: traders change a local chain, services follow the chain, and after each block all served listings and bids are compared with
// the chain. During the run, services are killed and blocks are reorganised.

import { setTimeout as delay } from 'node:timers/promises';
import { readBlock, readHeight, toSeconds } from '../../devnet/chain.ts';
import { signBids } from '../../devnet/bids.ts';
import { isAcceptable, isFillable } from '../../devnet/chain-state.ts';
import { startDevnet, startSimulation } from '../../devnet/devnet.ts';
import type { SigningContext } from '../../devnet/listings.ts';
import { draftListing, listableTokens, signListings } from '../../devnet/listings.ts';
import type { SeededRandom } from '../../devnet/random.ts';
import { createRandom } from '../../devnet/random.ts';
import type { Simulation } from '../../devnet/simulation.ts';
import type { World, WorldSize } from '../../devnet/world.ts';
import { askBalances, askBidVerdicts, askOwners, askVerdicts } from '../chain-verdicts.ts';
import { compareBids } from '../compare-bids.ts';
import type { Compared, Finding } from '../compare.ts';
import { addUp, compareListings } from '../compare.ts';
import type { Endpoint } from '../rpc.ts';
import { createEndpoint } from '../rpc.ts';
import type { BidVerdict, SignedBid, SignedOrder, Verdict } from '../signed-order.ts';
import { Books, isBidFor, keyOfRow } from './books.ts';
import type { FollowerOptions } from './followers.ts';
import { Follower } from './followers.ts';

export type RunOptions = {
  seed: number;
  /** The number of blocks. After each block, the services are compared with the chain. */
  blocks: number;
  /** The number of fillable orders to aim at. While there are fewer, the run lists more tokens. */
  orders: number;
  /** The number of bids that can be accepted to aim at. */
  bids: number;
  /** The share of the orders that are mirrored listings, from 0 to 1. */
  mirrorShare: number;
  kills: number;
  reorganisations: number;
  reorgDepthMax: number;
  /** Creates the settings of the services, given the URL of the chain's endpoint. */
  followers: (chainUrl: string) => Promise<FollowerOptions[]>;
  /** Called before each block of the run. The index of the first block is 0. */
  onBlock?: (index: number, followers: readonly Follower[]) => Promise<void>;
  /** Called with a line about the progress. */
  onProgress?: (line: string) => void;
};

export type RunResult = {
  blocks: number;
  /** The number of comparisons of a served row, over all blocks and services. */
  listings: number;
  /** The number of comparisons of a served bid, and of a served top bid, over all blocks and services. */
  bids: number;
  topBids: number;
  /** Orders that cannot be filled and were rightly not served. */
  rightlyAbsent: number;
  /** Orders about to expire, which may be served or not. */
  undecided: number;
  owners: number;
  digests: number;
  kills: number;
  reorganisations: number;
  deepest: number;
  /** The fewest and the most orders that could be filled at a block. */
  fillable: { least: number; most: number };
  /** The fewest and the most bids that could be accepted at a block. */
  acceptable: { least: number; most: number };
  /** Milliseconds from a new block until all services agree with the chain. Blocks after which a service was killed are left out. */
  settledMs: { median: number; most: number };
  findings: (Finding & { block: number; service: string })[];
  /** Blocks at which the services serve different rows. */
  differentDigests: number[];
};

const CHAIN = 'ethereum';
const PEOPLE = 8;
/** The number of tokens for each order. It is above 1, because people without approvals cannot list their tokens. */
const TOKENS_PER_ORDER = 1.3;
/** Less than the window of `/v1`, so that every order is visible. */
const COLLECTION_SIZE_MAX = 200;
/** The number of ERC-1155 tokens. */
const EDITIONS = 12;
/** A service must agree with a block at most this long after it has read the block. */
const SETTLE_MS = 8_000;
/** The time between two comparisons of a service that still differs. */
const SETTLE_POLL_MS = 20;
/** The number of tokens whose owners are compared after each block, for each service. */
const TOKENS_CHECKED = 6;
/** The limit of tokens that are listed after one block, and of bids. */
const SIGNED_AT_ONCE_MAX = 5;
/** The number of blocks between two progress lines. */
const PROGRESS_PERIOD = 10;

export async function runOracle(options: RunOptions): Promise<RunResult> {
  const { seed } = options;
  const devnet = await startDevnet({ networks: [CHAIN], seed, size: sizeFor(options.orders) });
  const followers: Follower[] = [];
  try {
    const [network] = devnet.networks;
    if (!network) throw new Error('the chain did not start');
    const { world } = network;
    const starts = await options.followers(world.chain.url);
    const started = await Promise.allSettled(starts.map((each) => Follower.start(each, world)));
    for (const one of started) if (one.status === 'fulfilled') followers.push(one.value);
    for (const one of started) if (one.status === 'rejected') throw one.reason;
    const random = createRandom(seed * 101);
    const books = new Books({ chain: CHAIN, followers, random, mirrorShare: options.mirrorShare });
    const { simulation, book } = await startSimulation(network, {
      seed,
      orders: options.orders,
      marketplace: books,
      reorgShare: 0,
      reorgDepthMax: options.reorgDepthMax,
    });
    await simulation.post(book);
    return await new Run({ options, world, followers, books, simulation, random }).complete();
  } finally {
    await Promise.allSettled(followers.map((follower) => follower.stop()));
    await devnet.stop();
  }
}

function sizeFor(orders: number): WorldSize {
  const tokens = Math.ceil(orders * TOKENS_PER_ORDER);
  const collections = Math.max(1, Math.ceil(tokens / COLLECTION_SIZE_MAX));
  return { people: PEOPLE, collections, tokens: Math.ceil(tokens / collections), editions: EDITIONS };
}

type RunParts = {
  options: RunOptions;
  world: World;
  followers: readonly Follower[];
  books: Books;
  simulation: Simulation;
  random: SeededRandom;
};

class Run {
  readonly #parts: RunParts;
  readonly #endpoint: Endpoint;
  readonly #settled: number[] = [];
  /** Findings that persisted for `SETTLE_MS`. The run does not wait for them again. */
  readonly #known = new Set<string>();
  readonly #result: RunResult;

  constructor(parts: RunParts) {
    this.#parts = parts;
    this.#endpoint = createEndpoint(parts.world.chain.url);
    this.#result = {
      blocks: 0,
      listings: 0,
      bids: 0,
      topBids: 0,
      rightlyAbsent: 0,
      undecided: 0,
      owners: 0,
      digests: 0,
      kills: 0,
      reorganisations: 0,
      deepest: 0,
      fillable: { least: Infinity, most: 0 },
      acceptable: { least: Infinity, most: 0 },
      settledMs: { median: 0, most: 0 },
      findings: [],
      differentDigests: [],
    };
  }

  async complete(): Promise<RunResult> {
    const { options, followers, books, simulation, world } = this.#parts;
    const killBlocks = drawBlocks(this.#parts, options.kills);
    const reorgBlocks = drawBlocks(this.#parts, options.reorganisations);
    await this.#bidMore(options.bids);
    for (let block = 0; block < options.blocks; block += 1) {
      await options.onBlock?.(block, followers);
      if (reorgBlocks.has(block)) await this.#reorganise(reorgBlocks.get(block) ?? 0);
      else await mineStep(simulation);
      const height = await readHeight(world.chain);
      await books.advance(height);
      books.prune(world.chain.clock());
      await this.#listMore();
      await this.#bidMore(SIGNED_AT_ONCE_MAX);
      const killed = killBlocks.get(block);
      if (killed !== undefined) {
        this.#result.kills += 1;
        await followers[killed % followers.length]?.kill();
      }
      await this.#check(height, killed !== undefined);
      if (this.#result.blocks % PROGRESS_PERIOD === 0) options.onProgress?.(describeProgress(this.#result));
    }
    this.#result.settledMs = summarize(this.#settled);
    return this.#result;
  }

  /** Reorganises the chain. The depths of the reorganisations are spread evenly from 1 to `reorgDepthMax`. */
  async #reorganise(index: number): Promise<void> {
    const { options, simulation } = this.#parts;
    const { reorganisations, reorgDepthMax } = options;
    const depth = 1 + Math.floor((index * reorgDepthMax) / Math.max(1, reorganisations));
    const possible = Math.min(depth, simulation.reorgDepth());
    if (possible < 1) return;
    await simulation.reorganise(possible);
    this.#result.reorganisations += 1;
    this.#result.deepest = Math.max(this.#result.deepest, possible);
  }

  /** Lists further tokens if fewer orders can be filled than `options.orders`. */
  async #listMore(): Promise<void> {
    const { options, simulation, world, random } = this.#parts;
    const state = simulation.state();
    const now = toSeconds(world.chain.clock());
    const missing = options.orders - simulation.accepted.filter((listing) => isFillable(state, listing, now)).length;
    if (missing <= 0) return;
    const signing: SigningContext = { world, state, random, now };
    const tokens = random.shuffle(listableTokens(signing)).slice(0, Math.min(missing, SIGNED_AT_ONCE_MAX));
    const height = await readHeight(world.chain);
    for (const { token, person } of tokens) {
      // A person who has recently raised their Seaport counter lists no token: a reorganisation could undo the raise, and an order that was
      // signed with the raised counter would then be invalid.
      const raisedAt = state.counters.get(person.address)?.block ?? -Infinity;
      if (raisedAt + options.reorgDepthMax >= height) continue;
      await simulation.post(await signListings(signing, [draftListing(signing, person, token)]));
    }
  }

  /** Signs at most `most` further bids if fewer bids can be accepted than `options.bids`. */
  async #bidMore(most: number): Promise<void> {
    const { options, simulation, world, random } = this.#parts;
    const state = simulation.state();
    const height = await readHeight(world.chain);
    const now = toSeconds(world.chain.clock());
    const isWanted = (bid: Parameters<typeof isAcceptable>[1]) => isAcceptable(state, bid, now);
    const missing = Math.min(most, options.bids - simulation.acceptedBids.filter(isWanted).length);
    const signing = { world, state, random, now, height, reorgDepthMax: options.reorgDepthMax };
    for (let signed = 0; signed < missing; signed += SIGNED_AT_ONCE_MAX)
      await simulation.postBids((await signBids(signing, SIGNED_AT_ONCE_MAX)).filter(isWanted));
  }

  /** Compares every service with the chain. Repeats the comparison of a service that differs, for at most `SETTLE_MS`. */
  async #check(height: number, isAfterKill: boolean): Promise<void> {
    const { books, followers, world } = this.#parts;
    const minedAt = performance.now();
    const orders = [...books.orders.values()];
    const verdicts = await askVerdicts(this.#endpoint, orders, height);
    const bids = [...books.bids.values()];
    const bidVerdicts = await askBidVerdicts(this.#endpoint, bids, height);
    widen(this.#result.fillable, verdicts);
    widen(this.#result.acceptable, bidVerdicts);
    const checked = { height, orders, verdicts, bids, bidVerdicts };
    const checks = followers.map(async (follower) => {
      await follower.reach(height);
      return { follower, compared: await this.#compareUntilEqual(follower, checked) };
    });
    for (const { follower, compared } of await Promise.all(checks)) {
      this.#result.listings += compared.listings;
      this.#result.bids += compared.bids;
      this.#result.rightlyAbsent += compared.rightlyAbsent;
      this.#result.undecided += compared.undecided;
      this.#result.findings.push(
        ...compared.findings.map((finding) => ({ ...finding, block: height, service: follower.name })),
      );
    }
    if (!isAfterKill) this.#settled.push(performance.now() - minedAt);
    await this.#compareDigests(height);
    if ((await readHeight(world.chain)) !== height) throw new Error('the chain moved while it was compared');
    this.#result.blocks += 1;
  }

  async #compareUntilEqual(follower: Follower, at: Checked): Promise<Compared> {
    const deadline = performance.now() + SETTLE_MS;
    const tokens = await this.#drawTokens(at.height);
    for (;;) {
      const compared = await this.#compare(follower, at, tokens);
      compared.findings.push(...(await this.#compareOwners(follower, tokens, at.height)));
      const names = compared.findings.map(
        (finding) => `${follower.name} ${finding.kind} ${finding.collectionId} ${finding.asset}`,
      );
      if (names.every((name) => this.#known.has(name))) return compared;
      if (performance.now() > deadline) {
        for (const name of names) this.#known.add(name);
        return compared;
      }
      await delay(SETTLE_POLL_MS);
    }
  }

  async #compare(follower: Follower, at: Checked, tokens: readonly HeldToken[]): Promise<Compared> {
    const { orders, verdicts } = at;
    let total: Compared = { findings: [], listings: 0, bids: 0, rightlyAbsent: 0, undecided: 0 };
    const api = follower.api();
    for (const { address } of this.#parts.world.collections) {
      const collectionId = `${CHAIN}_${address}`;
      const readFrom = Date.now();
      const { rows, isComplete } = await api.listings(collectionId);
      const compared = compareListings({
        collectionId,
        rows,
        orders: orders.filter((order) => order.collectionId === collectionId),
        verdicts,
        keyOf: (row) => keyOfRow(collectionId, row),
        readFrom,
        readTo: Date.now(),
      });
      if (!isComplete)
        compared.findings.push({ kind: 'wrong', collectionId, asset: '', detail: 'a source could not be read' });
      const drawn = tokens.filter(({ contract }) => contract === address);
      total = addUp(addUp(total, compared), await this.#compareBids(follower, at, { collectionId, tokens: drawn }));
    }
    return total;
  }

  async #compareBids(
    follower: Follower,
    { bids, bidVerdicts }: Checked,
    { collectionId, tokens }: { collectionId: string; tokens: readonly HeldToken[] },
  ): Promise<Compared> {
    const api = follower.api();
    const readFrom = Date.now();
    const rows = await api.bids(collectionId);
    const topBids = await api.topBids(
      collectionId,
      tokens.map(({ tokenId }) => tokenId.toString()),
    );
    this.#result.topBids += topBids.length;
    return compareBids({
      collectionId,
      rows,
      topBids,
      bids: bids.filter((bid) => bid.collectionId === collectionId),
      verdicts: bidVerdicts,
      isFor: ({ key }, tokenId) => {
        const bid = this.#parts.books.bids.get(key);
        return bid !== undefined && isBidFor(bid.wanted, tokenId);
      },
      readFrom,
      readTo: Date.now(),
    });
  }

  /** Draws tokens, and reads the owners of the ERC-721 tokens. An ERC-1155 token has the owner null, because it may have several holders. */
  async #drawTokens(height: number): Promise<HeldToken[]> {
    const { world, random } = this.#parts;
    const drawn = Array.from({ length: TOKENS_CHECKED }, () => {
      const collection = random.pick(world.collections);
      return collection ? { collection, tokenId: BigInt(1 + random.below(collection.size)) } : [];
    }).flat();
    const single = drawn.filter(({ collection }) => collection.standard === 'erc721');
    const tokens = single.map(({ collection, tokenId }) => ({ contract: collection.address, tokenId }));
    const owners = await askOwners(this.#endpoint, tokens, height);
    return drawn.map(({ collection, tokenId }) => {
      const index = single.findIndex((each) => each.collection === collection && each.tokenId === tokenId);
      return { contract: collection.address, tokenId, owner: owners[index] ?? null, isSingle: index >= 0 };
    });
  }

  async #compareOwners(follower: Follower, tokens: readonly HeldToken[], height: number): Promise<Finding[]> {
    const findings: Finding[] = [];
    const api = follower.api();
    for (const { contract, tokenId, owner, isSingle } of tokens) {
      const served = (await api.token(CHAIN, contract, tokenId.toString()))?.owner ?? null;
      this.#result.owners += 1;
      const holds =
        isSingle || served === null ? served === owner : await this.#holds(contract, tokenId, served, height);
      const detail = `served ${served}, the chain has ${isSingle ? (owner ?? 'no owner') : 'another holder'}`;
      if (!holds) findings.push({ kind: 'owner', collectionId: `${CHAIN}_${contract}`, asset: `${tokenId}`, detail });
    }
    return findings;
  }

  async #holds(contract: string, tokenId: bigint, account: string, height: number): Promise<boolean> {
    const [balance = 0n] = await askBalances(this.#endpoint, [{ contract, tokenId, account }], height);
    return balance > 0n;
  }

  async #compareDigests(height: number): Promise<void> {
    const { followers, world } = this.#parts;
    const { hash } = await readBlock(world.chain, height);
    const digests = await Promise.all(followers.map((follower) => follower.digest()));
    if (digests.some((each) => each.block !== height || each.hash !== hash))
      throw new Error(`a service has the digest of another block than ${height} (${hash})`);
    this.#result.digests += 1;
    if (new Set(digests.map(({ digest }) => digest)).size > 1) this.#result.differentDigests.push(height);
  }
}

type Checked = {
  height: number;
  orders: readonly SignedOrder[];
  verdicts: ReadonlyMap<string, Verdict>;
  bids: readonly SignedBid[];
  bidVerdicts: ReadonlyMap<string, BidVerdict>;
};
type HeldToken = { contract: string; tokenId: bigint; owner: string | null; isSingle: boolean };

/** Performs steps of the simulation until a block is mined. A step that only lists a token mines no block. */
async function mineStep(simulation: Simulation): Promise<void> {
  const { chain } = simulation.world;
  const before = await readHeight(chain);
  while ((await readHeight(chain)) === before) await simulation.step();
}

/** Draws at most `count` blocks of the run. Maps each drawn block to its index in the ascending list of drawn blocks. */
function drawBlocks({ options, random }: RunParts, count: number): Map<number, number> {
  const first = Math.min(5, options.blocks - 1);
  const blocks = Array.from({ length: options.blocks - first }, (_, index) => first + index);
  const drawn = random.shuffle(blocks).slice(0, count);
  return new Map(drawn.toSorted((a, b) => a - b).map((block, index) => [block, index]));
}

/** Widens a range to the number of orders that can be filled. */
function widen(range: { least: number; most: number }, verdicts: ReadonlyMap<string, Verdict>): void {
  const fillable = [...verdicts.values()].filter((verdict) => verdict.fillable === true).length;
  range.least = Math.min(range.least, fillable);
  range.most = Math.max(range.most, fillable);
}

function summarize(durations: readonly number[]): RunResult['settledMs'] {
  const sorted = durations.toSorted((a, b) => a - b).map(Math.round);
  return { median: sorted[sorted.length >> 1] ?? 0, most: sorted.at(-1) ?? 0 };
}

function describeProgress({ blocks, listings, bids, findings, kills, reorganisations }: RunResult): string {
  return `${blocks} blocks, ${listings} listings, ${bids} bids, ${findings.length} findings, ${kills} kills, ${reorganisations} reorganisations`;
}
