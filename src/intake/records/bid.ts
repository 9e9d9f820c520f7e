// Parses records about bids that a marketplace reports: for one token, for the tokens of a set, or for any token of a collection.

import type { Address, AssetId } from '../../platform/core/address.ts';
import type { Chain } from '../../platform/core/chains.ts';
import { findCurrency } from '../../platform/core/chains.ts';
import type { Hex } from '../../platform/core/evm.ts';
import { ZERO_ADDRESS } from '../../platform/core/evm.ts';
import { toDigest } from '../../market/index/row-keys.ts';
import { toReportedBidId } from '../../market/orders/order-id.ts';
import type { ReportedBid } from '../../market/orders/queries/reported-bids.ts';
import type { SetTrait } from '../../market/orders/token-sets.ts';
import { SET_TRAITS_MAX } from '../../market/orders/token-sets.ts';
import type { Fields } from './fields.ts';
import { readAmount, readName, readTimestamp, rejectField, requireField } from './fields.ts';
import type { RecordContext } from './identifiers.ts';
import {
  readAddress,
  readAssetList,
  readAssetOrNull,
  readCollectionLocation,
  readHashText,
  readSource,
  readTransactionId,
} from './identifiers.ts';
import { readEnd, readUnitCount } from './items.ts';
import { readTraitList } from './traits.ts';

/**
 * The set of tokens that a bid names. `tokenIds` is null if the record names the tokens by their traits alone: the service then finds the tokens when it
 * stores the bid. `traits` is null if the record has none.
 */
export type WantedSet = { root: Hex; traits: readonly SetTrait[] | null; tokenIds: readonly AssetId[] | null };

/** `set`: null for a bid for one token, or for any token of the collection. */
export type BidRow = ReportedBid & { set: WantedSet | null };

export function parseBidRecord(context: RecordContext, fields: Fields): BidRow {
  const source = readSource(fields);
  const { chain, contractAddress, collectionId } = readCollectionLocation(context, fields);
  if (source === context.serviceName) {
    rejectField(fields, 'source', `a bid of ${source} itself must be signed, and is submitted to /intake/v1/orders`);
  }
  const asset = readAssetOrNull(chain, fields);
  const set = asset === null ? readSet(chain, fields) : rejectSet(chain, fields);
  const bidder = requireField((from, name) => readAddress(chain, from, name), fields, 'buyer');
  const createdAt = requireField(readTimestamp, fields, 'timestamp');
  const price = readPrice(fields);
  const currency = readCurrency(chain, fields);
  const id =
    readName(fields, 'id') ??
    toDigest([
      'bid',
      asset,
      set && set.root,
      bidder,
      price.priceRaw.toString(),
      createdAt,
      ...(currency === null ? [] : [currency]),
    ]);
  return {
    id: toReportedBidId({ chain: chain.id, contractAddress, source, id }),
    source,
    chain: chain.id,
    collectionId,
    contractAddress,
    asset,
    root: set && set.root,
    ...price,
    currency,
    bidder,
    orderHash: readHashText(fields, 'orderHash'),
    ...readUnits(fields),
    createdAt,
    expiresAt: readTimestamp(fields, 'expiresAt'),
    ...readEnd(fields),
    tx: readTransactionId(chain, fields, 'tx'),
    set,
  };
}

/** A bid without `proceedsRaw` states no fees. */
function readPrice(fields: Fields): Pick<ReportedBid, 'priceRaw' | 'proceedsRaw'> {
  const priceRaw = requireField(readAmount, fields, 'priceRaw');
  const proceedsRaw = readAmount(fields, 'proceedsRaw') ?? priceRaw;
  if (priceRaw === 0n) rejectField(fields, 'priceRaw', 'must be at least 1');
  if (proceedsRaw === 0n || proceedsRaw > priceRaw)
    rejectField(fields, 'proceedsRaw', 'must be at least 1, and at most the price');
  return { priceRaw, proceedsRaw };
}

/** Null for the native currency, also if the record names its wrapped form or the zero address. */
function readCurrency(chain: Chain, fields: Fields): Address | null {
  const address = readAddress(chain, fields, 'currency');
  if (address === null || address === chain.wrappedNative || address === ZERO_ADDRESS) return null;
  if (findCurrency(chain, address)) return address;
  const known = chain.currencies.map(({ symbol, address: contract }) => `${contract} (${symbol})`);
  return rejectField(
    fields,
    'currency',
    `must be absent for the native currency of ${chain.id}, wrapped or not, or a currency that CURRENCIES names (${known.join(', ') || 'none'})`,
  );
}

function readUnits(fields: Fields): Pick<ReportedBid, 'quantity' | 'filledQuantity'> {
  const quantity = readUnitCount(fields) ?? 1n;
  const remaining = readAmount(fields, 'remaining') ?? quantity;
  if (remaining > quantity) rejectField(fields, 'remaining', 'must be at most the quantity');
  return { quantity, filledQuantity: quantity - remaining };
}

/** Null for a bid for any token of the collection. */
function readSet(chain: Chain, fields: Fields): WantedSet | null {
  const tokenIds = readAssetList(chain, fields);
  const found = readTraitList(fields, 'traits');
  const traits = found && found.map(({ name, value }) => ({ name, value }));
  if (traits?.length === 0) rejectField(fields, 'traits', 'must not be empty');
  if (traits && traits.length > SET_TRAITS_MAX)
    rejectField(fields, 'traits', `has ${traits.length} traits, more than ${SET_TRAITS_MAX}`);
  if (traits === null && tokenIds === null) return null;
  return { root: toSetName(traits, tokenIds ?? []), traits, tokenIds };
}

/** The name of a set in main.token_set. All bids that name the same traits have one set, so that a set that changes replaces the earlier one. */
function toSetName(traits: readonly SetTrait[] | null, tokenIds: readonly AssetId[]): Hex {
  const named =
    traits === null ? tokenIds.toSorted() : traits.map((trait) => JSON.stringify([trait.name, trait.value])).toSorted();
  return `0x${toDigest([traits === null ? 'tokens' : 'traits', ...named])}`;
}

function rejectSet(chain: Chain, fields: Fields): null {
  const names = ['traits', chain.family === 'evm' ? 'tokenIds' : 'mints'];
  for (const name of names)
    if ((fields.values[name] ?? null) !== null)
      rejectField(fields, name, `must be absent when ${chain.family === 'evm' ? 'tokenId' : 'mint'} is given`);
  return null;
}
