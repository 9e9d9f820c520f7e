// Reads OpenSea's record of a collection, and the collection's statistics. OpenSea reports the floor as a decimal number. The text of this
// number is converted to base units. A floor is left out if this conversion is not exact, or if the floor is not in the chain's native
// currency.

import { parseNativeAmount } from '../../../platform/core/amount.ts';
import type { Address } from '../../../platform/core/address.ts';
import type { Chain } from '../../../platform/core/chains.ts';
import type { ParsedPage, VendorRow, SourceRecord } from '../response-rows.ts';
import {
  parseRows,
  optionalFlag,
  optionalInteger,
  optionalNumberText,
  optionalRows,
  optionalText,
  rejectRow,
  requiredAddress,
  requiredText,
  toRow,
} from '../response-rows.ts';
import type { UpstreamClient } from '../upstream-client.ts';
import { toMalformed, toPath, UpstreamFailure } from '../upstream-client.ts';
import { fetchObject } from './pages.ts';
import type { OpenSeaCollection } from './names.ts';
import { isNativeSymbol, isOpenSeaChain, toOpenSeaChain } from './names.ts';

type Options = { signal?: AbortSignal | undefined };

/**
 * The slug of the collection to which a contract belongs, and the contract's token standard. Null when OpenSea does not have the chain or
 * does not know the contract. `tokenStandard` is null for a standard other than ERC-721 and ERC-1155.
 */
export async function findOpenSeaContract(
  upstream: UpstreamClient,
  { chain, contractAddress }: { chain: Chain; contractAddress: Address },
  { signal }: Options = {},
): Promise<{ slug: string; tokenStandard: string | null } | null> {
  const name = toOpenSeaChain(chain);
  if (name === null) return null;
  try {
    const row = await fetchObject(upstream, toPath('api', 'v2', 'chain', name, 'contract', contractAddress), {
      signal,
    });
    const { collection: slug, address, contract_standard: standard } = row;
    if (typeof address !== 'string' || address.toLowerCase() !== contractAddress)
      throw toMalformed(upstream, 'the response is about another contract');
    if (typeof slug !== 'string' || slug === '' || slug.length > SLUG_LENGTH_MAX)
      throw toMalformed(upstream, 'the response has no slug');
    return { slug, tokenStandard: STANDARDS.get(standard) ?? null };
  } catch (error) {
    if (error instanceof UpstreamFailure && error.reason === 'not-found') return null;
    throw error;
  }
}

const SLUG_LENGTH_MAX = 200;
const STANDARDS: ReadonlyMap<unknown, string> = new Map([
  ['erc721', 'ERC-721'],
  ['erc1155', 'ERC-1155'],
]);

/** OpenSea's record of the collection. The record is rejected when OpenSea's collection with the slug does not include the contract. */
export async function readOpenSeaCollection(
  upstream: UpstreamClient,
  collection: OpenSeaCollection,
  { signal }: Options = {},
): Promise<ParsedPage> {
  const row = await fetchObject(upstream, toPath('api', 'v2', 'collections', collection.slug), { signal });
  return parseRows([row], (found) => [toCollection(found, collection)]);
}

function toCollection(row: VendorRow, collection: OpenSeaCollection): SourceRecord {
  if (requiredText(row, 'collection') !== collection.slug) rejectRow('collection', 'names another collection');
  const contracts = optionalRows(row, 'contracts').map((contract) => toRow(contract, 'contracts[]'));
  if (!contracts.some((contract) => isContract(contract, collection)))
    rejectRow('contracts', 'do not include the followed contract');
  if (optionalFlag(row, 'is_disabled')) rejectRow('is_disabled', 'is true');
  // `total_supply` counts the tokens of all contracts of the collection, so it is used only if there is one contract.
  const supply = contracts.length === 1 ? optionalInteger(row, 'total_supply') : null;
  const royaltyBps = readRoyalty(row);
  const texts = {
    slug: collection.slug,
    image: optionalText(row, 'image_url'),
    banner: optionalText(row, 'banner_image_url'),
    description: optionalText(row, 'description'),
    createdAt: readDate(row),
  };
  return {
    kind: 'collection',
    chain: collection.chain.id,
    contractAddress: collection.contractAddress,
    name: requiredText(row, 'name'),
    ...Object.fromEntries(Object.entries(texts).filter(([, text]) => text !== null)),
    ...(royaltyBps !== null && { royaltyBps }),
    ...(supply !== null && supply > 0 && { snapshot: { supply } }),
  };
}

function isContract(row: VendorRow, { chain, contractAddress }: OpenSeaCollection): boolean {
  return (
    isOpenSeaChain(requiredText(row, 'chain'), chain) && requiredText(row, 'address').toLowerCase() === contractAddress
  );
}

/** Recipients of OpenSea's own fee, which is not a royalty. */
const OPENSEA_FEE_RECIPIENTS: ReadonlySet<string> = new Set([
  '0x0000a26b00c1f0df003000390027140000faa719',
  '0x8de9c5a032463c561423387a9648c5c7bcc5bc90',
]);
const PERCENT_DECIMALS = 2;
const BASIS_POINTS_MAX = 10_000n;

