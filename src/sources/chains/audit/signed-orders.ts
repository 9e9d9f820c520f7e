// Reads the stored orders of a collection with their signed terms, for `mercat audit --fillable`. The command compares these orders with
// the chain. A bid has a token that meets it, with the Merkle proof for it if the bid names a set.

import { findChainCursor } from '../../../market/chain-log/queries/chain-cursors.ts';
import { OperatorError } from '../../../platform/core/errors.ts';
import type { Queryable } from '../../../platform/database/port.ts';
import { listTokensOfSet } from '../../../market/orders/queries/token-sets.ts';
import { toTokenProof } from '../../../market/orders/seaport/token-tree.ts';
import { readTogether } from '../../../platform/database/snapshot.ts';
import { findFollow } from '../../../market/follows/queries/follows.ts';
import type { ChainContext } from '../context.ts';
import type { SignedBidRow } from './queries/signed-orders.ts';
import { listUnendedListings, listUnexpiredBids, listUnexpiredOrders } from './queries/signed-orders.ts';

/** Prices, units and counters are decimal text; times are in milliseconds. */
export type AuditedBook = {
  chain: string;
  contract: string;
  standard: 'erc721' | 'erc1155';
  /** The last block that the service has read. */
  block: number;
  /** The hash of that block. */
  hash: string;
  /** False when some own orders or mirrored listings of the collection are missing. */
  isComplete: boolean;
  /** `source` is null for an own order. Other fields are null if the value is not known. */
  orders: {
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
  /** `sold`: a token that meets the bid, with the Merkle proof for it. `price` and `proceeds` are for one unit. */
  bids: {
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

/**
 * At most this many own asks of a collection are read, at most this many mirrored listings, and at most this many bids. If there are more, the rest is left out,
 * and `isComplete` is false.
 */
const ORDERS_MAX = 50_000;
/** The token that is sold to a bid for any token. It need not exist: the oracle replaces the contract of the token. */
const ANY_TOKEN = '1';

/** Throws OperatorError unless the collection is followed on its chain, its backfill is complete and its token standard is known. */
export async function readAuditedBook(
  context: ChainContext,
  collectionId: string,
  { ordersMax = ORDERS_MAX }: { ordersMax?: number } = {},
): Promise<AuditedBook> {
  const options = { now: context.clock(), limit: ordersMax + 1 };
  return readTogether(context, async ({ main, indexer }) => {
    const follow = await findFollow(main, collectionId);
    const cursor = follow?.joined ? await findChainCursor(main, follow.chain) : null;
    if (!follow?.standard || !cursor)
      throw new OperatorError(`${collectionId} is not followed on its chain, or has not caught up yet`);
    const own = await listUnexpiredOrders(main, collectionId, options);
    const mirrored = await listUnendedListings(indexer, collectionId, options);
    const bids = await listUnexpiredBids(main, collectionId, options);
    return {
      chain: follow.chain,
      contract: follow.contractAddress,
      standard: follow.standard,
      block: cursor.number,
      hash: cursor.hash,
      isComplete: [own, mirrored, bids].every(({ length }) => length <= ordersMax),
      orders: [
        ...own.slice(0, ordersMax).map((order) => ({ ...order, source: null, ...toWire(order) })),
        ...mirrored.slice(0, ordersMax).map((order) => ({ ...order, terms: null, ...toWire(order) })),
      ],
      bids: await toBids(main, collectionId, bids.slice(0, ordersMax)),
    };
  });
}

async function toBids(
  db: Queryable,
  collectionId: string,
  rows: readonly SignedBidRow[],
): Promise<AuditedBook['bids']> {
  const sold = new Map<string, AuditedBook['bids'][number]['sold']>();
  for (const root of new Set(rows.flatMap((row) => row.root ?? []))) {
    const tokenIds = await listTokensOfSet(db, collectionId, root);
    const [tokenId] = tokenIds;
    if (tokenId !== undefined) sold.set(root, { tokenId, proof: toTokenProof(tokenIds, tokenId) ?? [] });
  }
  return rows.map(({ root, price, proceeds, units, ...row }) => ({
    ...row,
    isForAny: row.tokenId === null && root === null,
    sold: sold.get(root ?? '') ?? { tokenId: row.tokenId ?? ANY_TOKEN, proof: [] },
    price: price.toString(),
    proceeds: proceeds.toString(),
    units: units.toString(),
  }));
}

function toWire({ price, units, counter }: { price: bigint; units: bigint; counter: bigint | null }) {
  return { price: price.toString(), units: units.toString(), counter: counter?.toString() ?? null };
}
