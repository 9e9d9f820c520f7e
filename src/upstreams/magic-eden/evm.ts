// Magic Eden's v4 API for EVM chains, where it still answers: its own asks of a collection as listings. The older shape of an
// ask, as recorded, is read too. Asks in anything but the native currency or its wrapped form are refused.

import { parseAmount } from '../../core/amount.ts';
import type { Chain } from '../../core/chains.ts';
import { nameAt } from '../../core/chains.ts';
import { MAGIC_EDEN } from './solana.ts';
import type { ParsedPage, SourceRecord, VendorRow } from '../rows.ts';
import {
  optionalInteger,
  optionalRow,
  optionalText,
  parseRows,
  rejectRow,
  requiredAddress,
  requiredAsset,
  requiredText,
  toRow,
  toTime,
} from '../rows.ts';
import type { UpstreamClient } from '../upstream-client.ts';
import { toMalformed } from '../upstream-client.ts';
import type { WalkEnd } from '../walk.ts';
import { parsePages, walkPages } from '../walk.ts';

export type EvmAskSubject = {
  chain: Chain;
  contractAddress: string;
  /** Asks that begin after this, in ms since the epoch, are left to a later look: nobody can fill them yet. Default: none. */
  begunBy?: number;
};

const PAGE = 100;
const PAGES_MAX = 200;
const ASKS_MAX = 20_000;
const NATIVE = '0x0000000000000000000000000000000000000000';
const NATIVE_DECIMALS = 18;
const OTHER_CURRENCY = ['price.currency', 'is another currency'] as const;
const SEVERAL_UNITS = ['quantity.remaining', 'is not one token'] as const;
/** Asks that are refused although it is clear what they are: however many there are, the others were seen. */
const UNDERSTOOD = new Set([OTHER_CURRENCY, SEVERAL_UNITS].map((refusal) => refusal.join(': ')));

/** Whether Magic Eden serves asks of an EVM chain. */
export function hasMagicEdenAsks(chain: Chain): boolean {
  return nameAt(chain, MAGIC_EDEN) !== null;
}

/** Magic Eden's own active asks of a collection, cheapest first, a page at a time. */
export function walkMagicEdenAsks(
  upstream: UpstreamClient,
  subject: EvmAskSubject,
  { signal }: { signal?: AbortSignal } = {},
): AsyncGenerator<ParsedPage, WalkEnd> {
  const pages = walkPages(
    async (cursor) => {
      const query = {
        chain: nameAt(subject.chain, MAGIC_EDEN) ?? subject.chain.id,
        collectionId: subject.contractAddress.toLowerCase(),
        'sources[]': ['magiceden'],
        'status[]': ['active'],
        sortBy: 'price',
        sortDir: 'asc',
        limit: PAGE,
        continuation: cursor,
      };
      const answer = await upstream.getJson('/v4/evm-public/orders/asks', query, signal ? { signal } : {});
      // `orders` is what the interface before this one called them.
      const { orders, asks = orders, continuation } = (answer ?? {}) as Record<string, unknown>;
      if (!Array.isArray(asks) || asks.length > PAGE) {
        throw toMalformed(upstream, 'no page of asks');
      }
      return { rows: asks, next: typeof continuation === 'string' && continuation !== '' ? continuation : null };
    },
    { pagesMax: PAGES_MAX, rowsMax: ASKS_MAX },
  );
  const isDoubt = (reason: string) => !isUnderstoodAsk(reason);
  return parsePages(pages, (rows) => parseMagicEdenAsks(rows, subject), { isDoubt });
}

/** Whether a refusal is of an ask that is understood and has no place here. */
export function isUnderstoodAsk(reason: string): boolean {
  return UNDERSTOOD.has(reason);
}

/** Asks of either shape as listings. */
export function parseMagicEdenAsks(rows: readonly unknown[], subject: EvmAskSubject): ParsedPage {
  return parseRows(rows, (row) => (row['assetId'] === undefined ? toOldAsk(row, subject) : toAsk(row, subject)));
}

