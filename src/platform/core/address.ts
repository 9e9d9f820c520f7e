// Addresses and token ids in canonical form. Text from outside is parsed once, into the branded types `Address` and `AssetId`.

import { base58 } from '@scure/base';
import { UINT256_MAX } from './amount.ts';

/** EVM addresses are hexadecimal, Solana addresses base58. */
export type ChainFamily = 'evm' | 'solana';

declare const brand: unique symbol;

/** A lower-case EVM address or a base58 Solana address exactly as written. */
export type Address = string & { readonly [brand]: 'Address' };

/** An EVM token id as a decimal string, or a Solana mint, Core asset or compressed-asset id as written. */
export type AssetId = string & { readonly [brand]: 'AssetId' };

/** Null for a bundle: several assets were sold together, and no single asset has a price. */
export type SoldAsset = AssetId | null;

const EVM_ADDRESS = /^0x[0-9a-f]{40}$/i;
/** Text that may encode 32 bytes: base58 writes 32 bytes with 32 to 44 characters, and does not use 0, O, I and l. */
const BASE58_TEXT = /^[1-9A-HJ-NP-Za-km-z]{32,44}$/;
const SOLANA_ADDRESS_BYTES = 32;
const SOLANA_ADDRESS_LENGTH_MAX = 44;
const SOLANA_ADDRESS_MAX = base58.encode(new Uint8Array(SOLANA_ADDRESS_BYTES).fill(0xff));
const TOKEN_ID = /^(0|[1-9]\d{0,77})$/;

/** Null when the text is not an address of the family. */
export function parseAddress(family: ChainFamily, text: string): Address | null {
  if (family === 'evm') return EVM_ADDRESS.test(text) ? (text.toLowerCase() as Address) : null;
  return isSolanaAddress(text) ? (text as Address) : null;
}

function isSolanaAddress(text: string): boolean {
  if (!BASE58_TEXT.test(text)) return false;
  // Decoding takes microseconds, and an import checks several addresses in each record. So the most frequent form, 44 characters without a
  // leading `1` (a zero byte), is not decoded. Text of this form encodes 32 bytes if it is not greater than the greatest address, and more bytes
  // otherwise. Texts of equal length compare like the numbers that they encode, because the base58 alphabet is in ASCII order.
  if (text.length === SOLANA_ADDRESS_LENGTH_MAX && !text.startsWith('1')) return text <= SOLANA_ADDRESS_MAX;
  return base58.decode(text).length === SOLANA_ADDRESS_BYTES;
}

/** Null when the text is neither an EVM nor a Solana address. */
export function parseAnyAddress(text: string): Address | null {
  return parseAddress('evm', text) ?? parseAddress('solana', text);
}

/** Parses a token id from 0 to 2^256-1 without leading zeros (EVM), or a base58 mint (Solana). Null for any other text. */
export function parseAssetId(family: ChainFamily, text: string): AssetId | null {
  if (family === 'solana') return isSolanaAddress(text) ? (text as AssetId) : null;
  return TOKEN_ID.test(text) && BigInt(text) <= UINT256_MAX ? (text as AssetId) : null;
}

/** `number` is from 0 to 2^256-1. */
export function toTokenId(number: bigint): AssetId {
  return number.toString() as AssetId;
}

/** How a MarketItem or token names an asset on the wire. At least one of `tokenId` and `mint` is null. */
export type AssetNames = { contractAddress: string | null; tokenId: string | null; mint: string | null };

/** On Solana `contractAddress` is null, because a mint alone identifies an asset. */
export function toAssetNames(family: ChainFamily, contractAddress: Address, asset: AssetId): AssetNames {
  return family === 'evm'
    ? { contractAddress, tokenId: asset, mint: null }
    : { contractAddress: null, tokenId: null, mint: asset };
}
