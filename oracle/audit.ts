// Compares the listings and bids of a running service with the chain, while both change. A collection with differences is compared again, up to
// five times. Its differences are reported only if every comparison has found differences.

import { setTimeout as delay } from 'node:timers/promises';
import { askBidVerdicts, askVerdicts } from './chain-verdicts.ts';
import { compareBids } from './compare-bids.ts';
import type { Compared, Finding } from './compare.ts';
import { addUp, compareListings } from './compare.ts';
import type { Endpoint } from './rpc.ts';
import { EndpointFailure } from './rpc.ts';
import type { SeaportTerms } from './seaport-calls.ts';
import type { ServedApi, ServedListing } from './served.ts';
import type { SignedBid, SignedOrder } from './signed-order.ts';

/** The orders that the service stores for a collection, at one block: integers as decimal text, times in milliseconds. */
export type StoredBook = {
  contract: string;
  standard: 'erc721' | 'erc1155';
  block: number;
  hash: string;
  /** False if the collection has more orders than the service returns. */
  isComplete: boolean;
  orders: readonly {
    orderId: string;
    source: string | null;
    tokenId: string;
    seller: string;
    price: string;
    expiresAt: number | null;
    protocol: string | null;
    orderHash: string | null;
    units: string;
    counter: string | null;
    operator: string | null;
    terms: unknown;
  }[];
  /** `sold`: a token that meets the bid, with the Merkle proof for it. Prices and proceeds are for one unit. */
  bids: readonly {
    orderHash: string;
    tokenId: string | null;
    isForAny: boolean;
    sold: { tokenId: string; proof: readonly string[] };
    bidder: string;
    price: string;
    proceeds: string;
    expiresAt: number | null;
    protocol: string;
    units: string;
    terms: unknown;
  }[];
};

export type FillableAudit = {
  collections: number;
  listings: number;
  bids: number;
  /** Orders that cannot be filled, and are not served. */
  rightlyAbsent: number;
  /** Orders of which too little is known, or that are about to expire. */
  undecided: number;
  /**
   * Collections that could not be compared. Possible reasons: too many orders, too frequent blocks, a failed source of the service, or a
   * block that the endpoint lacks.
   */
  uncompared: string[];
  /** The collections among `uncompared` that have more orders than the service returns. */
  tooLarge: string[];
  findings: (Finding & { block: number })[];
};

export type FillableAuditOptions = {
  api: ServedApi;
  endpoint: Endpoint;
  collectionIds: readonly string[];
  readBook: (collectionId: string) => Promise<StoredBook>;
  clock: () => number;
};

/** The maximum number of comparisons of one collection. After a comparison without differences, the collection is not compared again. */
const ATTEMPTS_MAX = 5;
/** The time between two comparisons of a collection. */
const PAUSE_MS = 1_500;

export async function auditFillable(options: FillableAuditOptions): Promise<FillableAudit> {
  const audit: FillableAudit = {
    collections: 0,
    listings: 0,
    bids: 0,
    rightlyAbsent: 0,
    undecided: 0,
    uncompared: [],
    tooLarge: [],
    findings: [],
  };
  for (const collectionId of options.collectionIds) {
    const result = await compareRepeatedly(options, collectionId);
    const compared = result === 'too-large' ? null : result;
    audit.collections += 1;
    if (!compared) audit.uncompared.push(collectionId);
    if (result === 'too-large') audit.tooLarge.push(collectionId);
    audit.listings += compared?.listings ?? 0;
    audit.bids += compared?.bids ?? 0;
    audit.rightlyAbsent += compared?.rightlyAbsent ?? 0;
    audit.undecided += compared?.undecided ?? 0;
    audit.findings.push(...(compared?.findings ?? []).map((finding) => ({ ...finding, block: compared?.block ?? 0 })));
  }
  return audit;
}

type ComparedAt = Compared & { block: number };

/** `too-large`: the service does not return all orders of the collection. Null: the collection could not be compared for another reason. */
type Comparison = ComparedAt | 'too-large' | null;

async function compareRepeatedly(options: FillableAuditOptions, collectionId: string): Promise<Comparison> {
  let last: ComparedAt | null = null;
  for (let attempts = 0; attempts < ATTEMPTS_MAX; attempts += 1) {
    if (attempts > 0) await delay(PAUSE_MS);
    const compared = await compareOnce(options, collectionId);
    if (compared === 'too-large' || compared?.findings.length === 0) return compared;
    last = compared ?? last;
  }
  return last;
}

/** Compares a collection. Null if its listings, its orders and the chain could not all be read at one block. */
async function compareOnce(options: FillableAuditOptions, collectionId: string): Promise<Comparison> {
  const { api, endpoint, readBook, clock } = options;
  const book = await readBook(collectionId);
  // In an incomplete book the order of a served listing may be missing. Such a listing would be reported as unknown.
  if (!book.isComplete) return 'too-large';
  const readFrom = clock();
  const { rows, isComplete } = await api.listings(collectionId);
  const bidRows = await api.bids(collectionId);
  const readTo = clock();
  // If the service has read another block meanwhile, the rows may be from before or after that block.
  if (!isComplete || (await readBook(collectionId)).hash !== book.hash) return null;
  const orders = book.orders.map((order) => toSignedOrder(collectionId, book, order));
  const bids = book.bids.map((bid) => toSignedBid(collectionId, book, bid));
  try {
    const verdicts = await askVerdicts(endpoint, orders, book.block);
    const bidVerdicts = await askBidVerdicts(endpoint, bids, book.block);
    if ((await endpoint.header(book.block))?.hash !== book.hash) return null;
    const compared = compareListings({ collectionId, rows, orders, verdicts, keyOf, readFrom, readTo });
    const comparedBids = compareBids({
      collectionId,
      rows: bidRows,
      bids,
      verdicts: bidVerdicts,
      // A top bid may be a bid that another marketplace has reported.
      topBids: [],
      isFor: () => false,
      readFrom,
      readTo,
    });
    return { ...addUp(compared, comparedBids), block: book.block };
  } catch (error) {
    if (error instanceof EndpointFailure) return null;
    throw error;
  }
}

function keyOf({ source, orderId }: Pick<ServedListing, 'source' | 'orderId'>): string {
  return `${source ?? ''} ${orderId}`;
}

function toSignedOrder(
  collectionId: string,
  { contract, standard }: StoredBook,
  order: StoredBook['orders'][number],
): SignedOrder {
  return {
    key: keyOf(order),
    book: order.source === null ? 'own' : 'mirror',
    collectionId,
    contract,
    tokenId: BigInt(order.tokenId),
    standard,
    seller: order.seller,
    price: BigInt(order.price),
    expiresAt: order.expiresAt,
    protocol: order.protocol,
    hash: order.orderHash,
    units: BigInt(order.units),
    terms: order.protocol === null ? null : (order.terms as SeaportTerms | null),
    counter: order.counter === null ? null : BigInt(order.counter),
    operator: order.operator,
  };
}

function toSignedBid(
  collectionId: string,
  { contract, standard }: StoredBook,
  { orderHash, tokenId, sold, price, proceeds, units, terms, ...bid }: StoredBook['bids'][number],
): SignedBid {
  return {
    ...bid,
    key: orderHash,
    collectionId,
    contract,
    standard,
    tokenId: tokenId === null ? null : BigInt(tokenId),
    sold: { tokenId: BigInt(sold.tokenId), proof: sold.proof },
    price: BigInt(price),
    proceeds: BigInt(proceeds),
    units: BigInt(units),
    terms: terms as SeaportTerms,
  };
}
