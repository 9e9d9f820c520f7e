// Records about whole collections and about currencies: identity and snapshot, the two stats sources, rates.

import type { CollectionChange } from '../../market/queries/collections.ts';
import type { NewAnalytics, NewStats } from '../../market/queries/stats.ts';
import type { Address } from '../../core/address.ts';
import { parseAnyAddress } from '../../core/address.ts';
import type { Chain } from '../../core/chains.ts';
import { parseCollectionId, toRecordedCollectionId } from '../../core/collection.ts';
import type { Rate } from '../../core/price.ts';
import type { Fields } from './fields.ts';
import {
  DESCRIPTION_MAX,
  readAmount,
  readBoolean,
  readFields,
  readInteger,
  readName,
  readNumber,
  readText,
  readTime,
  refuse,
  required,
  show,
  URL_MAX,
} from './fields.ts';
import type { Observed } from './items.ts';
import type { RecordContext } from './identifiers.ts';
import { readAddress, readChain, readSubject } from './identifiers.ts';

const BASIS_POINTS_MAX = 10_000;

export function toCollection(context: RecordContext, fields: Fields): CollectionChange {
  const chain = readChain(context, fields);
  const contractAddress = chain === null ? readUnchainedAddress(fields) : readAddress(chain, fields, 'contractAddress');
  const slug = readSlug(context, fields);
  const snapshot = readFields(fields, 'snapshot') ?? { values: {}, path: 'snapshot.' };
  return {
    id: readId(context, fields, { chain, contractAddress, slug }),
    chain: chain?.id ?? null,
    contractAddress,
    slug,
    name: required(readName, fields, 'name'),
    image: readText(fields, 'image', URL_MAX),
    banner: readText(fields, 'banner', URL_MAX),
    description: readText(fields, 'description', DESCRIPTION_MAX),
    tokenStandard: readText(fields, 'tokenStandard'),
    royaltyBps: readInteger(fields, 'royaltyBps', { max: BASIS_POINTS_MAX }),
    launched: readBoolean(fields, 'launched'),
    createdAt: readTime(fields, 'createdAt'),
    snapshot: {
      floorRaw: readAmount(snapshot, 'floorRaw'),
      volumeAllTime: readNumber(snapshot, 'volumeAllTime'),
      supply: readInteger(snapshot, 'supply'),
      owners: readInteger(snapshot, 'owners'),
    },
  };
}

export function toStats(context: RecordContext, fields: Fields): Observed<NewStats> {
  const { collectionId, contractAddress } = readSubject(context, fields);
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

export function toAnalytics(context: RecordContext, fields: Fields): Observed<NewAnalytics> {
  const { collectionId, contractAddress } = readSubject(context, fields);
  return {
    collectionId,
    contractAddress,
    floorRaw: readAmount(fields, 'floorRaw'),
    volume: readWindows(fields, 'volume', readNumber),
    sales: readWindows(fields, 'sales', readInteger),
    ...readObservationTime(context, fields),
  };
}

export function toRate(context: RecordContext, fields: Fields): Rate {
  const symbol = required(readText, fields, 'symbol');
  const symbols = new Set([...context.chains.values()].map((chain) => chain.symbol));
  if (!symbols.has(symbol)) {
    refuse(fields, 'symbol', `must be the currency of a chain (${[...symbols].join(', ')}), not ${show(symbol)}`);
  }
  const usd = required(readNumber, fields, 'usd');
  if (usd === 0) refuse(fields, 'usd', 'must be more than 0');
  return { symbol, usd, at: required(readTime, fields, 'at') };
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

function readObservationTime(context: RecordContext, fields: Fields): { at: number; atTold: boolean } {
  const at = readTime(fields, 'at');
  return { at: at ?? context.now(), atTold: at !== null };
}

function readUnchainedAddress(fields: Fields): Address | null {
  const text = readText(fields, 'contractAddress');
  if (text === null) return null;
  return parseAnyAddress(text) ?? refuse(fields, 'contractAddress', `must be an address, not ${show(text)}`);
}

/** A slug is one segment of a path, and must never be read as the id or the address of another collection. */
function readSlug(context: RecordContext, fields: Fields): string | null {
  const slug = readName(fields, 'slug');
  if (slug === null) return null;
  if (/[/\p{Cc}]/u.test(slug) || slug === '.' || slug === '..') {
    refuse(fields, 'slug', `must be one segment of a path without control characters, not ${show(slug)}`);
  }
  if (parseCollectionId(context.chains, slug) || parseAnyAddress(slug)) {
    refuse(fields, 'slug', `must not look like a collection id or an address, as ${show(slug)} does`);
  }
  return slug;
}

function readId(
  context: RecordContext,
  fields: Fields,
  names: { chain: Chain | null; contractAddress: Address | null; slug: string | null },
): string {
  const id = toRecordedCollectionId(names.chain?.id ?? null, names.contractAddress, names.slug);
  if (id === null) return refuse(fields, 'contractAddress', 'a collection needs a contractAddress or a slug');
  if (names.contractAddress === null && parseCollectionId(context.chains, id)) {
    refuse(fields, 'slug', `must not look like an address, as ${show(names.slug)} does`);
  }
  return id;
}
