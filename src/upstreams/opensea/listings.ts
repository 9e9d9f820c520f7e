// OpenSea's listings of a collection as records. A row is taken only where the signed order behind it says the same as what
// is told about it: the token, the seller, the currency, the price. Orders for several tokens or for none are refused.

import { parseAmount } from '../../core/amount.ts';
import type { Address } from '../../core/address.ts';
import type { ParsedPage, SourceRecord, VendorRow } from '../rows.ts';
import {
  optionalAddress,
  optionalFlag,
  optionalInteger,
  optionalRow,
  optionalRows,
  optionalText,
  parseRows,
  rejectRow,
  requiredAddress,
  requiredAsset,
  requiredInteger,
  requiredText,
  toRow,
  toTime,
} from '../rows.ts';
import type { UpstreamClient } from '../upstream-client.ts';
import { toPath } from '../upstream-client.ts';
import type { WalkEnd } from '../walk.ts';
import { pageReader } from './pages.ts';
import type { OpenSeaCollection, OpenSeaContract } from './names.ts';
import { isNativeSymbol, isNativeToken, isOpenSeaChain, OPENSEA } from './names.ts';
import { leaveOut, walkRows } from './walk-rows.ts';

const PAGES_MAX = 500;
const LISTINGS_MAX = 100_000;

export type ListingWalkOptions = Begun & { pagesMax?: number; signal?: AbortSignal | undefined };

/** What begins after this, in ms since the epoch, is left to a later look: nobody can fill it yet. Default: all is told. */
type Begun = { begunBy?: number };

/** Is told of each offer of the collection, whatever becomes of its row. */
type Watch = { onOffer?: (offer: Offer) => void };

/** The listings of a collection, a page at a time. The end says whether the book was seen whole. */
export function walkOpenSeaListings(
  upstream: UpstreamClient,
  collection: OpenSeaCollection,
  { pagesMax = PAGES_MAX, signal, ...begun }: ListingWalkOptions = {},
): AsyncGenerator<ParsedPage, WalkEnd> {
  const readPage = pageReader(upstream, toPath('api', 'v2', 'listings', 'collection', collection.slug, 'all'), {
    name: 'listings',
    signal,
  });
  return walkRows(readPage, (rows) => parseOpenSeaListings(rows, collection, begun), {
    pagesMax,
    rowsMax: LISTINGS_MAX,
  });
}

/** Whole where it saw all that is cheaper than `below`, base units a unit; null where that is the whole book. */
export type CheapestEnd = WalkEnd & { below: bigint | null };

/**
 * The cheapest listings of a collection, so many pages of them. They come sorted by price, each listing of a token by itself: what
 * is out of order is not believed to be the cheapest. Where orders may be for several units, nobody says whether that is the price
 * of one or of all: then nothing has to be among them.
 */
export async function* walkOpenSeaCheapest(
  upstream: UpstreamClient,
  collection: OpenSeaCollection,
  { pages, signal, ...begun }: Begun & { pages: number; signal?: AbortSignal | undefined },
): AsyncGenerator<ParsedPage, CheapestEnd> {
  const readPage = pageReader(upstream, toPath('api', 'v2', 'listings', 'collection', collection.slug, 'best'), {
    name: 'listings',
    signal,
  });
  let read = 0;
  let isCut = false;
  let highest = 0n;
  let isSorted = true;
  let hasUnits = false;
  const walk = walkRows(
    async (cursor) => {
      const page = await readPage(cursor);
      read += 1;
      isCut = read >= pages && page.next !== null;
      return isCut ? { ...page, next: null } : page;
    },
    (rows) => parseOpenSeaListings(rows, collection, { ...begun, onOffer: ({ isUnique }) => (hasUnits ||= !isUnique) }),
    { pagesMax: PAGES_MAX, rowsMax: LISTINGS_MAX },
  );
  for (;;) {
    const page = await walk.next();
    if (page.done) {
      const end = page.value;
      const why = end.why ?? (isSorted || hasUnits ? null : 'out of order');
      const below = hasUnits ? 0n : highest;
      return { ...end, why, whole: why === null, below: isCut ? below : null };
    }
    for (const { priceRaw } of page.value.records) {
      const price = BigInt(String(priceRaw));
      isSorted &&= price >= highest;
      highest = price;
    }
    yield page.value;
  }
}

