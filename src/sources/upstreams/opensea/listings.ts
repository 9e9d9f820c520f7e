// Converts OpenSea's listings of a collection to records. A row is accepted only if its token, currency and price agree with the signed
// order in the row. The seller is taken from the order.

import type { Address } from '../../../platform/core/address.ts';
import type { Hex } from '../../../platform/core/evm.ts';
import { isPartialOrder } from '../../../platform/core/seaport.ts';
import { findOperator } from '../../../market/orders/seaport/deployments.ts';
import { toListingIdOfOrder } from '../../../market/index/row-keys.ts';
import type { ParsedPage, VendorRow, SourceRecord } from '../response-rows.ts';
import {
  parseRows,
  optionalAddress,
  optionalDigits,
  optionalFlag,
  optionalInteger,
  optionalRow,
  optionalRows,
  optionalText,
  rejectRow,
  rejectUnsupported,
  requiredAddress,
  requiredAsset,
  requiredInteger,
  requiredText,
  toRow,
  toTime,
} from '../response-rows.ts';
import type { UpstreamClient } from '../upstream-client.ts';
import { toPath } from '../upstream-client.ts';
import type { WalkEnd } from '../walk.ts';
import { readOrderAmount, readOrderEnd, readOrderHash, readOrderSeconds, readOrderStatus } from './order-fields.ts';
import { createPageReader, walkParsed } from './pages.ts';
import type { OpenSeaCollection, OpenSeaContract } from './names.ts';
import { isNativeSymbol, isNativeToken, isOpenSeaChain, OPENSEA } from './names.ts';

const PAGES_MAX = 500;
const LISTINGS_MAX = 100_000;

export type ListingWalkOptions = Begun & { pagesMax?: number; signal?: AbortSignal | undefined };

/**
 * Orders that start after `begunBy`, in ms since the epoch, are skipped, because they cannot be filled yet. By default no order is skipped.
 */
type Begun = { begunBy?: number };

/** `onOffer` is called with the offered token of each row of the collection, even if the row is rejected later. */
type Watch = { onOffer?: (offer: Offer) => void };

/** All listings of a collection, a page at a time. */
export function walkOpenSeaListings(
  upstream: UpstreamClient,
  collection: OpenSeaCollection,
  { pagesMax = PAGES_MAX, signal, ...begun }: ListingWalkOptions = {},
): AsyncGenerator<ParsedPage, WalkEnd> {
  const readPage = createPageReader(upstream, toPath('api', 'v2', 'listings', 'collection', collection.slug, 'all'), {
    name: 'listings',
    signal,
  });
  return walkParsed(readPage, (rows) => parseOpenSeaListings(rows, collection, begun), {
    pagesMax,
    rowsMax: LISTINGS_MAX,
  });
}

/** `below`: a unit price in base units. The walk has read all listings with a lower unit price. Null if it has read all listings. */
export type CheapestEnd = WalkEnd & { below: bigint | null };

/**
 * Reads the cheapest listings of a collection, up to a number of pages. OpenSea sorts them by price; if they are not sorted, the walk has
 * the gap `out of order`. OpenSea does not document whether an order of several units is sorted by the price of one unit or of all units.
 * So if an ERC-1155 token is among the listings, the sort order is not checked. If such a walk is cut off after
 * `pages` pages, `below` is zero, so that no listing is retired.
 */
export async function* walkOpenSeaCheapest(
  upstream: UpstreamClient,
  collection: OpenSeaCollection,
  { pages, signal, ...begun }: Begun & { pages: number; signal?: AbortSignal | undefined },
): AsyncGenerator<ParsedPage, CheapestEnd> {
  const readPage = createPageReader(upstream, toPath('api', 'v2', 'listings', 'collection', collection.slug, 'best'), {
    name: 'listings',
    signal,
  });
  let pagesRead = 0;
  let isCut = false;
  let highest = 0n;
  let isSorted = true;
  let hasErc1155 = false;
  const walk = walkParsed(
    async (cursor) => {
      const page = await readPage(cursor);
      pagesRead += 1;
      isCut = pagesRead >= pages && page.next !== null;
      return isCut ? { ...page, next: null } : page;
    },
    (rows) =>
      parseOpenSeaListings(rows, collection, { ...begun, onOffer: ({ isUnique }) => (hasErc1155 ||= !isUnique) }),
    { pagesMax: PAGES_MAX, rowsMax: LISTINGS_MAX },
  );
  for (;;) {
    const page = await walk.next();
    if (page.done) {
      const end = page.value;
      const gap = end.gap ?? (isSorted || hasErc1155 ? null : 'out of order');
      const below = hasErc1155 ? 0n : highest;
      return { ...end, gap, below: isCut ? below : null };
    }
    for (const { priceRaw } of page.value.records) {
      const price = BigInt(String(priceRaw));
      isSorted &&= price >= highest;
      highest = price;
    }
    yield page.value;
  }
}

