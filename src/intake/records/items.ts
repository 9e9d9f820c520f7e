// Records about single assets: own orders, mirrored listings, sales, tokens.

import type { NewOrder } from '../../orders/queries/book-orders.ts';
import type { NewListing } from '../../market/queries/listings.ts';
import type { NewSale } from '../../market/queries/sales.ts';
import type { NewToken } from '../../market/queries/tokens.ts';
import type { Address } from '../../core/address.ts';
import { parseAmount } from '../../core/amount.ts';
import type { Chain } from '../../core/chains.ts';
import { LISTING_STATUSES, toOrderId } from '../../orders/order-id.ts';
import type { Fields } from './fields.ts';
import {
  readAmount,
  readInteger,
  readName,
  readText,
  readTime,
  readWord,
  refuse,
  required,
  URL_MAX,
} from './fields.ts';
import { toDigest, toSaleKey } from '../../market/row-keys.ts';
import type { OrderClaim } from './signed-order.ts';
import { readSignedOrder } from './signed-order.ts';
import type { RecordContext } from './identifiers.ts';
import { readAddress, readAsset, readHash, readSource, readSubject } from './identifiers.ts';

/** The column is an integer. */
const LOG_INDEX_MAX = 2 ** 31 - 1;

/** A row of the indexer with the address as written, which on Solana says more than the collection id. */
export type Observed<R> = R & { contractAddress: Address };

export function toOrder(context: RecordContext, fields: Fields): NewOrder & { claim: OrderClaim | null } {
  const { chain, contractAddress, collectionId } = readSubject(context, fields);
  if (chain.family !== 'evm') {
    refuse(fields, 'chain', `an own row on ${chain.id} is a listing with the source ${context.serviceName}`);
  }
  const tokenId = readAsset(chain, fields);
  const createdAt = required(readTime, fields, 'createdAt');
  const told = {
    id: toOrderId(chain.id, contractAddress, tokenId, createdAt),
    collectionId,
    chain: chain.id,
    contractAddress,
    tokenId,
    priceRaw: required(readAmount, fields, 'priceRaw'),
    seller: readSeller(chain, fields),
    status: readStatus(fields),
    createdAt,
    expiresAt: readTime(fields, 'expiresAt'),
    tx: readHash(fields, 'tx'),
    signed: null,
  };
  const signed = readSignedOrder(context, fields, { chain, told });
  return signed ? { ...told, ...signed } : { ...told, seaport: null, claim: null };
}

export function toListing(context: RecordContext, fields: Fields): Observed<NewListing> {
  const source = readSource(fields);
  const { chain, contractAddress, collectionId } = readSubject(context, fields);
  const own = source === context.serviceName;
  if (own && chain.family === 'evm') refuse(fields, 'source', `an own row on ${chain.id} is an order, not a listing`);
  const asset = readAsset(chain, fields);
  const priceRaw = required(readAmount, fields, 'priceRaw');
  const seller = readSeller(chain, fields);
  const listedAt = required(readTime, fields, 'timestamp');
  const told =
    readName(fields, 'id') ?? toDigest(['listing', source, collectionId, asset, seller, priceRaw.toString(), listedAt]);
  const id = own ? toOwnId(context, told) : told;
  return {
    key: toDigest(['listing', source, id]),
    id,
    source,
    chain: chain.id,
    collectionId,
    contractAddress,
    asset,
    priceRaw,
    buyerTotalRaw: readAmount(fields, 'buyerTotalRaw'),
    seller,
    orderHash: readHash(fields, 'orderHash'),
    status: readStatus(fields),
    listedAt,
    expiresAt: readTime(fields, 'expiresAt'),
    tx: readHash(fields, 'tx'),
  };
}

export function toSale(context: RecordContext, fields: Fields): Observed<NewSale> {
  const source = readSource(fields);
  const { chain, contractAddress, collectionId } = readSubject(context, fields);
  const asset = readAsset(chain, fields);
  const price = required(readName, fields, 'price');
  const listingId = readName(fields, 'listingId');
  const sale = {
    source,
    chain: chain.id,
    collectionId,
    contractAddress,
    asset,
    price,
    priceRaw: parseAmount(price),
    seller: readParty(chain, fields, 'seller'),
    buyer: readParty(chain, fields, 'buyer'),
    soldAt: required(readTime, fields, 'timestamp'),
    listingId:
      listingId !== null && source === context.serviceName && chain.family === 'solana'
        ? toOwnId(context, listingId)
        : listingId,
    tx: readHash(fields, 'tx'),
    logIndex: readInteger(fields, 'logIndex', { max: LOG_INDEX_MAX }),
  };
  return { key: toSaleKey(sale), ...sale };
}

const SHORT_EVM_ADDRESS = /^0x[0-9a-f]{1,39}$/i;

/**
 * A party to a past sale. Some sources drop the leading zeros of EVM addresses: like its price, a sale's parties are history,
 * kept as they were told rather than mended or lost.
 */
function readParty(chain: Chain, fields: Fields, name: string): string | null {
  const text = readText(fields, name);
  if (text !== null && chain.family === 'evm' && SHORT_EVM_ADDRESS.test(text)) return text.toLowerCase();
  return readAddress(chain, fields, name);
}

export function toToken(context: RecordContext, fields: Fields): Observed<NewToken> {
  const { chain, contractAddress, collectionId } = readSubject(context, fields);
  return {
    collectionId,
    contractAddress,
    asset: readAsset(chain, fields),
    chain: chain.id,
    name: readText(fields, 'name'),
    image: readText(fields, 'image', URL_MAX),
    rarityRank: readInteger(fields, 'rarityRank', { min: 1 }),
    owner: readAddress(chain, fields, 'owner'),
  };
}

function readSeller(chain: Chain, fields: Fields): Address {
  return required((from, name) => readAddress(chain, from, name), fields, 'seller');
}

function readStatus(fields: Fields): (typeof LISTING_STATUSES)[number] {
  return readWord(fields, 'status', LISTING_STATUSES) ?? 'active';
}

/** The id of an own row on Solana carries the service's prefix, once. */
function toOwnId(context: RecordContext, id: string): string {
  const prefix = `${context.serviceName}_`;
  return id.startsWith(prefix) ? id : `${prefix}${id}`;
}
