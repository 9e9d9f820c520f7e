// OpenSea's sale events of a collection as records. What was paid in another currency is kept in words that no one can take
// for a native amount; what names no single token is refused.

import { parseAmount } from '../../core/amount.ts';
import type { ParsedPage, SourceRecord, VendorRow } from '../rows.ts';
import {
  optionalAddress,
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
const SALES_MAX = 100_000;

export type SaleWalkOptions = {
  /** Only what was sold after this, in ms since the epoch; null for all. */
  since: number | null;
  pagesMax?: number;
  signal?: AbortSignal | undefined;
};

/** The sales of a collection, newest first, a page at a time. */
export function walkOpenSeaSales(
  upstream: UpstreamClient,
  collection: OpenSeaCollection,
  { since, pagesMax = PAGES_MAX, signal }: SaleWalkOptions,
): AsyncGenerator<ParsedPage, WalkEnd> {
  const readPage = pageReader(upstream, toPath('api', 'v2', 'events', 'collection', collection.slug), {
    name: 'asset_events',
    query: { event_type: 'sale', after: since === null ? null : Math.floor(since / 1_000) },
    signal,
  });
  return walkRows(readPage, (rows) => parseOpenSeaSales(rows, collection), { pagesMax, rowsMax: SALES_MAX });
}

export function parseOpenSeaSales(rows: readonly unknown[], contract: OpenSeaContract): ParsedPage {
  return parseRows(rows, (row) => toSales(row, contract));
}

const TRANSACTION = /^0x[0-9a-f]{64}$/i;

function toSales(row: VendorRow, contract: OpenSeaContract): SourceRecord[] {
  if (requiredText(row, 'event_type') !== 'sale') return [];
  if (!isOpenSeaChain(requiredText(row, 'chain'), contract.chain)) return [];
  if ((row['nft'] ?? null) === null) leaveOut('nft', 'is missing: a bundle has no price for a token');
  const token = toRow(row['nft'], 'nft');
  if (requiredAddress(token, 'contract', 'evm') !== contract.contractAddress) return [];
  if (requiredInteger(row, 'quantity') < 1) rejectRow('quantity', 'is nothing');
  const tx = optionalText(row, 'transaction')?.toLowerCase() ?? null;
  if (tx !== null && !TRANSACTION.test(tx)) rejectRow('transaction', 'is no hash');
  const order = optionalText(row, 'order_hash')?.toLowerCase() ?? null;
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
      ...(order !== null && { listingId: order }),
      ...(tx !== null && { tx }),
    },
  ];
}

const SYMBOL = /^[\p{L}\p{N}.$_+-]{1,20}$/u;

/** What was paid in all, several units of a token included. */
function readPrice(row: VendorRow, { chain }: OpenSeaContract): string {
  const payment = toRow(row['payment'], 'payment');
  const raw = parseAmount(requiredText(payment, 'quantity')) ?? rejectRow('payment.quantity', 'is no amount in digits');
  if (raw === 0n) rejectRow('payment.quantity', 'is no price');
  const symbol = requiredText(payment, 'symbol');
  const decimals = requiredInteger(payment, 'decimals');
  const token = requiredAddress(payment, 'token_address', 'evm');
  if (isNativeToken(token, chain)) {
    // A native coin by another name, or of other units, is one that nobody here knows.
    if (!isNativeSymbol(symbol, chain)) rejectRow('payment.symbol', 'is not that of its token');
    if (decimals !== chain.decimals) rejectRow('payment.decimals', 'are not those of the chain');
    return raw.toString();
  }
  return `${raw} ${SYMBOL.test(symbol) ? symbol : token}`;
}
