// Lands records of the kind `order`: those that carry their signature are what they say only if it verifies, and are judged by
// what the chain has told so far.

import type { NewOrder } from '../../orders/queries/book-orders.ts';
import { upsertOrders } from '../../orders/queries/book-orders.ts';
import { findChainCursor } from '../../chain-log/queries/chain-cursors.ts';
import type { Queryable } from '../../database/port.ts';
import { updateOrderStates } from '../../orders/queries/order-states.ts';
import { listOrderIdsByHash } from '../../orders/queries/signed-orders.ts';
import type { UpsertCounts } from '../../database/upsert.ts';
import { findOperator } from '../../orders/seaport/deployments.ts';
import { normalizeSignature } from '../../orders/seaport/signature.ts';
import { findSigningProtocol } from '../../orders/signatures.ts';
import type { Entry, LineRejection } from '../records/parse.ts';
import type { OrderClaim } from '../records/signed-order.ts';

/**
 * Verifies the orders among the entries, offline: a contract's signature is not taken here, because its chain may not be asked
 * for each line of a file. The rows of those that verify are completed; unsigned ones are taken as they are told.
 */
export async function verifyOrders(
  entries: readonly Entry[],
): Promise<{ verified: ReadonlySet<Entry>; forged: LineRejection[] }> {
  const verified = new Set<Entry>();
  const forged: LineRejection[] = [];
  for (const entry of entries) {
    const { record, line } = entry;
    if (record.kind !== 'order') continue;
    const { row } = record;
    const reason = row.claim ? await completeOrder(row, row.claim) : null;
    if (reason === null) verified.add(entry);
    else forged.push({ line, kind: 'order', reason });
  }
  return { verified, forged };
}

/** Fills in what the signature proves; returns why it proves nothing. */
async function completeOrder(row: NewOrder, claim: OrderClaim): Promise<string | null> {
  const { protocol } = findSigningProtocol(claim, claim.protocols);
  if (!protocol) return 'seaport.signature: is not the offerer’s under any known deployment of Seaport';
  const operator = findOperator(protocol, claim.order.conduitKey);
  if (operator === null) return 'seaport.parameters.conduitKey: the conduit cannot be known for this deployment';
  const signature = normalizeSignature(claim.signature, protocol.version);
  row.seaport = { parameters: row.seaport?.parameters ?? {}, signature };
  // The state of an order that has ended is as it was told: nothing derives it again.
  if (row.status !== 'active') return null;
  const { standard, quantity, buyerTotalRaw, counter, startsAt } = claim.terms;
  const { orderHash, order } = claim;
  row.signed = {
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
  return null;
}

/** Lands the orders among the entries, and judges the signed ones by what the chain has told. */
export async function ingestOrders(
  tx: Queryable,
  entries: readonly Entry[],
  now: number,
): Promise<{ counts: UpsertCounts; refused: LineRejection[] }> {
  const orders = entries.flatMap(({ line, record }) => (record.kind === 'order' ? [{ line, row: record.row }] : []));
  const signed = orders.flatMap(({ row }) =>
    row.signed ? [{ chain: row.chain, orderHash: row.signed.orderHash }] : [],
  );
  for (const chain of [...new Set(signed.map((order) => order.chain))].sort()) {
    await findChainCursor(tx, chain, 'for share');
  }
  const idsByHash = await listOrderIdsByHash(tx, signed);
  const accepted: NewOrder[] = [];
  const refused: LineRejection[] = [];
  for (const { line, row } of orders) {
    const hash = row.signed && `${row.chain} ${row.signed.orderHash}`;
    const known = hash === null ? undefined : idsByHash.get(hash);
    if (known !== undefined && known !== row.id) {
      refused.push({ line, kind: 'order', reason: `seaport: the order is in the book as ${known}` });
      continue;
    }
    if (hash !== null) idsByHash.set(hash, row.id);
    accepted.push(row);
  }
  const counts = await upsertOrders(tx, accepted);
  await updateOrderStates(
    tx,
    accepted.flatMap(({ id, signed: terms }) => (terms ? [id] : [])),
    now,
  );
  return { counts, refused };
}