/** The sum of the creators' fees in basis points; null when the row has no field `fees`. OpenSea states a fee in per cent, such as 2.5. */
function readRoyalty(row: VendorRow): number | null {
  if ((row['fees'] ?? null) === null) return null;
  let sum = 0n;
  for (const value of optionalRows(row, 'fees')) {
    const fee = toRow(value, 'fees[]');
    if (OPENSEA_FEE_RECIPIENTS.has(requiredAddress(fee, 'recipient', 'evm'))) continue;
    const text = optionalNumberText(fee, 'fee') ?? rejectRow('fees[].fee', 'is missing');
    sum +=
      parseNativeAmount(text, PERCENT_DECIMALS) ?? rejectRow('fees[].fee', 'is not a whole number of basis points');
  }
  return sum <= BASIS_POINTS_MAX ? Number(sum) : rejectRow('fees', 'are more than 100 %');
}

const DATE = /^(\d{4}-\d{2}-\d{2})(?:T(\d{2}:\d{2}:\d{2}(?:\.\d{1,9})?)(Z|[+-]\d{2}:\d{2})?)?$/;

/** A time as OpenSea writes it: a date, or a date with a time. It is in UTC unless it has an offset. */
function readDate(row: VendorRow): string | null {
  const text = optionalText(row, 'created_date');
  if (text === null) return null;
  const [, day, time = '00:00:00', offset = 'Z'] = DATE.exec(text) ?? [];
  return day === undefined ? rejectRow('created_date', 'is not a time') : `${day}T${time}${offset}`;
}

/** The records `stats` and `analytics`, as of `at` in ms since the epoch. */
export async function readOpenSeaStats(
  upstream: UpstreamClient,
  collection: OpenSeaCollection,
  { at, signal }: { at: number } & Options,
): Promise<ParsedPage> {
  const row = await fetchObject(upstream, toPath('api', 'v2', 'collections', collection.slug, 'stats'), { signal });
  return parseRows([row], (found) => toStats(found, collection, at));
}

const INTERVALS: Readonly<Record<string, string>> = { one_day: 'twentyFourHour', seven_day: 'sevenDay' };

function toStats(row: VendorRow, collection: OpenSeaCollection, at: number): SourceRecord[] {
  const { chain, contractAddress } = collection;
  const total = toRow(row['total'], 'total');
  const windows = new Map([['allTime', total]]);
  for (const value of optionalRows(row, 'intervals')) {
    const interval = toRow(value, 'intervals[]');
    const name = INTERVALS[requiredText(interval, 'interval')];
    if (name !== undefined) windows.set(name, interval);
  }
  const floorRaw = readFloor(total, chain);
  const owners = readCount(total, 'num_owners');
  const common = { chain: chain.id, contractAddress, at: new Date(at).toISOString() };
  const floor = floorRaw === null ? {} : { floorRaw: floorRaw.toString() };
  return [
    { kind: 'stats', ...common, ...floor, ...(owners !== null && { owners }) },
    {
      kind: 'analytics',
      ...common,
      ...floor,
      ...(isVolumeNative(total, chain) && { volume: toWindows(windows, readVolume) }),
      sales: toWindows(windows, (window) => readCount(window, 'sales')),
    },
  ];
}

function toWindows(
  windows: ReadonlyMap<string, VendorRow>,
  read: (window: VendorRow) => number | null,
): Record<string, number> {
  const values = [...windows].map(([name, window]) => [name, read(window)] as const);
  return Object.fromEntries(values.filter((entry): entry is [string, number] => entry[1] !== null));
}

/** The floor in base units. Null when the floor is missing, zero, in another currency, or not a whole number of base units. */
function readFloor(total: VendorRow, chain: Chain): bigint | null {
  const text = optionalNumberText(total, 'floor_price');
  const symbol = optionalText(total, 'floor_price_symbol');
  if (text === null || symbol === null || !isNativeSymbol(symbol, chain)) return null;
  if (text.startsWith('-')) rejectRow('total.floor_price', 'is negative');
  const raw = parseNativeAmount(text, chain.decimals);
  return raw === 0n ? null : raw;
}

/**
 * Whether volumes are in the chain's native currency. OpenSea does not report the currency of volumes. It is assumed to be the currency of
 * the floor, or ether when there is no floor.
 */
function isVolumeNative(total: VendorRow, chain: Chain): boolean {
  const symbol = optionalText(total, 'floor_price_symbol');
  return symbol === null ? chain.symbol === 'ETH' : isNativeSymbol(symbol, chain);
}

function readVolume(window: VendorRow): number | null {
  const text = optionalNumberText(window, 'volume');
  if (text === null) return null;
  const volume = Number(text);
  return Number.isFinite(volume) && volume >= 0 ? volume : rejectRow('volume', 'is not an amount');
}

function readCount(row: VendorRow, field: string): number | null {
  const count = optionalInteger(row, field);
  return count === null || count >= 0 ? count : rejectRow(field, 'is negative');
}
