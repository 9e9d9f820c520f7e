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

/** `fillable` is null if the calls to the chain do not decide it, for example because the order's operator is not known. */
export type Verdict = { fillable: boolean | null; reason: string };
