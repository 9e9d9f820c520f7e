// The marketplaces of a run. Some listings of the simulation are submitted to the own order book of every service. The other listings are
// only reported, as by an external marketplace: immediately, or some blocks later. Some reports are repeated. A late or repeated report
// shows the listing as active, even if it has ended.

import type { Bid, Listing, Wanted } from '../../devnet/chain-state.ts';
import { operatorOf, unitPriceOf } from '../../devnet/chain-state.ts';
import { toCriteria } from '../../devnet/intake-client.ts';
import { toWireComponents, totalOf } from '../../devnet/orders.ts';
import { SEAPORT_ADDRESS } from '../../devnet/protocol.ts';
import type { SeededRandom } from '../../devnet/random.ts';
import type { Marketplace } from '../../devnet/simulation.ts';
import type { ServedListing } from '../served.ts';
import type { SignedBid, SignedOrder } from '../signed-order.ts';
import { toSetProof } from '../../devnet/token-set.ts';
import type { Follower } from './followers.ts';

const SOURCE = 'opensea';
/** The share of the reported listings that are reported late. */
const LATE_SHARE = 0.25;
/** A late report comes at most this many blocks after the listing. */
const LATE_BLOCKS_MAX = 12;
/** The number of reports that are repeated after each block. */
const REPEATED_AT_ONCE = 4;
/** Seaport's number for an order that anybody may fill in parts. */
const PARTIAL_OPEN = 1;
/** An order is still compared for this long after its expiry. */
const PRUNE_AGE_MS = 60_000;

export type BooksOptions = {
  chain: string;
  followers: readonly Follower[];
  random: SeededRandom;
  /** The share of the listings that are only reported. */
  mirrorShare: number;
};

type Reported = { order: SignedOrder; record: object };

export class Books implements Marketplace {
  /** The orders that were submitted or reported, by key. */
  readonly orders = new Map<string, SignedOrder>();
  /** The bids that were submitted, by key, with what they are for. */
  readonly bids = new Map<string, SignedBid & { wanted: Wanted }>();
  readonly #chain: string;
  readonly #followers: readonly Follower[];
  readonly #random: SeededRandom;
  #reported: Reported[] = [];
  readonly #mirrorShare: number;
  #late: (Reported & { block: number })[] = [];
  #block = 0;

  constructor(options: BooksOptions) {
    this.#chain = options.chain;
    this.#followers = options.followers;
    this.#random = options.random;
    this.#mirrorShare = options.mirrorShare;
  }