/** Converts rows of a response. The rows are listings of API v2, or orders of the older API. */
export function parseOpenSeaListings(
  rows: readonly unknown[],
  contract: OpenSeaContract,
  { begunBy = Number.POSITIVE_INFINITY, onOffer = () => undefined }: Begun & Watch = {},
): ParsedPage {
  return parseRows(rows, (row) =>
    toListings(row['current_price'] === undefined ? row : toListingRow(row), contract, { begunBy, onOffer }),
  );
}

function toListings(
  row: VendorRow,
  contract: OpenSeaContract,
  { begunBy, onOffer }: Required<Begun & Watch>,
): SourceRecord[] {
  if (!isOpenSeaChain(requiredText(row, 'chain'), contract.chain)) return [];
  const status = readOrderStatus(row);
  if (status === null) return [];
  const type = requiredText(row, 'type');
  if (type === 'english') rejectUnsupported('type', 'is an auction, which has no fixed price');
  const order = toRow(toRow(row['protocol_data'], 'protocol_data')['parameters'], 'parameters');
  const offer = readOffer(order);
  checkAsset(row, offer);
  if (offer.contract !== contract.contractAddress) return [];
  onOffer(offer);
  if (readOrderSeconds(order, 'startTime') * 1_000 > begunBy) return [];
  const priceRaw = readUnitPrice(row, order, { contract, offered: offer.amount });
  const expiresAt = readOrderEnd(order);
  return [
    {
      kind: 'listing',
      source: OPENSEA,
      chain: contract.chain.id,
      contractAddress: contract.contractAddress,
      tokenId: offer.tokenId,
      ...readIdentity(row, contract),
      priceRaw: priceRaw.toString(),
      // The order's payments include fees and royalties, so its price is the buyer total.
      buyerTotalRaw: priceRaw.toString(),
      seller: requiredAddress(order, 'offerer', 'evm'),
      status,
      timestamp: toTime(
        optionalInteger(row, 'order_created_at') ?? readOrderSeconds(order, 'startTime'),
        'order_created_at',
      ),
      ...(expiresAt !== null && { expiresAt }),
      ...readSignedTerms(row, order, offer),
    },
  ];
}

const CONDUIT_KEY = /^0x[0-9a-f]{64}$/i;

/** The terms by which a followed chain decides whether the order can be filled. Terms that the row lacks are left out. */
function readSignedTerms(
  row: VendorRow,
  order: VendorRow,
  { amount, isUnique }: Offer,
): Readonly<Record<string, unknown>> {
  const protocolAddress = optionalAddress(row, 'protocol_address', 'evm');
  const conduitKey = optionalText(order, 'conduitKey');
  if (conduitKey !== null && !CONDUIT_KEY.test(conduitKey)) rejectRow('conduitKey', 'is not 32 bytes in hex');
  const counter = optionalDigits(order, 'counter');
  const orderType = optionalInteger(order, 'orderType');
  const operator =
    protocolAddress !== null && conduitKey !== null
      ? findOperator({ address: protocolAddress }, conduitKey.toLowerCase() as Hex)
      : null;
  return {
    ...(operator !== null && { operator }),
    ...(protocolAddress !== null && { protocolAddress }),
    ...(counter !== null && { counter }),
    ...(!isUnique && { quantity: amount.toString() }),
    ...(!isUnique && orderType !== null && { partial: isPartialOrder(orderType) }),
  };
}

function readIdentity(row: VendorRow, { chain }: OpenSeaContract): { id: string; orderHash: string } {
  const orderHash = readOrderHash(row);
  return { id: toListingIdOfOrder({ source: OPENSEA, chain: chain.id, orderHash }), orderHash };
}

const ERC721 = 2;
const ERC1155 = 3;
const ERC20 = 1;

/** `isUnique`: the offered token is an ERC-721 token. */
type Offer = { contract: Address; tokenId: string; amount: bigint; isUnique: boolean };

function readOffer(order: VendorRow): Offer {
  const items = optionalRows(order, 'offer');
  if (items.length === 0) rejectRow('offer', 'is empty');
  if (items.length > 1) rejectUnsupported('offer', 'is a bundle');
  const item = toRow(items[0], 'offer[0]');
  const type = requiredInteger(item, 'itemType');
  if (type !== ERC721 && type !== ERC1155) rejectUnsupported('offer[0].itemType', 'is not a single token');
  const amount = readOrderAmount(item, 'startAmount');
  if (amount === 0n || readOrderAmount(item, 'endAmount') !== amount)
    rejectRow('offer[0]', 'is not a fixed amount of a token');
  if (type === ERC721 && amount !== 1n) rejectRow('offer[0].startAmount', 'is not 1');
  return {
    contract: requiredAddress(item, 'token', 'evm'),
    tokenId: requiredAsset(item, 'identifierOrCriteria', 'evm'),
    amount,
    isUnique: type === ERC721,
  };
}

