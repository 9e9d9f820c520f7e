// A simulated chain in memory: blocks with mints, transfers, burns, and Seaport sales by listings, private listings, bids and matched bids, of three collections. A
// random generator with a seed chooses what happens, so the same calls make the same chain. Reorganisations replace the newest blocks. What happened is
// kept beside the logs, so that the true state can be derived without decoding a log.

import { createHash } from 'node:crypto';
import type { SeededRandom } from '../../../../devnet/random.ts';
import { createRandom } from '../../../../devnet/random.ts';
import type { Hex } from '../../../../src/platform/core/evm.ts';
import { ZERO_ADDRESS } from '../../../../src/platform/core/evm.ts';
import type { FakeLog } from './fake-logs.ts';
import type { FakeEffect, PlannedTransaction } from './fake-trades.ts';
import { accountOf, COLLECTIONS, fillLogs, tagged, transferLog } from './fake-logs.ts';

export type FakeAction = {
  /** `other`: no token moves. */
  kind: 'mint' | 'transfer' | 'burn' | 'sale' | 'other';
  collection: Hex;
  tokenId: number;
  from: Hex;
  to: Hex;
  /** In wei; null if the action is no sale. */
  price: bigint | null;
};

export type FakeTransaction = {
  hash: Hex;
  from: Hex;
  input: Hex;
  value: bigint;
  action: FakeAction;
  logs: FakeLog[];
  effects?: readonly FakeEffect[];
};
export type FakeBlock = { number: number; hash: Hex; parentHash: Hex; timeS: number; transactions: FakeTransaction[] };

const GENESIS_S = 1_700_000_000;
const BLOCK_S = 12;
const ACCOUNTS = 12;
const TOKENS = 40;
/** Of each collection, at most this many tokens are burned, so that tokens remain to be sold. */
const BURNS_MAX = 8;
const TRANSACTIONS_MAX = 3;
const MINT_SHARE = 0.3;
const BURN_SHARE = 0.03;
const SALE_SHARE = 0.5;
const FORMS = ['listing', 'listing', 'listing', 'private-listing', 'bid', 'matched-bid'] as const;
const ZERO = ZERO_ADDRESS as Hex;
/** The finalized block is this many blocks behind the newest one. */
export const FINALIZED_BEHIND = 66;

const toHash = (text: string): Hex => `0x${createHash('sha256').update(text).digest('hex')}`;

export class FakeChain {
  /** The canonical chain: the block with number n is at index n. */
  blocks: FakeBlock[];
  /** The chain before the last reorganisation. */
  orphaned: readonly FakeBlock[] = [];
  /** All blocks that were ever mined. */
  mined = 0;
  readonly #random: SeededRandom;
  readonly #clock: () => number;

  /** `clock`: a block is not older than this time in milliseconds. By default, a block follows twelve seconds after the one before. */
  constructor(seed: number, clock: () => number = () => GENESIS_S * 1_000) {
    this.#random = createRandom(seed);
    this.#clock = clock;
    const timeS = Math.floor(clock() / 1_000);
    this.blocks = [{ number: 0, hash: toHash(`${seed} genesis`), parentHash: toHash('none'), timeS, transactions: [] }];
  }

  get head(): FakeBlock {
    return this.blocks.at(-1) ?? (this.blocks[0] as FakeBlock);
  }

  /** The time of the newest block in milliseconds. */
  get time(): number {
    return this.head.timeS * 1_000;
  }