/** Listings as v2 tells them, and orders as its older interface did. */
export function parseOpenSeaListings(
  rows: readonly unknown[],
  contract: OpenSeaContract,
  { begunBy = Number.POSITIVE_INFINITY, onOffer = () => undefined }: Begun & Watch = {},
): ParsedPage {
  return parseRows(rows, (row) =>
    toListings(row['current_price'] === undefined ? row : toListingRow(row), contract, { begunBy, onOffer }),
  );
}

const STATUSES: Readonly<Record<string, string>> = {
  ACTIVE: 'active',
  FULFILLED: 'filled',
  EXPIRED: 'expired',
  CANCELLED: 'cancelled',
};

function toListings(
  row: VendorRow,
  contract: OpenSeaContract,
  { begunBy, onOffer }: Required<Begun & Watch>,
): SourceRecord[] {
  if (!isOpenSeaChain(requiredText(row, 'chain'), contract.chain)) return [];
  const told = requiredText(row, 'status');
  // Nobody can fill it now; should that change, it is told as active again.
  if (told === 'INACTIVE') return [];
  const status = STATUSES[told] ?? rejectRow('status', 'is none that is known');
  const type = requiredText(row, 'type');
  if (type === 'english') leaveOut('type', 'is an auction: nobody can buy at its price');
  const order = toRow(toRow(row['protocol_data'], 'protocol_data')['parameters'], 'parameters');
  const offer = readOffer(order);
  checkAsset(row, offer);
  if (offer.contract !== contract.contractAddress) return [];
  onOffer(offer);
  if (readSeconds(order, 'startTime') * 1_000 > begunBy) return [];
  const priceRaw = readUnitPrice(row, order, { contract, offered: offer.amount });
  const expiresAt = readEnd(order);
  return [
    {
      kind: 'listing',
      source: OPENSEA,
      chain: contract.chain.id,
      contractAddress: contract.contractAddress,
      tokenId: offer.tokenId,
      ...readIdentity(row),
      priceRaw: priceRaw.toString(),
      // What the order says is what a buyer pays in all: fees and royalties are among its payments.
      buyerTotalRaw: priceRaw.toString(),
      seller: requiredAddress(order, 'offerer', 'evm'),
      status,
      timestamp: toTime(
        optionalInteger(row, 'order_created_at') ?? readSeconds(order, 'startTime'),
        'order_created_at',
      ),
      ...(expiresAt !== null && { expiresAt }),
    },
  ];
}

const ORDER_HASH = /^0x[0-9a-f]{64}$/i;

function readIdentity(row: VendorRow): { id: string; orderHash: string } {
  const hash = requiredText(row, 'order_hash').toLowerCase();
  if (!ORDER_HASH.test(hash)) rejectRow('order_hash', 'is no hash');
  return { id: hash, orderHash: hash };
}

const ERC721 = 2;
const ERC1155 = 3;
const ERC20 = 1;

type Offer = { contract: Address; tokenId: string; amount: bigint; isUnique: boolean };

function readOffer(order: VendorRow): Offer {
  const items = optionalRows(order, 'offer');
  if (items.length === 0) rejectRow('offer', 'is of nothing');
  if (items.length > 1) leaveOut('offer', 'is a bundle');
  const item = toRow(items[0], 'offer[0]');
  const type = requiredInteger(item, 'itemType');
  if (type !== ERC721 && type !== ERC1155) leaveOut('offer[0].itemType', 'is no single token');
  const amount = readAmount(item, 'startAmount');
  if (amount === 0n || readAmount(item, 'endAmount') !== amount) rejectRow('offer[0]', 'is no fixed amount of a token');
  if (type === ERC721 && amount !== 1n) rejectRow('offer[0].startAmount', 'is not 1');
  return {
    contract: requiredAddress(item, 'token', 'evm'),
    tokenId: requiredAsset(item, 'identifierOrCriteria', 'evm'),
    amount,
    isUnique: type === ERC721,
  };
}

/** The asset is told only sometimes. */
function checkAsset(row: VendorRow, { contract, tokenId }: Offer): void {
  const asset = optionalRow(row, 'asset');
  if (!asset) return;
  if (requiredAddress(asset, 'contract', 'evm') !== contract)
    rejectRow('asset.contract', 'is not what the order offers');
  const told = optionalText(asset, 'identifier');
  if (told !== null && told !== tokenId) rejectRow('asset.identifier', 'is not what the order offers');
}

type PriceContext = { contract: OpenSeaContract; offered: bigint };