function toAsk(row: VendorRow, subject: EvmAskSubject): SourceRecord[] {
  if (requiredText(row, 'kind') !== 'ASK') rejectRow('kind', 'is no ask');
  if (requiredText(row, 'status') !== 'active' || requiredText(row, 'source') !== 'MAGICEDEN') return [];
  if (requiredText(row, 'chain') !== subject.chain.id) rejectRow('chain', 'is another chain');
  checkContract(row, subject);
  const [contract, tokenId, ...rest] = requiredText(row, 'assetId').split(':');
  if (contract?.toLowerCase() !== subject.contractAddress.toLowerCase() || rest.length > 0) {
    rejectRow('assetId', 'is of another contract');
  }
  // Whether the price is for one unit or for all is documented nowhere.
  const quantity = toRow(row['quantity'], 'quantity');
  if (requiredText(quantity, 'remaining') !== '1') rejectRow(...SEVERAL_UNITS);
  const expiry = optionalRow(row, 'expiry');
  const from = expiry && optionalText(expiry, 'validFrom');
  if (from !== null && isAhead(readTime(from, 'expiry.validFrom'), subject)) return [];
  const until = expiry && optionalText(expiry, 'validUntil');
  return [
    toListing(row, subject, {
      tokenId: requiredAsset({ tokenId }, 'tokenId', 'evm'),
      priceRaw: readPrice(row, subject),
      expiresAt: until === null ? null : readTime(until, 'expiry.validUntil'),
    }),
  ];
}

/** As the interface before this one told it. */
function toOldAsk(row: VendorRow, subject: EvmAskSubject): SourceRecord[] {
  if (requiredText(row, 'side') !== 'sell') rejectRow('side', 'is no ask');
  const source = optionalRow(row, 'source');
  if (requiredText(row, 'status') !== 'active' || source?.['domain'] !== 'magiceden.io') return [];
  checkContract(row, subject);
  const criteria = toRow(row['criteria'], 'criteria');
  if (requiredText(criteria, 'kind') !== 'token') rejectRow('criteria.kind', 'is not one token');
  const token = toRow(toRow(criteria['data'], 'criteria.data')['token'], 'criteria.data.token');
  const from = optionalInteger(row, 'validFrom') ?? 0;
  if (from > 0 && isAhead(toTime(from, 'validFrom'), subject)) return [];
  const until = optionalInteger(row, 'validUntil') ?? 0;
  return [
    toListing(row, subject, {
      tokenId: requiredAsset(token, 'tokenId', 'evm'),
      priceRaw: readPrice(row, subject),
      expiresAt: until > 0 ? toTime(until, 'validUntil') : null,
    }),
  ];
}

function isAhead(from: string, { begunBy = Number.POSITIVE_INFINITY }: EvmAskSubject): boolean {
  return Date.parse(from) > begunBy;
}

type Terms = { tokenId: string; priceRaw: bigint; expiresAt: string | null };

function toListing(row: VendorRow, subject: EvmAskSubject, { tokenId, priceRaw, expiresAt }: Terms): SourceRecord {
  const id = requiredText(row, 'id');
  return {
    kind: 'listing',
    source: MAGIC_EDEN,
    chain: subject.chain.id,
    contractAddress: subject.contractAddress,
    tokenId,
    id,
    ...(ORDER_HASH.test(id) && { orderHash: id.toLowerCase() }),
    priceRaw: priceRaw.toString(),
    seller: requiredAddress(row, 'maker', 'evm'),
    timestamp: readTime(requiredText(row, 'createdAt'), 'createdAt'),
    ...(expiresAt !== null && { expiresAt }),
  };
}

const ORDER_HASH = /^0x[0-9a-f]{64}$/i;

function readPrice(row: VendorRow, subject: EvmAskSubject): bigint {
  const price = toRow(row['price'], 'price');
  const currency = toRow(price['currency'], 'price.currency');
  const contract = requiredAddress(currency, 'contract', 'evm');
  if (contract !== NATIVE && contract !== subject.chain.wrappedNative) rejectRow(...OTHER_CURRENCY);
  if (optionalInteger(currency, 'decimals') !== NATIVE_DECIMALS) rejectRow('price.currency.decimals', 'are not 18');
  const raw = parseAmount(requiredText(toRow(price['amount'], 'price.amount'), 'raw'));
  if (raw === null || raw === 0n) rejectRow('price.amount.raw', 'is no positive amount');
  return raw;
}

function checkContract(row: VendorRow, subject: EvmAskSubject): void {
  if (requiredAddress(row, 'contract', 'evm') !== subject.contractAddress.toLowerCase()) {
    rejectRow('contract', 'is another contract');
  }
}

const TIME = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d{1,9})?Z$/;

/** An ISO 8601 time, or seconds in digits. */
function readTime(text: string, field: string): string {
  if (/^\d{1,12}$/.test(text)) return toTime(Number(text), field);
  return TIME.test(text) ? text : rejectRow(field, 'is no time');
}
