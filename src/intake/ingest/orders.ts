// Stores records of the kind `order`. A signed order is stored only if its signature is valid. The status of an active signed order is
// derived from the chain log. An order that has ended or has no signature keeps the status of its record.

import { isSliceOver, nextSlice } from '../../platform/core/slices.ts';
import type { Queryable } from '../../platform/database/port.ts';
import type { UpsertCounts } from '../../platform/database/upsert.ts';
import { lockChainsAndBooks } from '../../market/orders/book.ts';
import { evaluateOrders } from '../../market/orders/evaluate.ts';
import { toOrderKeyText } from '../../market/orders/order-id.ts';
import { refreshBookAssets } from '../../market/orders/queries/book-figures.ts';
import type { ImportedOrder } from '../../market/orders/queries/imported-orders.ts';
import { upsertOrders } from '../../market/orders/queries/imported-orders.ts';
import type { SignedTerms } from '../../market/orders/queries/stored-orders.ts';
import { listOrderIdsByHash } from '../../market/orders/queries/stored-orders.ts';
import { findOperator } from '../../market/orders/seaport/deployments.ts';
import type { Protocol } from '../../market/orders/seaport/order.ts';
import { normalizeSignature } from '../../market/orders/seaport/signature.ts';
import { findSigningProtocol } from '../../market/orders/signatures.ts';
import type { OrderRow } from '../records/items.ts';
import type { LineRejection, NumberedRecord } from '../records/parse.ts';
import type { UnverifiedOrder } from '../records/signed-order.ts';
import type { TrackChanges } from '../undo/change-log.ts';

/**
 * Verifies the signatures of the orders. `verified` has all records except the rejected orders, and adds the signed terms to each active
 * signed order. Signatures of contracts (ERC-1271) are rejected, because each would need a chain query.
 */
export async function verifyOrders(records: readonly NumberedRecord[]): Promise<{
  verified: NumberedRecord[];
  rejections: LineRejection[];
}> {
  const verified: NumberedRecord[] = [];
  const rejections: LineRejection[] = [];
  for (const entry of records) {
    const { line, record } = entry;
    if (record.kind !== 'order' || !record.row.unverified) {
      verified.push(entry);
      continue;
    }
    // A signature takes about a millisecond of CPU time.
    if (isSliceOver()) await nextSlice();
    const result = verifyOrder(record.row, record.row.unverified);
    if ('row' in result) verified.push({ line, record: { kind: 'order', row: result.row } });
    else rejections.push({ line, kind: 'order', reason: result.reason });
  }
  return { verified, rejections };
}

function verifyOrder(row: OrderRow, unverified: UnverifiedOrder): { row: OrderRow } | { reason: string } {
  const { order, protocols, parameters, signature } = unverified;
  const { protocol } = findSigningProtocol(unverified, protocols);
  if (!protocol) {
    return {
      reason: 'seaport.signature: is not a signature of this order by its offerer for any known deployment of Seaport',
    };
  }
  const operator = findOperator(protocol, order.conduitKey);
  if (operator === null) {
    return {
      reason: 'seaport.parameters.conduitKey: the conduit of this key is not known for this deployment of Seaport',
    };
  }
  const seaport = { parameters, signature: normalizeSignature(signature, protocol.version) };
  // An ended order keeps the status of its record: without signed terms, its status is not derived from the chain log.
  const signed = row.status === 'active' ? toSignedTerms(unverified, protocol, operator) : null;
  return { row: { ...row, seaport, signed, unverified: null } };
}

function toSignedTerms(
  { order, orderHash, terms }: UnverifiedOrder,
  protocol: Protocol,
  operator: SignedTerms['operator'],
): SignedTerms {
  const { standard, quantity, buyerTotalRaw, counter, startsAt } = terms;
  return {
    orderHash,
    protocolAddress: protocol.address,
    orderType: order.orderType,
    standard,
    quantity,
    buyerTotalRaw,
    counter,
    startsAt,
    operator,
  };
}

/** Writes the orders among the records, and derives the status of the active signed orders from the chain log. */
export async function ingestOrders(
  tx: Queryable,
  records: readonly NumberedRecord[],
  { now, track }: { now: number; track: TrackChanges },
): Promise<{ counts: UpsertCounts; rejections: LineRejection[] }> {
  const orders = records.flatMap(({ line, record }) => (record.kind === 'order' ? [{ line, row: record.row }] : []));
  // No block of these chains may be applied before the commit. Otherwise the evaluation below could miss the events of a new block, and the
  // application of that block could miss these uncommitted orders.
  await lockChainsAndBooks(
    tx,
    orders.map(({ row }) => row),
  );
  const { accepted, rejections } = await rejectStoredElsewhere(tx, orders);
  const ids = accepted.map(({ id }) => id);
  const counts = await track(tx, 'order', ids, async () => {
    const upserted = await upsertOrders(tx, accepted, now);
    const signedIds = accepted.flatMap(({ id, signed }) => (signed ? [id] : []));
    await evaluateOrders(tx, signedIds, now);
    return upserted;
  });
  await refreshBookAssets(
    tx,
    accepted.map(({ collectionId, tokenId: asset }) => ({ collectionId, asset })),
    now,
  );
  return { counts, rejections };
}

type OrderLine = { line: number; row: OrderRow };

/** Rejects a signed order that is already stored under another id, in the database or earlier in this batch. */
async function rejectStoredElsewhere(
  tx: Queryable,
  orders: readonly OrderLine[],
): Promise<{ accepted: ImportedOrder[]; rejections: LineRejection[] }> {
  const keyOf = ({ chain, signed }: OrderRow) => signed && { chain, orderHash: signed.orderHash };
  const idsByHash = await listOrderIdsByHash(
    tx,
    orders.flatMap(({ row }) => keyOf(row) ?? []),
  );
  const accepted: ImportedOrder[] = [];
  const rejections: LineRejection[] = [];
  for (const { line, row } of orders) {
    const key = keyOf(row);
    const hash = key && toOrderKeyText(key);
    const storedId = hash === null ? undefined : idsByHash.get(hash);
    if (storedId !== undefined && storedId !== row.id) {
      rejections.push({ line, kind: 'order', reason: `seaport: the order is already stored as ${storedId}` });
      continue;
    }
    if (hash !== null) idsByHash.set(hash, row.id);
    accepted.push(row);
  }
  return { accepted, rejections };
}