/** The price of one unit, rounded up: what is told has to be what the order asks for. */
function readUnitPrice(row: VendorRow, order: VendorRow, { contract, offered }: PriceContext): bigint {
  const { chain } = contract;
  const price = toRow(toRow(row['price'], 'price')['current'], 'price.current');
  const asked = readAsked(order, contract);
  if (!isNativeSymbol(requiredText(price, 'currency'), chain))
    leaveOut('price.current.currency', 'is another currency');
  if (requiredInteger(price, 'decimals') !== chain.decimals)
    rejectRow('price.current.decimals', 'are not those of the chain');
  const told = readAmount(price, 'value');
  if (told === 0n) rejectRow('price.current.value', 'is no price');
  const remaining = BigInt(requiredInteger(row, 'remaining_quantity'));
  if (remaining <= 0n || remaining > offered) rejectRow('remaining_quantity', 'is not what is left of the order');
  // An order whose price moves with time asks for something between its two ends.
  if (asked.start !== asked.end) {
    const [low, high] = asked.start < asked.end ? [asked.start, asked.end] : [asked.end, asked.start];
    if (told < low || told > high) rejectRow('price.current.value', 'is not what the order asks for');
    return divideUp(told, offered);
  }
  // Of several, some tell the price of all, some of what is left, some of one.
  const unit = divideUp(asked.start, offered);
  if (told !== asked.start && told !== unit && told !== divideUp(asked.start * remaining, offered)) {
    rejectRow('price.current.value', 'is not what the order asks for');
  }
  return unit;
}

/** The sums of all that an order asks for, fees and royalties included. */
function readAsked(order: VendorRow, { chain }: OpenSeaContract): { start: bigint; end: bigint } {
  const items = optionalRows(order, 'consideration');
  if (items.length === 0) rejectRow('consideration', 'asks for nothing');
  let start = 0n;
  let end = 0n;
  const currencies = new Set<Address>();
  for (const value of items) {
    const item = toRow(value, 'consideration[]');
    if (requiredInteger(item, 'itemType') > ERC20) leaveOut('consideration', 'asks for a token');
    currencies.add(requiredAddress(item, 'token', 'evm'));
    start += readAmount(item, 'startAmount');
    end += readAmount(item, 'endAmount');
  }
  const [currency, ...others] = currencies;
  if (others.length > 0) rejectRow('consideration', 'is in several currencies');
  if (currency === undefined || !isNativeToken(currency, chain)) leaveOut('consideration', 'is in another currency');
  return { start, end };
}

function divideUp(total: bigint, count: bigint): bigint {
  return (total + count - 1n) / count;
}

function readAmount(row: VendorRow, field: string): bigint {
  return parseAmount(requiredText(row, field)) ?? rejectRow(field, 'is no amount in digits');
}

function readSeconds(order: VendorRow, field: string): number {
  const text = requiredText(order, field);
  return /^\d{1,78}$/.test(text) ? Number(text) : rejectRow(field, 'is no time in digits');
}

const ENDLESS_S = Date.UTC(9_999, 0, 1) / 1_000;

/** Null for an order that is good for ever. */
function readEnd(order: VendorRow): string | null {
  const seconds = readSeconds(order, 'endTime');
  return seconds >= ENDLESS_S ? null : toTime(seconds, 'endTime');
}

/** An order of the older interface in the form of a listing. */
function toListingRow(order: VendorRow): VendorRow {
  const parameters = toRow(toRow(order['protocol_data'], 'protocol_data')['parameters'], 'parameters');
  if (requiredText(order, 'side') !== 'ask') rejectRow('side', 'is no ask');
  const asset = toRow(optionalRows(toRow(order['maker_asset_bundle'], 'maker_asset_bundle'), 'assets')[0], 'assets[0]');
  const contract = toRow(asset['asset_contract'], 'asset_contract');
  const first = toRow(optionalRows(toRow(order['taker_asset_bundle'], 'taker_asset_bundle'), 'assets')[0], 'payment');
  const payment = toRow(first['asset_contract'], 'payment.asset_contract');
  if (optionalAddress(order, 'taker', 'evm') !== null) rejectRow('taker', 'is not everybody');
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
    protocol_data: { parameters },
    asset: { contract: contract['address'], identifier: asset['token_id'] },
    price: { current: { currency: payment['symbol'], decimals: first['decimals'], value: order['current_price'] } },
    remaining_quantity: order['remaining_quantity'],
    type: order['order_type'],
    status,
  };
}
