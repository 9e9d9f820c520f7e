// Parses records about single tokens: orders of this service, mirrored listings, sales, and tokens.

import type { Address } from '../../platform/core/address.ts';
import { parseAmount } from '../../platform/core/amount.ts';
import type { Chain } from '../../platform/core/chains.ts';
import { toKnownAccount } from '../../platform/core/sale-text.ts';
import type { NewListing } from '../../market/index/queries/listing-writes.ts';
import type { NewSale } from '../../market/index/queries/sales.ts';
import type { NewToken } from '../../market/index/queries/tokens.ts';
import { toDigest, toSaleKey } from '../../market/index/row-keys.ts';
import type { ListingStatus } from '../../market/orders/order-id.ts';
import { LISTING_STATUSES, toOrderId } from '../../market/orders/order-id.ts';
import type { ImportedOrder } from '../../market/orders/queries/imported-orders.ts';
import type { Fields } from './fields.ts';
import {
  checkLeadingZeros,
  readAmount,
  readBoolean,
  readEnum,
  readInteger,
  readName,
  readText,
  readTimestamp,
  rejectField,
  requireField,
  URL_MAX,
} from './fields.ts';
import type { RecordContext } from './identifiers.ts';
import {
  readAddress,
  readAsset,
  readCollectionLocation,
  readHashText,
  readSoldAsset,
  readSource,
  readTransactionId,
} from './identifiers.ts';
import type { UnverifiedOrder } from './signed-order.ts';
import { readSignedOrder } from './signed-order.ts';
import { readTraitList } from './traits.ts';

/** The largest log index that fits into its database column of the type `integer`. */
const LOG_INDEX_MAX = 2 ** 31 - 1;

/**
 * A row with the contract address of its record. On Solana the address cannot be derived from the collection id, because the id is in lower
 * case and addresses are case-sensitive.
 */
export type WithWrittenAddress<R> = R & { contractAddress: Address };

/**
 * `unverified` is the signed order of the record until its signature is verified. Null after that, and for a record without a signed order.
 */
export type OrderRow = ImportedOrder & { unverified: UnverifiedOrder | null };

export function parseOrderRecord(context: RecordContext, fields: Fields): OrderRow {
  const { chain, contractAddress, collectionId } = readCollectionLocation(context, fields);
  if (chain.family !== 'evm') {
    rejectField(
      fields,
      'chain',
      `orders are for EVM chains only: on ${chain.id}, import a listing with the source ${context.serviceName}`,
    );
  }
  const tokenId = readAsset(chain, fields);
  const createdAt = requireField(readTimestamp, fields, 'createdAt');
  const row = {
    id: toOrderId(chain.id, contractAddress, tokenId, createdAt),
    collectionId,
    chain: chain.id,
    contractAddress,
    tokenId,
    priceRaw: requireField(readAmount, fields, 'priceRaw'),
    seller: readSeller(chain, fields),
    createdAt,
    expiresAt: readTimestamp(fields, 'expiresAt'),
    ...readEnd(fields),
    tx: readTransactionId(chain, fields, 'tx'),
    seaport: null,
    signed: null,
  };
  const unverified = readSignedOrder(context, fields, { chain, row });
  return { ...row, expiresAt: unverified ? unverified.terms.expiresAt : row.expiresAt, unverified };
}

export function parseListingRecord(context: RecordContext, fields: Fields): WithWrittenAddress<NewListing> {
  const source = readSource(fields);
  const { chain, contractAddress, collectionId } = readCollectionLocation(context, fields);
  const own = source === context.serviceName;
  if (own && chain.family === 'evm') {
    rejectField(fields, 'source', `on ${chain.id}, a listing of ${source} itself must be a record of the kind order`);
  }
  const asset = readAsset(chain, fields);
  const priceRaw = requireField(readAmount, fields, 'priceRaw');
  const seller = readSeller(chain, fields);
  const listedAt = requireField(readTimestamp, fields, 'timestamp');
  const digest = toDigest(['listing', source, collectionId, asset, seller, priceRaw.toString(), listedAt]);
  const digestId = `${source}_${digest}`;
  const writtenId = readName(fields, 'id') ?? digestId;
  const id = own ? toOwnId(context, writtenId) : writtenId;
  return {
    // Earlier versions stored the digest alone as the id. Its key is kept, so that a row of such a version is found again.
    key: toDigest(['listing', source, !own && id === digestId ? digest : id]),
    id,
    source,
    chain: chain.id,
    collectionId,
    contractAddress,
    asset,
    priceRaw,
    buyerTotalRaw: readAmount(fields, 'buyerTotalRaw'),
    seller,
    orderHash: readHashText(fields, 'orderHash'),
    listedAt,
    expiresAt: readTimestamp(fields, 'expiresAt'),
    ...readEnd(fields),
    tx: readTransactionId(chain, fields, 'tx'),
    operator: readAddress(chain, fields, 'operator'),
    protocolAddress: readAddress(chain, fields, 'protocolAddress'),
    counter: readAmount(fields, 'counter'),
    quantity: readUnitCount(fields),
    partial: readBoolean(fields, 'partial'),
  };
}

