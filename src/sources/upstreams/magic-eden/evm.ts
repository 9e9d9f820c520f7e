// Magic Eden's API v4 for EVM chains: converts Magic Eden's own asks of a collection to listings. Rows of the older API are read as well,
// because recorded responses may have them. Only asks in the chain's native currency or its wrapped form are supported.

import { parseAmount } from '../../../platform/core/amount.ts';
import type { Chain } from '../../../platform/core/chains.ts';
import { nameAt } from '../../../platform/core/chains.ts';
import { toListingIdOfOrder } from '../../../market/index/row-keys.ts';
import { MAGIC_EDEN } from './solana.ts';
import type { ParsedPage, VendorRow, SourceRecord } from '../response-rows.ts';
import {
  parseRows,
  optionalInteger,
  optionalRow,
  optionalText,
  rejectRow,
  rejectUnsupported,
  requiredAddress,
  requiredAsset,
  requiredText,
  toRow,
  toTime,
} from '../response-rows.ts';
import type { UpstreamClient } from '../upstream-client.ts';
import { toMalformed } from '../upstream-client.ts';
import type { WalkEnd } from '../walk.ts';
import { parsePages, walkPages } from '../walk.ts';

export type AskedContract = {
  chain: Chain;
  contractAddress: string;
  /** Asks that begin after this time (in ms since the epoch) are skipped, because they cannot be filled yet. Default: no limit. */
  begunBy?: number;
};

const PAGE = 100;
const PAGES_MAX = 200;
const ASKS_MAX = 20_000;
const NATIVE = '0x0000000000000000000000000000000000000000';
const NATIVE_DECIMALS = 18;

export function hasMagicEdenAsks(chain: Chain): boolean {
  return nameAt(chain, MAGIC_EDEN) !== null;
}

function toVendorChain(chain: Chain): string {
  return nameAt(chain, MAGIC_EDEN) ?? chain.id;
}

/** Reads the asks of a contract, the cheapest first, a page at a time. */
export function walkMagicEdenAsks(
  upstream: UpstreamClient,
  contract: AskedContract,
  { signal }: { signal?: AbortSignal } = {},
): AsyncGenerator<ParsedPage, WalkEnd> {
  const pages = walkPages(
    async (cursor) => {
      const query = {
        chain: toVendorChain(contract.chain),
        collectionId: contract.contractAddress.toLowerCase(),
        'sources[]': ['magiceden'],
        'status[]': ['active'],
        sortBy: 'price',
        sortDir: 'asc',
        limit: PAGE,
        continuation: cursor,
      };
      const response = await upstream.getJson('/v4/evm-public/orders/asks', query, signal ? { signal } : {});
      // The older API calls the list `orders`.
      const { orders, asks = orders, continuation } = (response ?? {}) as Record<string, unknown>;
      if (!Array.isArray(asks) || asks.length > PAGE) {
        throw toMalformed(upstream, 'no page of asks');
      }
      return { rows: asks, next: typeof continuation === 'string' && continuation !== '' ? continuation : null };
    },
    { pagesMax: PAGES_MAX, rowsMax: ASKS_MAX },
  );
  return parsePages(pages, (rows) => parseMagicEdenAsks(rows, contract));
}

/** Parses rows of API v4 and rows of the older API. */
export function parseMagicEdenAsks(rows: readonly unknown[], contract: AskedContract): ParsedPage {
  return parseRows(rows, (row) => (row['assetId'] === undefined ? toOldAsk(row, contract) : toAsk(row, contract)));
}

function toAsk(row: VendorRow, contract: AskedContract): SourceRecord[] {
  if (requiredText(row, 'kind') !== 'ASK') rejectRow('kind', 'is not an ask');
  if (requiredText(row, 'status') !== 'active' || requiredText(row, 'source') !== 'MAGICEDEN') return [];
  if (requiredText(row, 'chain') !== toVendorChain(contract.chain)) rejectRow('chain', 'is another chain');
  checkContract(row, contract);
  const [address, tokenId, ...rest] = requiredText(row, 'assetId').split(':');
  if (address?.toLowerCase() !== contract.contractAddress.toLowerCase() || rest.length > 0) {
    rejectRow('assetId', 'belongs to another contract');
  }
  // Magic Eden does not document whether the price of an ask for several units is for one unit or for all units.
  const quantity = toRow(row['quantity'], 'quantity');
  if (requiredText(quantity, 'remaining') !== '1') rejectUnsupported('quantity.remaining', 'is not one token');
  const expiry = optionalRow(row, 'expiry');
  const from = expiry && optionalText(expiry, 'validFrom');
  if (from !== null && beginsLater(readTime(from, 'expiry.validFrom'), contract)) return [];
  const until = expiry && optionalText(expiry, 'validUntil');
  return [
    toListing(row, contract, {
      tokenId: requiredAsset({ tokenId }, 'tokenId', 'evm'),
      priceRaw: readPrice(row, contract),
      expiresAt: until === null ? null : readTime(until, 'expiry.validUntil'),
    }),
  ];
}

