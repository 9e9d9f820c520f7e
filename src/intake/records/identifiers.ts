// What a record is about: its chain, its collection and its asset, in their canonical form. Shared by all kinds of records.

import type { Address, AssetId } from '../../core/address.ts';
import { parseAddress, parseAssetId } from '../../core/address.ts';
import type { Chain, Chains } from '../../core/chains.ts';
import { toCollectionId } from '../../core/collection.ts';
import type { MoreDeployments } from '../../orders/seaport/deployments.ts';
import type { Fields } from './fields.ts';
import { readName, readText, refuse, required, show } from './fields.ts';

/** What reading a record needs to know of the service. */
export type RecordContext = {
  chains: Chains;
  /** The service's own name: the source of its own rows. */
  serviceName: string;
  now: () => number;
  /** Deployments of Seaport besides the known ones. */
  seaport: MoreDeployments;
};

export type Subject = { chain: Chain; contractAddress: Address; collectionId: string };

export function readSubject(context: RecordContext, fields: Fields): Subject {
  const chain = required((from) => readChain(context, from), fields, 'chain');
  const contractAddress = required((from, name) => readAddress(chain, from, name), fields, 'contractAddress');
  return { chain, contractAddress, collectionId: toCollectionId(chain.id, contractAddress) };
}

export function readChain(context: RecordContext, fields: Fields): Chain | null {
  const id = readText(fields, 'chain');
  if (id === null) return null;
  const known = [...context.chains.keys()].join(', ');
  return context.chains.get(id) ?? refuse(fields, 'chain', `must be one of ${known}, not ${show(id)}`);
}

export function readAddress(chain: Chain, fields: Fields, name: string): Address | null {
  const text = readText(fields, name);
  if (text === null) return null;
  const form = chain.family === 'evm' ? 'an EVM address' : 'a base58 address';
  return parseAddress(chain.family, text) ?? refuse(fields, name, `must be ${form}, not ${show(text)}`);
}

/** `tokenId` on EVM chains, `mint` on Solana: the other one must not be there. */
export function readAsset(chain: Chain, fields: Fields): AssetId {
  const [name, other, form] =
    chain.family === 'evm'
      ? (['tokenId', 'mint', 'a token id from 0 to 2^256-1 in digits'] as const)
      : (['mint', 'tokenId', 'a base58 address'] as const);
  if ((fields.values[other] ?? null) !== null) refuse(fields, other, `the chain ${chain.id} has ${name}`);
  const text = required(readText, fields, name);
  return parseAssetId(chain.family, text) ?? refuse(fields, name, `must be ${form}, not ${show(text)}`);
}

const SOURCE = /^[a-z0-9][a-z0-9._-]{0,63}$/;

/** The slug of the marketplace that a row comes from. */
export function readSource(fields: Fields): string {
  const source = required(readText, fields, 'source');
  if (!SOURCE.test(source)) {
    refuse(fields, 'source', `must be up to 64 of a-z, 0-9, dot, hyphen and underscore, not ${show(source)}`);
  }
  return source;
}

/** A transaction or order hash: hex has one identity in either case, a Solana signature does not. */
export function readHash(fields: Fields, name: string): string | null {
  const text = readName(fields, name);
  return text !== null && /^0x[0-9a-f]+$/i.test(text) ? text.toLowerCase() : text;
}