export function readUnitCount(fields: Fields): bigint | null {
  const quantity = readAmount(fields, 'quantity');
  return quantity === 0n ? rejectField(fields, 'quantity', 'must be at least 1') : quantity;
}

export function parseSaleRecord(context: RecordContext, fields: Fields): WithWrittenAddress<NewSale> {
  const source = readSource(fields);
  const { chain, contractAddress, collectionId } = readCollectionLocation(context, fields);
  const asset = readSoldAsset(chain, fields);
  const price = requireField(readName, fields, 'price');
  checkLeadingZeros(fields, 'price', price);
  const listingId = readName(fields, 'listingId');
  const written = {
    source,
    chain: chain.id,
    collectionId,
    contractAddress,
    asset,
    price,
    priceRaw: parseAmount(price),
    seller: readParty(chain, fields, 'seller'),
    buyer: readParty(chain, fields, 'buyer'),
    soldAt: requireField(readTimestamp, fields, 'timestamp'),
    listingId:
      listingId !== null && source === context.serviceName && chain.family === 'solana'
        ? toOwnId(context, listingId)
        : listingId,
    tx: readTransactionId(chain, fields, 'tx'),
    logIndex: readInteger(fields, 'logIndex', { max: LOG_INDEX_MAX }),
  };
  // The key includes the accounts as they were written, so that it is the key of the same record in an earlier version.
  const [seller, buyer] = [toKnownAccount(written.seller), toKnownAccount(written.buyer)];
  return { key: toSaleKey(written), ...written, seller, buyer };
}

const SHORT_EVM_ADDRESS = /^0x[0-9a-f]{1,39}$/i;
const EVM_ADDRESS_LENGTH = 42;

/**
 * Reads the seller or buyer of a past sale. Some marketplaces drop the leading zeros of EVM addresses. A record with a short address is not
 * rejected, so that the sale is not lost. The short address is stored in lower case. It is not padded, because the missing digits are not
 * certain.
 */
function readParty(chain: Chain, fields: Fields, name: string): string | null {
  const text = readText(fields, name);
  const isShort = text !== null && text.length < EVM_ADDRESS_LENGTH && SHORT_EVM_ADDRESS.test(text);
  if (isShort && chain.family === 'evm') return text.toLowerCase();
  return readAddress(chain, fields, name);
}

export function parseTokenRecord(
  context: RecordContext,
  fields: Fields,
): WithWrittenAddress<Omit<NewToken, 'raritySource'>> {
  const { chain, contractAddress, collectionId } = readCollectionLocation(context, fields);
  return {
    collectionId,
    contractAddress,
    asset: readAsset(chain, fields),
    chain: chain.id,
    name: readText(fields, 'name'),
    image: readText(fields, 'image', URL_MAX),
    rarityRank: readInteger(fields, 'rarityRank', { min: 1 }),
    owner: readAddress(chain, fields, 'owner'),
    traits: readTraitList(fields, 'traits'),
  };
}

function readSeller(chain: Chain, fields: Fields): Address {
  return requireField((from, name) => readAddress(chain, from, name), fields, 'seller');
}

/** Reads how a listing, an order or a bid has ended. */
export function readEnd(fields: Fields): { status: ListingStatus; endedAt: number | null } {
  const status = readEnum(fields, 'status', LISTING_STATUSES) ?? 'active';
  const endedAt = readTimestamp(fields, 'endedAt');
  if (status === 'active' && endedAt !== null)
    rejectField(fields, 'endedAt', 'must not be given with the status active');
  return { status, endedAt };
}

/** Returns the id of this service's own listing on Solana. If `id` does not begin with the service's name, the name is put before it. */
function toOwnId(context: RecordContext, id: string): string {
  const prefix = `${context.serviceName}_`;
  return id.startsWith(prefix) ? id : `${prefix}${id}`;
}