function toOldAsk(row: VendorRow, contract: AskedContract): SourceRecord[] {
  if (requiredText(row, 'side') !== 'sell') rejectRow('side', 'is not an ask');
  const source = optionalRow(row, 'source');
  if (requiredText(row, 'status') !== 'active' || source?.['domain'] !== 'magiceden.io') return [];
  checkContract(row, contract);
  const criteria = toRow(row['criteria'], 'criteria');
  if (requiredText(criteria, 'kind') !== 'token') rejectRow('criteria.kind', 'is not one token');
  if ((optionalInteger(row, 'quantityRemaining') ?? 1) !== 1)
    rejectUnsupported('quantityRemaining', 'is not one token');
  const token = toRow(toRow(criteria['data'], 'criteria.data')['token'], 'criteria.data.token');
  const from = optionalInteger(row, 'validFrom') ?? 0;
  if (from > 0 && beginsLater(toTime(from, 'validFrom'), contract)) return [];
  const until = optionalInteger(row, 'validUntil') ?? 0;
  return [
    toListing(row, contract, {
      tokenId: requiredAsset(token, 'tokenId', 'evm'),
      priceRaw: readPrice(row, contract),
      expiresAt: until > 0 ? toTime(until, 'validUntil') : null,
    }),
  ];
}

function beginsLater(from: string, { begunBy = Number.POSITIVE_INFINITY }: AskedContract): boolean {
  return Date.parse(from) > begunBy;
}

type Terms = { tokenId: string; priceRaw: bigint; expiresAt: string | null };

function toListing(row: VendorRow, contract: AskedContract, { tokenId, priceRaw, expiresAt }: Terms): SourceRecord {
  return {
    kind: 'listing',
    source: MAGIC_EDEN,
    chain: contract.chain.id,
    contractAddress: contract.contractAddress,
    tokenId,
    ...readIdentity(row, contract),
    priceRaw: priceRaw.toString(),
    seller: requiredAddress(row, 'maker', 'evm'),
    timestamp: readTime(requiredText(row, 'createdAt'), 'createdAt'),
    ...(expiresAt !== null && { expiresAt }),
  };
}

const ORDER_HASH = /^0x[0-9a-f]{64}$/i;

/** Magic Eden identifies an ask of a signed order by the hash of the order, and other asks by an id of its own. */
function readIdentity(row: VendorRow, { chain }: AskedContract): { id: string; orderHash?: string } {
  const id = requiredText(row, 'id');
  if (!ORDER_HASH.test(id)) return { id };
  const orderHash = id.toLowerCase();
  return { id: toListingIdOfOrder({ source: MAGIC_EDEN, chain: chain.id, orderHash }), orderHash };
}

function readPrice(row: VendorRow, contract: AskedContract): bigint {
  const price = toRow(row['price'], 'price');
  const currency = toRow(price['currency'], 'price.currency');
  const address = requiredAddress(currency, 'contract', 'evm');
  if (address !== NATIVE && address !== contract.chain.wrappedNative)
    rejectUnsupported('price.currency', 'is another currency');
  if (optionalInteger(currency, 'decimals') !== NATIVE_DECIMALS) rejectRow('price.currency.decimals', 'are not 18');
  const raw = parseAmount(requiredText(toRow(price['amount'], 'price.amount'), 'raw'));
  if (raw === null || raw === 0n) rejectRow('price.amount.raw', 'is not a positive amount');
  return raw;
}

function checkContract(row: VendorRow, contract: AskedContract): void {
  if (requiredAddress(row, 'contract', 'evm') !== contract.contractAddress.toLowerCase()) {
    rejectRow('contract', 'is another contract');
  }
}

const TIME = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d{1,9})?Z$/;

/** Returns an ISO 8601 time. `text` is such a time, or the number of seconds since the epoch. */
function readTime(text: string, field: string): string {
  if (/^\d{1,12}$/.test(text)) return toTime(Number(text), field);
  return TIME.test(text) ? text : rejectRow(field, 'is not a time');
}
