// A signed order as the oracle knows it, and the verdict of the chain on the order.

import type { SeaportTerms } from './seaport-calls.ts';

export type SignedOrder = {
  /** Identifies the order among all orders that the oracle compares. */
  key: string;
  book: 'own' | 'mirror';
  collectionId: string;
  contract: string;
  tokenId: bigint;
  standard: 'erc721' | 'erc1155';
  seller: string;
  /** The price that `/v1` should show, in base units. Null if it is not compared. */
  price: bigint | null;
  /** Milliseconds. Null for an order that does not expire. */
  expiresAt: number | null;
  /** The address of the Seaport deployment. Null if the marketplace did not report it. */
  protocol: string | null;
  /** The hash of the order. Null if the marketplace did not report it. */
  hash: string | null;
  /** The units that are offered. */
  units: bigint;
  /** The signed terms. Null if they are not known. */
  terms: SeaportTerms | null;
  counter: bigint | null;
  /** The account that must be approved to transfer the token: Seaport, or a conduit. Null if it is not known. */
  operator: string | null;
};

/** A signed bid as the oracle knows it. */
export type SignedBid = {
  /** The hash of the order. */
  key: string;
  collectionId: string;
  contract: string;
  standard: 'erc721' | 'erc1155';
  /** The token that is wanted; null if several tokens meet the bid. */
  tokenId: bigint | null;
  /** Whether any token of the collection meets the bid. */
  isForAny: boolean;
  /** A token that meets the bid, and the Merkle proof for it. The proof is empty unless the bid names a set. */
  sold: { tokenId: bigint; proof: readonly string[] };
  bidder: string;
  /** What the bidder pays for one unit, and what the seller keeps of it. In base units. */
  price: bigint;
  proceeds: bigint;
  /** Milliseconds. Null for a bid that does not expire. */
  expiresAt: number | null;
  /** The address of the Seaport deployment. */
  protocol: string;
  /** The units that are wanted. */
  units: bigint;
  terms: SeaportTerms;
};

/** The verdict on a bid: `fillable` is whether one unit can be sold to it. `filled`: the units that were sold to it; null if that could not be read. */
export type BidVerdict = Verdict & { filled: bigint | null };

/** `fillable` is null if the calls to the chain do not decide it, for example because the order's operator is not known. */
export type Verdict = { fillable: boolean | null; reason: string };