/** Rejects a row whose field `asset` is another token than the order offers. Not every row has the field. */
function checkAsset(row: VendorRow, { contract, tokenId }: Offer): void {
  const asset = optionalRow(row, 'asset');
  if (!asset) return;
  if (requiredAddress(asset, 'contract', 'evm') !== contract)
    rejectRow('asset.contract', 'is not what the order offers');
  const identifier = optionalText(asset, 'identifier');
  if (identifier !== null && identifier !== tokenId) rejectRow('asset.identifier', 'is not what the order offers');
}

type PriceContext = { contract: OpenSeaContract; offered: bigint };

/** The price of one unit, rounded up. Rejects a row whose price does not match the payments in the order. */
function readUnitPrice(row: VendorRow, order: VendorRow, { contract, offered }: PriceContext): bigint {
  const { chain } = contract;
  const price = toRow(toRow(row['price'], 'price')['current'], 'price.current');
  const payments = sumPayments(order, contract);
  if (!isNativeSymbol(requiredText(price, 'currency'), chain))
    rejectUnsupported('price.current.currency', 'is another currency');
  if (requiredInteger(price, 'decimals') !== chain.decimals)
    rejectRow('price.current.decimals', 'are not the decimals of the native currency');
  const value = readOrderAmount(price, 'value');
  if (value === 0n) rejectRow('price.current.value', 'is zero');
  const remaining = BigInt(requiredInteger(row, 'remaining_quantity'));
  if (remaining <= 0n || remaining > offered)
    rejectRow('remaining_quantity', 'is not between 1 and the offered amount');
  // If the sums differ, the price changes with time, from the sum of payments at the start to the sum at the end.
  if (payments.start !== payments.end) {
    const [low, high] = payments.start < payments.end ? [payments.start, payments.end] : [payments.end, payments.start];
    if (value < low || value > high) rejectRow('price.current.value', 'is not the price of the order');
    return divideUp(value, offered);
  }
  // For an order of several units, the row may have the price of all units, of the remaining units, or of one unit.
  const unit = divideUp(payments.start, offered);
  if (value !== payments.start && value !== unit && value !== divideUp(payments.start * remaining, offered)) {
    rejectRow('price.current.value', 'is not the price of the order');
  }
  return unit;
}

/** Fees and royalties are included. */
function sumPayments(order: VendorRow, { chain }: OpenSeaContract): { start: bigint; end: bigint } {
  const items = optionalRows(order, 'consideration');
  if (items.length === 0) rejectRow('consideration', 'is empty');
  let start = 0n;
  let end = 0n;
  const currencies = new Set<Address>();
  for (const value of items) {
    const item = toRow(value, 'consideration[]');
    if (requiredInteger(item, 'itemType') > ERC20) rejectUnsupported('consideration', 'includes a token');
    currencies.add(requiredAddress(item, 'token', 'evm'));
    start += readOrderAmount(item, 'startAmount');
    end += readOrderAmount(item, 'endAmount');
  }
  const [currency, ...others] = currencies;
  if (others.length > 0) rejectRow('consideration', 'is in several currencies');
  if (currency === undefined || !isNativeToken(currency, chain))
    rejectUnsupported('consideration', 'is in another currency');
  return { start, end };
}

function divideUp(total: bigint, count: bigint): bigint {
  return (total + count - 1n) / count;
}

function toListingRow(order: VendorRow): VendorRow {
  const parameters = toRow(toRow(order['protocol_data'], 'protocol_data')['parameters'], 'parameters');
  if (requiredText(order, 'side') !== 'ask') rejectRow('side', 'is not an ask');
  const asset = toRow(optionalRows(toRow(order['maker_asset_bundle'], 'maker_asset_bundle'), 'assets')[0], 'assets[0]');
  const contract = toRow(asset['asset_contract'], 'asset_contract');
  const payment = toRow(optionalRows(toRow(order['taker_asset_bundle'], 'taker_asset_bundle'), 'assets')[0], 'payment');
  const currency = toRow(payment['asset_contract'], 'payment.asset_contract');
  if (optionalAddress(order, 'taker', 'evm') !== null)
    rejectRow('taker', 'is set: only one account can fill the order');
  const status = optionalFlag(order, 'finalized')
    ? 'FULFILLED'
    : optionalFlag(order, 'cancelled')
      ? 'CANCELLED'
      : optionalFlag(order, 'marked_invalid')
        ? 'INACTIVE'
        : 'ACTIVE';
  return {
    chain: requiredText(contract, 'chain_identifier'),
    order_hash: order['order_hash'],
    protocol_address: order['protocol_address'],
    protocol_data: { parameters },
    asset: { contract: contract['address'], identifier: asset['token_id'] },
    price: { current: { currency: currency['symbol'], decimals: payment['decimals'], value: order['current_price'] } },
    remaining_quantity: order['remaining_quantity'],
    type: order['order_type'],
    status,
  };
}
