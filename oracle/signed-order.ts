// A signed order as the oracle knows it, and what the chain says about it.

import type { SeaportTerms } from './seaport-calls.ts';

export type SignedOrder = {
  /** Identifies the order among those that a service may serve. */
  key: string;
  book: 'own' | 'mirror';
  collectionId: string;
  contract: string;
  tokenId: bigint;
  standard: 'erc721' | 'erc1155';
  seller: string;
  /** The price that `/v1` should show, in base units; null when it is not compared. */
  price: bigint | null;
  /** Milliseconds; null for an order that does not expire. */
  expiresAt: number | null;
  /** The Seaport deployment and the hash. Null where only a marketplace knows them. */
  protocol: string | null;
  hash: string | null;
  /** The units that are offered. */
  units: bigint;
  /** The signed terms. Null where they are not known. */
  terms: SeaportTerms | null;
  counter: bigint | null;
  /** The account that must be allowed to move the token: Seaport, or a conduit. Null when it is not known. */
  operator: string | null;
};

/** `fillable` is null when the chain could not be asked, or when what is known of the order does not suffice. */
export type Verdict = { fillable: boolean | null; reason: string };
