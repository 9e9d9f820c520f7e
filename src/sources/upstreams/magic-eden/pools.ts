// Magic Eden's pools on Solana: converts those that buy tokens of a collection to records of the kind `bid`. A pool pays less for each further token
// if its price has a curve, so only its next purchase is a bid at the stated price.

import type { ParsedPage, SourceRecord, VendorRow } from '../response-rows.ts';
import {
  isRow,
  optionalInteger,
  optionalRows,
  parseRows,
  rejectRow,
  rejectUnsupported,
  requiredAddress,
  requiredInteger,
  requiredText,
  toRow,
  toTime,
} from '../response-rows.ts';
import type { UpstreamClient } from '../upstream-client.ts';
import { toMalformed } from '../upstream-client.ts';
import type { WalkEnd } from '../walk.ts';
import { parsePages, walkPages } from '../walk.ts';
import type { MagicEdenCollection } from './solana.ts';
import { MAGIC_EDEN } from './solana.ts';

/** The most pools that the API returns in one page. */
const PAGE = 500;
const PAGES_MAX = 20;
const POOLS_MAX = 10_000;
/** Pools are sorted by their addresses, which do not change, so that a page begins where the page before has ended. */
const BY_ADDRESS = { field: '1', direction: '2' };

/** The pools of a collection, a page at a time. Empty for a symbol that Magic Eden does not know. */
export function walkMagicEdenPools(
  upstream: UpstreamClient,
  collection: MagicEdenCollection,
  { signal }: { signal?: AbortSignal } = {},
): AsyncGenerator<ParsedPage, WalkEnd> {
  const pages = walkPages(
    async (cursor) => {
      const offset = Number(cursor ?? '0');
      const query = { collectionSymbol: collection.symbol, offset, limit: PAGE, ...BY_ADDRESS };
      const response = await upstream.getJson('/v2/mmm/pools', query, signal ? { signal } : {});
      const rows = isRow(response) ? response['results'] : null;
      if (!Array.isArray(rows) || rows.length > PAGE) throw toMalformed(upstream, 'no page of pools');
      return { rows, next: rows.length < PAGE ? null : String(offset + PAGE) };
    },
    { pagesMax: PAGES_MAX, rowsMax: POOLS_MAX },
  );
  return parsePages(pages, (rows) => parseMagicEdenPools(rows, collection));
}

export function parseMagicEdenPools(rows: readonly unknown[], collection: MagicEdenCollection): ParsedPage {
  return parseRows(rows, (row) => toBids(row, collection));
}

const BPS = 10_000n;
const BUYING: ReadonlySet<string> = new Set(['buy_sided', 'two_sided']);

function toBids(row: VendorRow, collection: MagicEdenCollection): SourceRecord[] {
  if (requiredText(row, 'collectionSymbol') !== collection.symbol)
    rejectRow('collectionSymbol', 'belongs to another collection');
  const orders = readCount(row, 'buyOrdersAmount');
  if (!BUYING.has(requiredText(row, 'poolType')) || orders === 0n) return [];
  const priceRaw = readCount(row, 'spotPrice');
  if (priceRaw === 0n) rejectRow('spotPrice', 'is 0');
  const quantity = requiredInteger(row, 'curveDelta') === 0 ? orders : 1n;
  const expiry = optionalInteger(row, 'expiry') ?? 0;
  const traits = readTraits(row);
  return [
    {
      kind: 'bid',
      source: MAGIC_EDEN,
      chain: 'solana',
      contractAddress: collection.contractAddress,
      ...(traits !== null && { traits }),
      priceRaw: priceRaw.toString(),
      proceedsRaw: toProceeds(row, priceRaw).toString(),
      buyer: requiredAddress(row, 'poolOwner', 'solana'),
      id: requiredAddress(row, 'poolKey', 'solana'),
      quantity: quantity.toString(),
      timestamp: readUpdate(row),
      ...(expiry > 0 && { expiresAt: toTime(expiry, 'expiry') }),
    },
  ];
}

/**
 * The adjusted price of the documentation: the price without the fee of the pool and the royalty that the pool pays. Magic Eden's own fee is not in the
 * row of a pool, so it is not subtracted.
 */
function toProceeds(row: VendorRow, price: bigint): bigint {
  const lpFee = (price * readCount(row, 'lpFeeBp')) / BPS;
  const royalty =
    (price * readCount(row, 'collectionSellerFeeBasisPoints') * readCount(row, 'buysideCreatorRoyaltyBp')) / BPS / BPS;
  const proceeds = price - lpFee - royalty;
  return proceeds > 0n ? proceeds : rejectRow('lpFeeBp', 'leaves nothing to the seller');
}

function readCount(row: VendorRow, field: string): bigint {
  const value = requiredInteger(row, field);
  return value >= 0 ? BigInt(value) : rejectRow(field, 'is negative');
}

const TIME = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d{1,9})?Z$/;

function readUpdate(row: VendorRow): string {
  const text = requiredText(row, 'updatedAt');
  return TIME.test(text) ? text : rejectRow('updatedAt', 'is not a time');
}

/** The traits that a token must have. Null for a pool that buys any token. The row has a list of alternatives, of which each is a list of traits. */
function readTraits(row: VendorRow): { name: string; value: string }[] | null {
  const [first, ...others] = optionalRows(row, 'attributes');
  if (first === undefined) return null;
  if (others.length > 0) rejectUnsupported('attributes', 'has several alternatives');
  if (!Array.isArray(first) || first.length === 0) return rejectRow('attributes', 'is not a list of traits');
  return first.map((value) => {
    const trait = toRow(value, 'attributes[]');
    return { name: requiredText(trait, 'trait_type'), value: requiredText(trait, 'value') };
  });
}
