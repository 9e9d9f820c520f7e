// Converts OpenSea's sale events of a collection to records. A price in another currency is stored as a text of amount and symbol, so that
// it does not look like an amount of the native currency.

import { parseAmount } from '../../../platform/core/amount.ts';
import { toListingIdOfOrder } from '../../../market/index/row-keys.ts';
import type { ParsedPage, VendorRow, SourceRecord } from '../response-rows.ts';
import {
  parseRows,
  optionalAddress,
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
import { createPageReader, walkParsed } from './pages.ts';
import type { OpenSeaCollection, OpenSeaContract } from './names.ts';
import { isNativeSymbol, isNativeToken, isOpenSeaChain, OPENSEA } from './names.ts';

const PAGES_MAX = 500;
const SALES_MAX = 100_000;

export type SaleWalkOptions = {
  /** Only sales after this time are read, in ms since the epoch. Null: all sales are read. */
  since: number | null;
  pagesMax?: number;
  signal?: AbortSignal | undefined;
};

/** Reads the sales from the newest to the oldest, and yields one page at a time. */
export function walkOpenSeaSales(
  upstream: UpstreamClient,
  collection: OpenSeaCollection,
  { since, pagesMax = PAGES_MAX, signal }: SaleWalkOptions,
): AsyncGenerator<ParsedPage, WalkEnd> {
  const readPage = createPageReader(upstream, toPath('api', 'v2', 'events', 'collection', collection.slug), {
    name: 'asset_events',
    query: { event_type: 'sale', after: since === null ? null : Math.floor(since / 1_000) },
    signal,
  });
  return walkParsed(readPage, (rows) => parseOpenSeaSales(rows, collection), { pagesMax, rowsMax: SALES_MAX });
}

export function parseOpenSeaSales(rows: readonly unknown[], contract: OpenSeaContract): ParsedPage {
  return parseRows(rows, (row) => toSales(row, contract));
}

const TRANSACTION = /^0x[0-9a-f]{64}$/i;

function toSales(row: VendorRow, contract: OpenSeaContract): SourceRecord[] {
  if (requiredText(row, 'event_type') !== 'sale') return [];
  if (!isOpenSeaChain(requiredText(row, 'chain'), contract.chain)) return [];
  if ((row['nft'] ?? null) === null) rejectUnsupported('nft', 'is missing: a bundle has no price for a token');
  const token = toRow(row['nft'], 'nft');
  if (requiredAddress(token, 'contract', 'evm') !== contract.contractAddress) return [];
  if (requiredInteger(row, 'quantity') < 1) rejectRow('quantity', 'is zero');
  const tx = optionalText(row, 'transaction')?.toLowerCase() ?? null;
  if (tx !== null && !TRANSACTION.test(tx)) rejectRow('transaction', 'is not a hash');
  const orderHash = optionalText(row, 'order_hash')?.toLowerCase() ?? null;
  const seller = optionalAddress(row, 'seller', 'evm');
  const buyer = optionalAddress(row, 'buyer', 'evm');
  return [
    {
      kind: 'sale',
      source: OPENSEA,
      chain: contract.chain.id,
      contractAddress: contract.contractAddress,
      tokenId: requiredAsset(token, 'identifier', 'evm'),
      price: readPrice(row, contract),
      ...(seller !== null && { seller }),
      ...(buyer !== null && { buyer }),
      timestamp: toTime(requiredInteger(row, 'event_timestamp'), 'event_timestamp'),
      ...(orderHash !== null && {
        listingId: toListingIdOfOrder({ source: OPENSEA, chain: contract.chain.id, orderHash }),
      }),
      ...(tx !== null && { tx }),
    },
  ];
}

const SYMBOL = /^[\p{L}\p{N}.$_+-]{1,20}$/u;

/** The price of all units that were sold. */
function readPrice(row: VendorRow, { chain }: OpenSeaContract): string {
  const payment = toRow(row['payment'], 'payment');
  const raw =
    parseAmount(requiredText(payment, 'quantity')) ?? rejectRow('payment.quantity', 'is not an amount in digits');
  if (raw === 0n) rejectRow('payment.quantity', 'is zero');
  const symbol = requiredText(payment, 'symbol');
  const decimals = requiredInteger(payment, 'decimals');
  const token = requiredAddress(payment, 'token_address', 'evm');
  if (isNativeToken(token, chain)) {
    // With another symbol or other decimals, the payment is in the native currency of another chain.
    if (!isNativeSymbol(symbol, chain)) rejectRow('payment.symbol', 'is not the symbol of the token address');
    if (decimals !== chain.decimals) rejectRow('payment.decimals', 'are not the decimals of the native currency');
    return raw.toString();
  }
  return `${raw} ${SYMBOL.test(symbol) ? symbol : token}`;
}
