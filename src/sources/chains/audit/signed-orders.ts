// Reads the stored orders of a collection with their signed terms, for `mercat audit --fillable`. The command compares these orders with
// the chain.

import { findChainCursor } from '../../../market/chain-log/queries/chain-cursors.ts';
import { OperatorError } from '../../../platform/core/errors.ts';
import { readTogether } from '../../../platform/database/snapshot.ts';
import { findFollow } from '../../../market/follows/queries/follows.ts';
import type { ChainContext } from '../context.ts';
import { listUnendedListings, listUnexpiredOrders } from './queries/signed-orders.ts';

/** Prices, units and counters are decimal text; times are in milliseconds. */
export type AuditedBook = {
  chain: string;
  contract: string;
  standard: 'erc721' | 'erc1155';
  /** The last block that the service has read. */
  block: number;
  /** The hash of that block. */
  hash: string;
  /** False when `orders` lacks some own orders or mirrored listings of the collection. */
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
};

/**
 * At most this many own orders of a collection are read, and at most this many mirrored listings. If there are more, the rest is left out,
 * and `isComplete` is false.
 */
const ORDERS_MAX = 50_000;

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
    return {
      chain: follow.chain,
      contract: follow.contractAddress,
      standard: follow.standard,
      block: cursor.number,
      hash: cursor.hash,
      isComplete: own.length <= ordersMax && mirrored.length <= ordersMax,
      orders: [
        ...own.slice(0, ordersMax).map((order) => ({ ...order, source: null, ...toWire(order) })),
        ...mirrored.slice(0, ordersMax).map((order) => ({ ...order, terms: null, ...toWire(order) })),
      ],
    };
  });
}

function toWire({ price, units, counter }: { price: bigint; units: bigint; counter: bigint | null }) {
  return { price: price.toString(), units: units.toString(), counter: counter?.toString() ?? null };
}
