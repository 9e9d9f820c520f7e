// Records of the kind `order`: those that carry their signature are what they say only if it verifies and says the same. Reading
// is offline and immediate, verifying is not, and landing judges them by what the chain has told so far.

import type { NewOrder } from '../db/book-orders.ts';
import { upsertOrders } from '../db/book-orders.ts';
import { findChainCursor } from '../db/chain-cursors.ts';
import type { Queryable } from '../db/database.ts';
import { updateOrderStates } from '../db/order-states.ts';
import { listOrderIdsByHash } from '../db/signed-orders.ts';
import type { UpsertCounts } from '../db/upsert.ts';
import type { Address } from '../domain/address.ts';
import type { Chain } from '../domain/chain.ts';
import { findOperator, listProtocols } from '../domain/seaport/deployments.ts';
import type { ListingTerms } from '../domain/seaport/listing.ts';
import { toListingTerms } from '../domain/seaport/listing.ts';
import type { Protocol, SeaportOrder } from '../domain/seaport/order.ts';
import { hashOrder, parseSeaportOrder, toParameters } from '../domain/seaport/order.ts';
import { isSignatureText, normalizeSignature } from '../domain/seaport/signature.ts';
import { findWrappedNative } from '../domain/wrapped-native.ts';
import type { Fields } from './fields.ts';
import { readFields, readJson, readText, refuse, required, URL_MAX } from './fields.ts';
import type { Entry, LineRefusal } from './land.ts';
import type { Claim } from './order-signatures.ts';
import { findSigningProtocol } from './order-signatures.ts';
import type { RecordContext } from './subject.ts';

/** A signature that is still to be verified, and what it would bind. */
export type OrderClaim = Claim & { order: SeaportOrder; terms: ListingTerms; protocols: readonly Protocol[] };

type Told = Omit<NewOrder, 'seaport' | 'signed'>;

/** The signed order of a record, if it has one: it has to say what the record says. */
export function readSignedOrder(
  context: RecordContext,
  fields: Fields,
  { chain, told }: { chain: Chain; told: Told },
): { seaport: NewOrder['seaport']; claim: OrderClaim; expiresAt: number | null } | null {
  const seaport = readFields(fields, 'seaport');
  if (seaport === null) return null;
  const signature = required((from, name) => readText(from, name, URL_MAX), seaport, 'signature');
  if (!isSignatureText(signature)) refuse(seaport, 'signature', 'must be 0x and bytes in hex');
  const parsed = parseSeaportOrder(required(readJson, seaport, 'parameters'));
  if (!parsed.order) return refuse(seaport, ['parameters', parsed.path].filter(Boolean).join('.'), parsed.reason);
  const { order } = parsed;
  const protocols = listProtocols(chain, context.seaport ?? new Map());
  const [newest] = protocols;
  if (!newest) return refuse(seaport, 'parameters', `no deployment of Seaport is known on ${chain.id}`);
  // Judged as of its beginning: an order of the past is as good a record as one of today.
  const now = Number(order.startTime) * 1_000;
  const listed = toListingTerms(order, { protocol: newest, wrappedNative: findWrappedNative(chain), now });
  if (!listed.terms) return refuse(seaport, 'parameters', `${listed.code}: ${listed.message}`);
  const { terms } = listed;
  requireSame(fields, told, order.offerer, terms);
  return {
    seaport: { parameters: toParameters(order), signature },
    claim: { order, terms, protocols, offerer: order.offerer, orderHash: hashOrder(order), signature },
    expiresAt: terms.expiresAt,
  };
}

function requireSame(fields: Fields, told: Told, offerer: Address, terms: ListingTerms): void {
  const pairs: [string, unknown, unknown][] = [
    ['contractAddress', told.contractAddress, terms.contractAddress],
    ['tokenId', told.tokenId, terms.tokenId],
    ['seller', told.seller, offerer],
    ['priceRaw', told.priceRaw, terms.askRaw],
    ['expiresAt', told.expiresAt ?? terms.expiresAt, terms.expiresAt],
  ];
  for (const [name, said, signed] of pairs) {
    if (said === signed) continue;
    const shown = name === 'expiresAt' && typeof signed === 'number' ? new Date(signed).toISOString() : String(signed);
    refuse(fields, name, `the signed order says ${shown}`);
  }
}

/**
 * Verifies the orders among the entries, offline: a contract's signature is not taken here, because its chain may not be asked
 * for each line of a file. The rows of those that verify are completed; unsigned ones are taken as they are told.
 */
export async function verifyOrders(
  entries: readonly Entry[],
): Promise<{ verified: ReadonlySet<Entry>; forged: LineRefusal[] }> {
  const verified = new Set<Entry>();
  const forged: LineRefusal[] = [];
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
  const { protocol } = await findSigningProtocol(claim, claim.protocols);
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
export async function landOrders(
  tx: Queryable,
  entries: readonly Entry[],
  now: number,
): Promise<{ counts: UpsertCounts; refused: LineRefusal[] }> {
  const orders = entries.flatMap(({ line, record }) => (record.kind === 'order' ? [{ line, row: record.row }] : []));
  const signed = orders.flatMap(({ row }) =>
    row.signed ? [{ chain: row.chain, orderHash: row.signed.orderHash }] : [],
  );
  for (const chain of [...new Set(signed.map((order) => order.chain))].sort()) {
    await findChainCursor(tx, chain, 'for share');
  }
  const idsByHash = await listOrderIdsByHash(tx, signed);
  const accepted: NewOrder[] = [];
  const refused: LineRefusal[] = [];
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
