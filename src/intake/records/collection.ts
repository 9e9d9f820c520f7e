// Parses records of four kinds: collections (each with its snapshot), stats, analytics and exchange rates.

import type { Address } from '../../platform/core/address.ts';
import { parseAnyAddress } from '../../platform/core/address.ts';
import type { Chain } from '../../platform/core/chains.ts';
import { parseCollectionId, toRecordedCollectionId } from '../../platform/core/collection.ts';
import type { Rate } from '../../platform/core/price.ts';
import type { CollectionChange } from '../../market/reads/queries/collections.ts';
import type { NewStats } from '../../market/index/queries/stats.ts';
import type { NewAnalytics } from '../../market/index/queries/analytics.ts';
import type { Fields } from './fields.ts';
import {
  DESCRIPTION_MAX,
  quoteValue,
  readAmount,
  readBoolean,
  readFields,
  readInteger,
  readName,
  readNumber,
  readText,
  readTimestamp,
  rejectField,
  requireField,
  URL_MAX,
} from './fields.ts';
import type { RecordContext } from './identifiers.ts';
import { readAddress, readChain, readCollectionLocation } from './identifiers.ts';
import type { WithWrittenAddress } from './items.ts';

const BASIS_POINTS_MAX = 10_000;

export function parseCollectionRecord(context: RecordContext, fields: Fields): CollectionChange {
  const chain = readChain(context, fields);
  const contractAddress =
    chain === null ? readAddressOfAnyChain(fields) : readAddress(chain, fields, 'contractAddress');
  const slug = readSlug(context, fields);
  const snapshot = readFields(fields, 'snapshot') ?? { values: {}, path: 'snapshot.' };
  return {
    id: readId(context, fields, { chain, contractAddress, slug }),
    chain: chain?.id ?? null,
    contractAddress,
    slug,
    name: requireField(readName, fields, 'name'),
    image: readText(fields, 'image', URL_MAX),
    banner: readText(fields, 'banner', URL_MAX),
    description: readText(fields, 'description', DESCRIPTION_MAX),
    tokenStandard: readText(fields, 'tokenStandard'),
    royaltyBps: readInteger(fields, 'royaltyBps', { max: BASIS_POINTS_MAX }),
    launched: readBoolean(fields, 'launched'),
    tokensComplete: readBoolean(fields, 'tokensComplete'),
    salesComplete: readBoolean(fields, 'salesComplete'),
    listingsComplete: readBoolean(fields, 'listingsComplete'),
    createdAt: readTimestamp(fields, 'createdAt'),
    snapshot: {
      floorRaw: readAmount(snapshot, 'floorRaw'),
      volumeAllTime: readNumber(snapshot, 'volumeAllTime'),
      supply: readInteger(snapshot, 'supply'),
      owners: readInteger(snapshot, 'owners'),
    },
  };
}

export function parseStatsRecord(context: RecordContext, fields: Fields): WithWrittenAddress<NewStats> {
  const { collectionId, contractAddress } = readCollectionLocation(context, fields);
  return {
    collectionId,
    contractAddress,
    owners: readInteger(fields, 'owners'),
    listedCount: readInteger(fields, 'listedCount'),
    supply: readInteger(fields, 'supply'),
    floorRaw: readAmount(fields, 'floorRaw'),
    ...readObservationTime(context, fields),
  };
}

export function parseAnalyticsRecord(context: RecordContext, fields: Fields): WithWrittenAddress<NewAnalytics> {
  const { collectionId, contractAddress } = readCollectionLocation(context, fields);
  return {
    collectionId,
    contractAddress,
    floorRaw: readAmount(fields, 'floorRaw'),
    volume: readWindows(fields, 'volume', readNumber),
    sales: readWindows(fields, 'sales', readInteger),
    ...readObservationTime(context, fields),
  };
}

export function parseRateRecord(context: RecordContext, fields: Fields): Rate {
  const symbol = requireField(readText, fields, 'symbol');
  const symbols = new Set([...context.chains.values()].map((chain) => chain.symbol));
  if (!symbols.has(symbol)) {
    rejectField(
      fields,
      'symbol',
      `must be the currency of a chain (${[...symbols].join(', ')}), not ${quoteValue(symbol)}`,
    );
  }
  const usd = requireField(readNumber, fields, 'usd');
  if (usd === 0) rejectField(fields, 'usd', 'must be more than 0');
  return { symbol, usd, at: requireField(readTimestamp, fields, 'at') };
}

function readWindows(fields: Fields, name: string, read: (fields: Fields, name: string) => number | null) {
  const windows = readFields(fields, name);
  if (windows === null) return { allTime: null, sevenDay: null, twentyFourHour: null };
  return {
    allTime: read(windows, 'allTime'),
    sevenDay: read(windows, 'sevenDay'),
    twentyFourHour: read(windows, 'twentyFourHour'),
  };
}

/**
 * Returns the time of an observation, and whether the record reported this time. The present time is used if the record has no time, or a
 * time in the future: an observation from the future would count as recent for too long.
 */
function readObservationTime(context: RecordContext, fields: Fields): { at: number; atReported: boolean } {
  const at = readTimestamp(fields, 'at');
  const now = context.now();
  return at === null || at > now ? { at: now, atReported: false } : { at, atReported: true };
}

function readAddressOfAnyChain(fields: Fields): Address | null {
  const text = readText(fields, 'contractAddress');
  if (text === null) return null;
  return parseAnyAddress(text) ?? rejectField(fields, 'contractAddress', `must be an address, not ${quoteValue(text)}`);
}

/**
 * Reads a slug, which is one segment of a URL path. A slug in the form of a collection id or an address is rejected, because the path would
 * be ambiguous.
 */
function readSlug(context: RecordContext, fields: Fields): string | null {
  const slug = readName(fields, 'slug');
  if (slug === null) return null;
  if (/[/\p{Cc}]/u.test(slug) || slug === '.' || slug === '..') {
    rejectField(fields, 'slug', `must be one segment of a path without control characters, not ${quoteValue(slug)}`);
  }
  if (parseCollectionId(context.chains, slug) || parseAnyAddress(slug)) {
    rejectField(fields, 'slug', `must not look like a collection id or an address, as ${quoteValue(slug)} does`);
  }
  return slug;
}

function readId(
  context: RecordContext,
  fields: Fields,
  names: { chain: Chain | null; contractAddress: Address | null; slug: string | null },
): string {
  const id = toRecordedCollectionId(names.chain?.id ?? null, names.contractAddress, names.slug);
  if (id === null) return rejectField(fields, 'contractAddress', 'a collection needs a contractAddress or a slug');
  if (names.contractAddress === null && parseCollectionId(context.chains, id)) {
    rejectField(fields, 'slug', `must not look like an address, as ${quoteValue(names.slug)} does`);
  }
  return id;
}
