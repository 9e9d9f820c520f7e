// The signed order within a record of the kind `order`: read, and held against what the record says beside it. Whether the
// signature verifies is for whoever lands the record.

import type { NewOrder } from '../../orders/queries/book-orders.ts';
import type { Address } from '../../core/address.ts';
import type { Chain } from '../../core/chains.ts';
import { listProtocols } from '../../orders/seaport/deployments.ts';
import type { ListingTerms } from '../../orders/seaport/listing.ts';
import { toListingTerms } from '../../orders/seaport/listing.ts';
import type { Protocol, SeaportOrder } from '../../orders/seaport/order.ts';
import { hashOrder, parseSeaportOrder, toParameters } from '../../orders/seaport/order.ts';
import { isSignatureText } from '../../orders/seaport/signature.ts';
import type { Fields } from './fields.ts';
import { readFields, readJson, readText, refuse, required, URL_MAX } from './fields.ts';
import type { Claim } from '../../orders/signatures.ts';
import type { RecordContext } from './identifiers.ts';

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
  const listed = toListingTerms(order, { protocol: newest, wrappedNative: chain.wrappedNative, now });
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
