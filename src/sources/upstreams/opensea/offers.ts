// OpenSea's API v2 for offers: converts the offers for a collection to records of the kind `bid`: for one token, for any token of the collection, or
// for the tokens of a set. Price, fees and bidder are taken from the signed order in the row.

import type { Address } from '../../../platform/core/address.ts';
import { findCurrency } from '../../../platform/core/chains.ts';
import type { ParsedPage, SourceRecord, VendorRow } from '../response-rows.ts';
import {
  optionalInteger,
  optionalRow,
  optionalRows,
  optionalText,
  parseRows,
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
import type { OpenSeaCollection, OpenSeaContract } from './names.ts';
import { isOpenSeaChain, OPENSEA } from './names.ts';
import { readFixedAmount, readOrderEnd, readOrderHash, readOrderSeconds, readOrderStatus } from './order-fields.ts';
import { createPageReader, walkParsed } from './pages.ts';

const PAGES_MAX = 100;
const OFFERS_MAX = 20_000;
/** The most tokens of a set that OpenSea names one by one. A larger set is not stored. */
const SET_TOKENS_MAX = 5_000;

/** All active offers for a collection and its tokens, a page at a time. Offers that start after `begunBy`, in ms since the epoch, are skipped. */
export function walkOpenSeaOffers(
  upstream: UpstreamClient,
  collection: OpenSeaCollection,
  { begunBy, signal }: { begunBy: number; signal?: AbortSignal | undefined },
): AsyncGenerator<ParsedPage, WalkEnd> {
  const readPage = createPageReader(upstream, toPath('api', 'v2', 'offers', 'collection', collection.slug, 'all'), {
    name: 'offers',
    signal,
    isBulk: true,
  });
  return walkParsed(readPage, (rows) => parseOpenSeaOffers(rows, collection, { begunBy }), {
    pagesMax: PAGES_MAX,
    rowsMax: OFFERS_MAX,
  });
}

export function parseOpenSeaOffers(
  rows: readonly unknown[],
  contract: OpenSeaContract,
  { begunBy = Number.POSITIVE_INFINITY }: { begunBy?: number } = {},
): ParsedPage {
  return parseRows(rows, (row) => toBids(row, contract, begunBy));
}

function toBids(row: VendorRow, contract: OpenSeaContract, begunBy: number): SourceRecord[] {
  if (!isOpenSeaChain(requiredText(row, 'chain'), contract.chain)) return [];
  const status = readOrderStatus(row);
  if (status === null) return [];
  const order = toRow(toRow(row['protocol_data'], 'protocol_data')['parameters'], 'parameters');
  const offerer = requiredAddress(order, 'offerer', 'evm');
  const payment = readPayment(order, contract);
  const { wanted, fees } = readConsideration(order, offerer, payment.token);
  if (requiredAddress(wanted, 'token', 'evm') !== contract.contractAddress) return [];
  const startsAt = readOrderSeconds(order, 'startTime');
  if (startsAt * 1_000 > begunBy) return [];
  const quantity = readFixedAmount(wanted, 'consideration[]');
  const priceRaw = divideExactly(payment.amount, quantity, 'offer[0].startAmount');
  const feesRaw = divideExactly(fees, quantity, 'consideration[].startAmount');
  if (feesRaw >= priceRaw) rejectRow('consideration', 'leaves nothing to the seller');
  const remaining = BigInt(requiredInteger(row, 'remaining_quantity'));
  if (remaining < 0n || remaining > quantity) rejectRow('remaining_quantity', 'is not between 0 and the wanted amount');
  const orderHash = readOrderHash(row);
  const expiresAt = readOrderEnd(order);
  return [
    {
      kind: 'bid',
      source: OPENSEA,
      chain: contract.chain.id,
      contractAddress: contract.contractAddress,
      ...readWanted(row, wanted),
      priceRaw: priceRaw.toString(),
      proceedsRaw: (priceRaw - feesRaw).toString(),
      ...(payment.token !== contract.chain.wrappedNative && { currency: payment.token }),
      buyer: offerer,
      id: orderHash,
      orderHash,
      quantity: quantity.toString(),
      remaining: remaining.toString(),
      status,
      timestamp: toTime(optionalInteger(row, 'order_created_at') ?? startsAt, 'order_created_at'),
      ...(expiresAt !== null && { expiresAt }),
    },
  ];
}

const ERC20 = 1;
const ERC721 = 2;
const ERC1155 = 3;
/** The item types of any token of a contract or of a set: ERC-721 and ERC-1155. */
const WITH_CRITERIA: ReadonlySet<number> = new Set([4, 5]);

/** What the bidder pays: one fixed amount of the wrapped native currency, or of a currency that the settings name. */
function readPayment(order: VendorRow, { chain }: OpenSeaContract): { token: Address; amount: bigint } {
  const items = optionalRows(order, 'offer');
  if (items.length !== 1) rejectRow('offer', 'is not one payment');
  const item = toRow(items[0], 'offer[0]');
  if (requiredInteger(item, 'itemType') !== ERC20) rejectRow('offer[0].itemType', 'is not a payment');
  const token = requiredAddress(item, 'token', 'evm');
  if (token !== chain.wrappedNative && !findCurrency(chain, token))
    rejectUnsupported('offer[0].token', 'is another currency');
  return { token, amount: readFixedAmount(item, 'offer[0]') };
}

/** `wanted`: the item that the bidder receives. `fees`: the sum of the other items, which are payments in the currency of the offer. */
function readConsideration(order: VendorRow, offerer: string, currency: Address): { wanted: VendorRow; fees: bigint } {
  const items = optionalRows(order, 'consideration').map((value) => toRow(value, 'consideration[]'));
  const tokens = items.filter((item) => requiredInteger(item, 'itemType') > ERC20);
  const [wanted, ...others] = tokens;
  if (!wanted) return rejectRow('consideration', 'has no token');
  if (others.length > 0) rejectUnsupported('consideration', 'is a bundle');
  if (requiredAddress(wanted, 'recipient', 'evm') !== offerer) rejectRow('consideration', 'is not for the bidder');
  let fees = 0n;
  for (const item of items) {
    if (item === wanted) continue;
    if (requiredAddress(item, 'token', 'evm') !== currency)
      rejectUnsupported('consideration', 'is in another currency');
    fees += readFixedAmount(item, 'consideration[]');
  }
  return { wanted, fees };
}

/** The fields of a record that say which tokens meet the offer. */
function readWanted(row: VendorRow, wanted: VendorRow): Readonly<Record<string, unknown>> {
  const type = requiredInteger(wanted, 'itemType');
  if (type === ERC721 || type === ERC1155) return { tokenId: requiredAsset(wanted, 'identifierOrCriteria', 'evm') };
  if (!WITH_CRITERIA.has(type)) rejectRow('consideration[].itemType', 'is unknown');
  if (requiredText(wanted, 'identifierOrCriteria') === '0') return {};
  const criteria = toRow(row['criteria'], 'criteria');
  const traits = optionalRows(criteria, 'traits').map((value) => {
    const trait = toRow(value, 'criteria.traits[]');
    return { name: requiredText(trait, 'type'), value: requiredText(trait, 'value') };
  });
  const isNumeric = optionalRows(criteria, 'numeric_traits').length > 0;
  if (traits.length > 0 && !isNumeric) return { traits };
  const encoded = optionalText(criteria, 'encoded_token_ids');
  // A collection that shares its contract has offers for all of its tokens, which are a set of the tokens of the contract.
  if ((encoded === null || encoded === '*') && !isNumeric && optionalRow(criteria, 'collection')) return {};
  if (encoded === null || encoded === '*') return rejectUnsupported('criteria', 'does not name its tokens');
  return { tokenIds: decodeTokenIds(encoded) };
}

const TOKEN_RANGE = /^(\d{1,78})(?::(\d{1,78}))?$/;

/** OpenSea's list of token ids: `1,5:8` stands for 1, 5, 6, 7 and 8. */
function decodeTokenIds(encoded: string): string[] {
  const tokenIds: string[] = [];
  for (const part of encoded.split(',')) {
    const [, first = '', last = first] = TOKEN_RANGE.exec(part) ?? [];
    if (first === '') rejectRow('criteria.encoded_token_ids', 'is not a list of token ids');
    const [from, to] = [BigInt(first), BigInt(last)];
    if (to < from) rejectRow('criteria.encoded_token_ids', 'has a range that ends before it begins');
    if (to - from + BigInt(tokenIds.length) >= BigInt(SET_TOKENS_MAX))
      rejectUnsupported('criteria.encoded_token_ids', `has more than ${SET_TOKENS_MAX} tokens`);
    for (let id = from; id <= to; id += 1n) tokenIds.push(id.toString());
  }
  return tokenIds;
}

function divideExactly(total: bigint, count: bigint, field: string): bigint {
  if (count === 0n) rejectRow('consideration[].startAmount', 'is 0');
  return total % count === 0n ? total / count : rejectRow(field, 'is no multiple of the wanted amount');
}