  /** The first block begins with the planned transactions. */
  mine(count = 1, planned: readonly PlannedTransaction[] = []): void {
    for (let mined = 0; mined < count; mined += 1) {
      this.mined += 1;
      const { number, hash, timeS } = this.head;
      const owners = toOwners(this.blocks);
      const first = (mined === 0 ? planned : []).map((one, index) => {
        apply(owners, one.action);
        return { ...one, hash: toHash(`planned ${this.mined} ${index}`), input: tagged(`0x${'ab'.repeat(32)}`, false) };
      });
      const drawn = Array.from({ length: this.#random.below(TRANSACTIONS_MAX + 1) }, (_, index) =>
        this.#transact(owners, `${this.mined} ${index}`),
      );
      const transactions = [...first, ...drawn];
      let logIndex = 0;
      for (const transaction of transactions) for (const log of transaction.logs) log.logIndex = logIndex++;
      this.blocks.push({
        number: number + 1,
        hash: toHash(`${hash} ${this.mined}`),
        parentHash: hash,
        timeS: Math.max(timeS + BLOCK_S, Math.floor(this.#clock() / 1_000)),
        transactions,
      });
    }
  }

  /** Replaces the newest `depth` blocks with `replacements` others. The genesis block is never replaced. */
  reorganise(depth: number, replacements: number): void {
    this.orphaned = this.blocks;
    this.blocks = this.blocks.slice(0, Math.max(1, this.blocks.length - depth));
    this.mine(replacements);
  }

  #transact(owners: Owners, seed: string): FakeTransaction {
    const action = this.#act(owners);
    apply(owners, action);
    const { kind, from, to, price } = action;
    const form = this.#random.pick(FORMS) ?? 'listing';
    const isBid = form === 'bid' || form === 'matched-bid';
    const moved = transferLog(action);
    const signer = kind === 'mint' || (kind === 'sale' && !isBid) ? to : from;
    const hash = toHash(`${seed} ${action.tokenId}`);
    const fills =
      price === null
        ? []
        : fillLogs({ ...action, price, form, hashes: [toHash(`order ${seed}`), toHash(`mirror ${seed}`)] });
    return {
      hash,
      from: signer,
      input: tagged(`0x${'ab'.repeat(32)}`, price !== null),
      value: price === null || isBid ? 0n : price,
      action,
      logs: [moved, ...fills],
    };
  }

  #act(owners: Owners): FakeAction {
    const collection = this.#random.pick(COLLECTIONS) ?? COLLECTIONS[0];
    const held = owners.get(collection) ?? new Map<number, Hex | null>();
    const alive = [...held].flatMap(([tokenId, owner]) => (owner === null ? [] : [{ tokenId, owner }]));
    const to = accountOf(this.#random.below(ACCOUNTS));
    if (alive.length === 0 || (held.size < TOKENS && this.#random.happens(MINT_SHARE))) {
      // A token id is not the next free one, so that after a reorganisation other tokens exist.
      const free = Array.from({ length: TOKENS }, (_, tokenId) => tokenId).filter((tokenId) => !held.has(tokenId));
      const tokenId = this.#random.pick(free) ?? 0;
      return { kind: 'mint', collection, tokenId, from: ZERO, to, price: null };
    }
    const { tokenId, owner } = this.#random.pick(alive) ?? { tokenId: 0, owner: to };
    if (this.#random.happens(BURN_SHARE) && held.size - alive.length < BURNS_MAX) {
      return { kind: 'burn', collection, tokenId, from: owner, to: ZERO, price: null };
    }
    const receiver = to === owner ? accountOf(ACCOUNTS) : to;
    const price = this.#random.happens(SALE_SHARE) ? BigInt(1 + this.#random.below(1_000_000)) * 10n ** 12n : null;
    return { kind: price === null ? 'transfer' : 'sale', collection, tokenId, from: owner, to: receiver, price };
  }
}

/** The owner of each minted token, by collection and token id. Null for a burned token. */
export type Owners = Map<string, Map<number, Hex | null>>;

export function toOwners(blocks: readonly FakeBlock[]): Owners {
  const owners: Owners = new Map(COLLECTIONS.map((collection) => [collection, new Map<number, Hex | null>()]));
  for (const { transactions } of blocks) for (const { action } of transactions) apply(owners, action);
  return owners;
}

function apply(owners: Owners, { kind, collection, tokenId, to }: FakeAction): void {
  if (kind === 'other') return;
  owners.get(collection)?.set(tokenId, kind === 'burn' ? null : to);
}
