// Reads the identifiers in records, in their canonical form: chains, addresses, tokens, marketplaces, transactions and hashes.

import type { Address, AssetId, SoldAsset } from '../../platform/core/address.ts';
import { parseAddress, parseAssetId } from '../../platform/core/address.ts';
import { parseTransactionId } from '../../platform/core/transaction-id.ts';
import type { Chain, Chains } from '../../platform/core/chains.ts';
import type { CollectionLocation } from '../../platform/core/collection.ts';
import { toCollectionId } from '../../platform/core/collection.ts';
import type { MoreDeployments } from '../../market/orders/seaport/deployments.ts';
import type { Fields } from './fields.ts';
import { quoteValue, readName, readText, readTexts, rejectField, requireField } from './fields.ts';

/** The values that the parsing of records depends on. */
export type RecordContext = {
  chains: Chains;
  /** The `source` of a listing or sale that was made on this service. */
  serviceName: string;
  now: () => number;
  /** The deployments of Seaport that the settings add to those that the program knows. */
  seaport: MoreDeployments;
};

export function readCollectionLocation(context: RecordContext, fields: Fields): CollectionLocation {
  const chain = requireField((from) => readChain(context, from), fields, 'chain');
  const contractAddress = requireField((from, name) => readAddress(chain, from, name), fields, 'contractAddress');
  return { chain, contractAddress, collectionId: toCollectionId(chain.id, contractAddress) };
}

const CHAIN_HINT = 'in a column map, "as": "lower" and "map" convert names';

export function readChain(context: RecordContext, fields: Fields): Chain | null {
  const id = readText(fields, 'chain');
  if (id === null) return null;
  const chain = context.chains.get(id);
  if (chain) return chain;
  const known = [...context.chains.keys()].join(', ');
  return rejectField(fields, 'chain', `must be one of ${known}, not ${quoteValue(id)}; ${CHAIN_HINT}`);
}

export function readAddress(chain: Chain, fields: Fields, name: string): Address | null {
  const text = readText(fields, name);
  if (text === null) return null;
  const form = chain.family === 'evm' ? 'an EVM address' : 'a base58 address';
  return parseAddress(chain.family, text) ?? rejectField(fields, name, `must be ${form}, not ${quoteValue(text)}`);
}

const ASSET_FORMS = {
  evm: {
    name: 'tokenId',
    names: 'tokenIds',
    other: 'mint',
    others: 'mints',
    form: 'a token id from 0 to 2^256-1 in digits',
  },
  solana: { name: 'mint', names: 'mints', other: 'tokenId', others: 'tokenIds', form: 'a base58 address' },
} as const;

/** Reads `tokenId` on EVM chains and `mint` on Solana. The other field must be absent or null. */
export function readAsset(chain: Chain, fields: Fields): AssetId {
  const { name, other, form } = ASSET_FORMS[chain.family];
  if ((fields.values[other] ?? null) !== null) {
    rejectField(fields, other, `is not used on ${chain.id}: give ${name} instead`);
  }
  const text = requireField(readText, fields, name);
  return parseAssetId(chain.family, text) ?? rejectField(fields, name, `must be ${form}, not ${quoteValue(text)}`);
}

/** Like `readAsset`, but null if the record names no asset. */
export function readAssetOrNull(chain: Chain, fields: Fields): AssetId | null {
  const { name, other } = ASSET_FORMS[chain.family];
  const isNamed = [name, other].some((field) => (fields.values[field] ?? null) !== null);
  return isNamed ? readAsset(chain, fields) : null;
}

/** Reads the different assets in `tokenIds` on EVM chains and `mints` on Solana, at least one. The other field must be absent or null. Null if the field is absent. */
export function readAssetList(chain: Chain, fields: Fields): AssetId[] | null {
  const { names, others, form } = ASSET_FORMS[chain.family];
  if ((fields.values[others] ?? null) !== null) {
    rejectField(fields, others, `is not used on ${chain.id}: give ${names} instead`);
  }
  const texts = readTexts(fields, names);
  if (texts === null) return null;
  const assets = texts.map(
    (text) =>
      parseAssetId(chain.family, text) ??
      rejectField(fields, names, `each element must be ${form}, not ${quoteValue(text)}`),
  );
  return assets.length === 0 ? rejectField(fields, names, 'must not be empty') : [...new Set(assets)];
}

/**
 * Reads the sold asset, or the list of sold assets in `tokenIds` or `mints`. Returns null if the list has two or more different assets: the
 * sale is then a bundle. If the list has only one asset, returns this asset.
 */
export function readSoldAsset(chain: Chain, fields: Fields): SoldAsset {
  const { name, names } = ASSET_FORMS[chain.family];
  const assets = readAssetList(chain, fields);
  if (assets === null) return readAsset(chain, fields);
  if ((fields.values[name] ?? null) !== null) rejectField(fields, names, `must be absent when ${name} is given`);
  const [first, second] = assets;
  return second === undefined ? (first ?? null) : null;
}

const SOURCE = /^[a-z0-9][a-z0-9._-]{0,63}$/;

/** Reads `source`: the slug of the marketplace on which the listing or sale was made. */
export function readSource(fields: Fields): string {
  const source = requireField(readText, fields, 'source');
  if (!SOURCE.test(source)) {
    rejectField(
      fields,
      'source',
      `must be up to 64 characters (a-z, 0-9, dot, hyphen, underscore) and begin with a letter or digit, not ${quoteValue(source)}`,
    );
  }
  return source;
}

/** Reads the id of a transaction: a hash on EVM chains, a signature on Solana. */
export function readTransactionId(chain: Chain, fields: Fields, name: string): string | null {
  const text = readName(fields, name);
  if (text === null) return null;
  const form =
    chain.family === 'evm'
      ? 'a transaction hash, 0x and up to 64 hexadecimal digits'
      : 'a signature, 64 bytes in base58';
  return (
    parseTransactionId(chain.family, text) ?? rejectField(fields, name, `must be ${form}, not ${quoteValue(text)}`)
  );
}

/** Reads an order hash. Hexadecimal text is converted to lower case. Base58 is case-sensitive and stays unchanged. */
export function readHashText(fields: Fields, name: string): string | null {
  const text = readName(fields, name);
  return text !== null && /^0x[0-9a-f]+$/i.test(text) ? text.toLowerCase() : text;
}