  async postOrder({ listing }: { listing: Listing }): Promise<string | null> {
    const isOwn = !this.#random.happens(this.#mirrorShare);
    const order = toSignedOrder(this.#chain, listing, isOwn ? 'own' : 'mirror');
    if (this.orders.has(order.key)) return 'another order has the same token, seller, price and end';
    if (isOwn) return this.#submit(order);
    const reported = { order, record: toRecord(this.#chain, listing) };
    if (this.#random.happens(LATE_SHARE))
      this.#late.push({ ...reported, block: this.#block + 1 + this.#random.below(LATE_BLOCKS_MAX) });
    else await this.#report([reported]);
    return null;
  }

  async postBid({ bid }: { bid: Bid }): Promise<string | null> {
    const signed = toSignedBid(this.#chain, bid);
    const more = toCriteria(bid.wanted);
    const rejections = await Promise.all(this.#followers.map((follower) => follower.postOrder(signed.terms, more)));
    const rejection = rejections.find((each) => each !== null);
    if (rejection !== undefined) return rejection;
    this.bids.set(signed.key, { ...signed, wanted: bid.wanted });
    return null;
  }

  /** Reports the listings that are due at this block, and repeats some earlier reports. */
  async advance(block: number): Promise<void> {
    this.#block = block;
    const due = this.#late.filter((one) => one.block <= block);
    this.#late = this.#late.filter((one) => one.block > block);
    const repeated = Array.from({ length: REPEATED_AT_ONCE }, () => this.#random.pick(this.#reported) ?? []).flat();
    await this.#report([...due, ...repeated]);
  }

  /** Forgets orders that expired more than `PRUNE_AGE_MS` ago, so that a long run does not compare more and more orders. */
  prune(now: number): void {
    for (const [key, { expiresAt }] of this.orders)
      if (expiresAt !== null && expiresAt < now - PRUNE_AGE_MS) this.orders.delete(key);
    for (const [key, { expiresAt }] of this.bids)
      if (expiresAt !== null && expiresAt < now - PRUNE_AGE_MS) this.bids.delete(key);
    this.#reported = this.#reported.filter(({ order }) => this.orders.has(order.key));
  }

  async #submit(order: SignedOrder): Promise<string | null> {
    if (!order.terms) throw new Error('an order without terms cannot be submitted');
    const { terms } = order;
    const rejections = await Promise.all(this.#followers.map((follower) => follower.postOrder(terms)));
    const rejection = rejections.find((each) => each !== null);
    if (rejection !== undefined) return rejection;
    this.orders.set(order.key, order);
    return null;
  }

  async #report(reported: readonly Reported[]): Promise<void> {
    if (reported.length === 0) return;
    const records = reported.map(({ record }) => record);
    await Promise.all(this.#followers.map((follower) => follower.postRecords(records)));
    for (const one of reported) {
      if (!this.orders.has(one.order.key)) this.#reported.push(one);
      this.orders.set(one.order.key, one.order);
    }
  }
}

/** The key of the order that a served row shows. The key does not contain the hash of the order, because rows have no hash. */
export function keyOfRow(collectionId: string, { source, tokenId, seller, price, expiresAt }: ServedListing): string {
  return [collectionId, source === null ? 'own' : 'mirror', tokenId, seller, price, expiresAt].join(' ');
}

function toSignedOrder(chain: string, { components, hash, signature, tokens }: Listing, book: SignedOrder['book']) {
  const [token] = tokens;
  if (!token || tokens.length > 1) throw new Error('a listing of the run must offer exactly one token');
  const collectionId = `${chain}_${token.contract}`;
  const sellers = components.consideration.filter(({ recipient }) => recipient === components.offerer);
  const received = sellers.reduce((sum, { startAmount }) => sum + startAmount, 0n);
  // An own row has the price that the seller receives for one unit. A mirrored row has the price that the marketplace reports.
  const price = (book === 'own' ? received + token.units - 1n : totalOf(components)) / token.units;
  const order: Omit<SignedOrder, 'key'> = {
    book,
    collectionId,
    contract: token.contract,
    tokenId: token.tokenId,
    standard: token.standard,
    seller: components.offerer,
    price,
    expiresAt: Number(components.endTime) * 1_000,
    protocol: SEAPORT_ADDRESS,
    hash,
    units: token.units,
    terms: { parameters: toWireComponents(components), signature },
    counter: components.counter,
    operator: operatorOf(components.conduitKey),
  };
  const row = {
    ...order,
    orderId: '',
    price,
    tokenId: token.tokenId.toString(),
    source: book === 'own' ? null : SOURCE,
  };
  return { ...order, key: keyOfRow(collectionId, row) };
}

/** The bid as the oracle knows it. A token that meets the bid is sold to it: the wanted one, any one, or one of the set. */
export function toSignedBid(chain: string, bid: Bid): SignedBid {
  const { components, hash, signature, wanted } = bid;
  const { contract, standard, units } = wanted;
  const fees = components.consideration.slice(1).reduce((sum, { startAmount }) => sum + startAmount, 0n);
  const price = unitPriceOf(bid);
  const [ofSet = 1n] = wanted.kind === 'trait' ? wanted.tokenIds : [];
  return {
    key: hash,
    collectionId: `${chain}_${contract}`,
    contract,
    standard,
    tokenId: wanted.kind === 'item' ? wanted.tokenId : null,
    isForAny: wanted.kind === 'collection',
    sold: {
      tokenId: wanted.kind === 'item' ? wanted.tokenId : ofSet,
      proof: wanted.kind === 'trait' ? toSetProof(wanted.tokenIds, ofSet) : [],
    },
    bidder: components.offerer,
    price,
    proceeds: price - fees / units,
    expiresAt: Number(components.endTime) * 1_000,
    protocol: SEAPORT_ADDRESS,
    units,
    terms: { parameters: toWireComponents(components), signature },
  };
}

/** Whether a bid can be met with a token. */
export function isBidFor(wanted: Wanted, tokenId: bigint): boolean {
  if (wanted.kind === 'item') return wanted.tokenId === tokenId;
  return wanted.kind === 'collection' || wanted.tokenIds.includes(tokenId);
}

/** The listing as a marketplace reports it. */
function toRecord(chain: string, { components, hash, tokens }: Listing): object {
  const [token] = tokens;
  const price = totalOf(components) / (token?.units ?? 1n);
  return {
    kind: 'listing',
    source: SOURCE,
    id: `${SOURCE}_${hash.slice(2, 34)}`,
    chain,
    contractAddress: token?.contract,
    tokenId: token?.tokenId.toString(),
    priceRaw: price.toString(),
    seller: components.offerer,
    orderHash: hash,
    operator: operatorOf(components.conduitKey),
    protocolAddress: SEAPORT_ADDRESS,
    counter: components.counter.toString(),
    quantity: token?.units.toString(),
    partial: components.orderType === PARTIAL_OPEN,
    timestamp: toTime(components.startTime),
    expiresAt: toTime(components.endTime),
  };
}

function toTime(seconds: bigint): string {
  return new Date(Number(seconds) * 1_000).toISOString();
}
