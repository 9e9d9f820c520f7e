// Parses the signed order in a record of the kind `order`, and compares its terms with the other fields of the record. The signature is
// verified later.

import type { Address } from '../../platform/core/address.ts';
import type { Chain } from '../../platform/core/chains.ts';
import type { ImportedOrder } from '../../market/orders/queries/imported-orders.ts';
import { listProtocols } from '../../market/orders/seaport/deployments.ts';
import type { ListingTerms } from '../../market/orders/seaport/listing.ts';
import type { Protocol, SeaportOrder } from '../../market/orders/seaport/order.ts';
import { hashOrder, parseSeaportOrder, toParameters } from '../../market/orders/seaport/order.ts';
import { parseListingTerms } from '../../market/orders/seaport/parse-terms.ts';
import { isSignatureText } from '../../market/orders/seaport/signature.ts';
import type { UnverifiedSignature } from '../../market/orders/signatures.ts';
import type { Fields } from './fields.ts';
import { readFields, readJson, readText, rejectField, requireField, URL_MAX } from './fields.ts';
import type { RecordContext } from './identifiers.ts';

/** A signed order whose signature is not verified yet. The signature must be valid for one of `protocols`. */
export type UnverifiedOrder = UnverifiedSignature & {
  order: SeaportOrder;
  parameters: object;
  terms: ListingTerms;
  protocols: readonly Protocol[];
};

/**
 * Reads the signed order of a record. Returns null if the record has none. Rejects the record if its fields contradict the signed terms.
 */
export function readSignedOrder(
  context: RecordContext,
  fields: Fields,
  { chain, row }: { chain: Chain; row: ImportedOrder },
): UnverifiedOrder | null {
  const seaport = readFields(fields, 'seaport');
  if (seaport === null) return null;
  const signature = requireField((from, name) => readText(from, name, URL_MAX), seaport, 'signature');
  if (!isSignatureText(signature)) rejectField(seaport, 'signature', 'must be 0x and bytes in hex');
  const parsed = parseSeaportOrder(requireField(readJson, seaport, 'parameters'));
  if (!parsed.order) {
    return rejectField(seaport, ['parameters', parsed.path].filter(Boolean).join('.'), parsed.reason);
  }
  const { order } = parsed;
  const protocols = listProtocols(chain, context.seaport);
  const [newest] = protocols;
  if (!newest) return rejectField(seaport, 'parameters', `no deployment of Seaport is known on ${chain.id}`);
  // The terms are checked as if the order had just started, so that an expired order can be imported.
  const now = Number(order.startTime) * 1_000;
  const listing = parseListingTerms(order, { protocol: newest, wrappedNative: chain.wrappedNative, now });
  if (!listing.terms) return rejectField(seaport, 'parameters', `${listing.code}: ${listing.message}`);
  const { terms } = listing;
  requireSameTerms(fields, row, { offerer: order.offerer, terms });
  const { offerer } = order;
  const parameters = toParameters(order);
  return { order, parameters, terms, protocols, offerer, orderHash: hashOrder(order), signature };
}

function requireSameTerms(
  fields: Fields,
  row: ImportedOrder,
  { offerer, terms }: { offerer: Address; terms: ListingTerms },
): void {
  const pairs: [field: string, recorded: unknown, signed: unknown][] = [
    ['contractAddress', row.contractAddress, terms.contractAddress],
    ['tokenId', row.tokenId, terms.tokenId],
    ['seller', row.seller, offerer],
    ['priceRaw', row.priceRaw, terms.askRaw],
    ['expiresAt', row.expiresAt ?? terms.expiresAt, terms.expiresAt],
  ];
  for (const [field, recorded, signed] of pairs) {
    if (recorded === signed) continue;
    const text = field === 'expiresAt' && typeof signed === 'number' ? new Date(signed).toISOString() : String(signed);
    rejectField(fields, field, `must be the value in the signed order: ${text}`);
  }
}
