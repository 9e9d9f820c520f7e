// The changes of the market that the activity log records. docs/explore.md describes the kinds.

/**
 * The kinds from `list` to `revalidate` are changes of asks, except `sale` and `fill`, which both sides have. The kinds from `bid` on are changes of bids;
 * `bid`: a bid was made, or a part of its units was filled. `fill`: an order has ended because it was filled. The sale is a change of its own, because the order and the sale may be stored in
 * different databases at different times. `reorg`: earlier changes are taken back. `remove`: a collection was removed from the service, with its
 * orders, listings, sales, tokens and earlier changes.
 */
export const ACTIVITY_KINDS = [
  'mint',
  'transfer',
  'burn',
  'list',
  'reprice',
  'sale',
  'fill',
  'cancel',
  'expire',
  'invalidate',
  'revalidate',
  'bid',
  'bid-cancel',
  'bid-expire',
  'bid-invalidate',
  'bid-revalidate',
  'floor',
  'reorg',
  'remove',
] as const;

export type ActivityKind = (typeof ACTIVITY_KINDS)[number];

/** The schema in whose transaction a change is recorded. */
export type ChangeOrigin = 'main' | 'indexer';

/** A change to record. `at` in milliseconds. A field that a change of this kind does not have is left out. */
export type MarketChange = {
  kind: ActivityKind;
  at: number;
  chain: string;
  collectionId?: string;
  asset?: string | null;
  priceRaw?: bigint | null;
  from?: string | null;
  to?: string | null;
  orderId?: string | null;
  marketplace?: string | null;
  tx?: string | null;
  reason?: string | null;
  /** The block from which the change was read. For a reorganisation: the last block that is still part of the chain. */
  blockNumber?: number | null;
  /** The position of the event in its block. */
  logIndex?: number | null;
  /** The units that were transferred. */
  quantity?: bigint | null;
  /** Identifies what this change records, such as a transfer. A later change of the kind `reorg` can take this change back by this text. */
  fact?: string | null;
  /**
   * For the kind `reorg`: the facts that are taken back. A `reorg` with a block number has no facts: it takes back the changes of all later
   * blocks.
   */
  facts?: readonly string[];
};
