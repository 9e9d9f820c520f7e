// The call data of contract functions in Ethereum's ABI encoding, for arguments of a fixed size and one byte string at the end.

import type { Address } from '../../../platform/core/address.ts';
import type { Hex } from '../../../platform/core/evm.ts';
import { keccak256OfText } from '../../../platform/core/keccak.ts';

const WORD_BYTES = 32;
const WORD_DIGITS = 2 * WORD_BYTES;
const SELECTOR_LENGTH = '0x'.length + 8;

/** An argument as 64 hexadecimal digits. */
export type Word = string;

/** `signature` is canonical, such as `ownerOf(uint256)`. Its hash selects the function. */
export function encodeCall(signature: string, words: readonly Word[]): Hex {
  return `${selectorOf(signature)}${words.join('')}`;
}

/** Encodes a call with a `bytes` argument after the words: its offset, its length, and its bytes, padded to a multiple of 32. */
export function encodeCallWithBytes(signature: string, words: readonly Word[], bytes: Hex): Hex {
  const digits = bytes.slice(2);
  const length = uintWord(BigInt(digits.length / 2));
  const offset = uintWord(BigInt((words.length + 1) * WORD_BYTES));
  const padded = digits.padEnd(Math.ceil(digits.length / WORD_DIGITS) * WORD_DIGITS, '0');
  return encodeCall(signature, [...words, offset, length, padded]);
}

/** Throws RangeError for a number that is negative or takes more than 256 bits. */
export function uintWord(value: bigint): Word {
  const digits = value.toString(16);
  if (value < 0n || digits.length > WORD_DIGITS) throw new RangeError('the number does not fit into 256 bits');
  return digits.padStart(WORD_DIGITS, '0');
}

export function addressWord(address: Address): Word {
  return address.slice(2).padStart(WORD_DIGITS, '0');
}

/** Encodes at most 32 bytes. The ABI pads bytes with zeros on the right. */
export function bytesWord(bytes: Hex): Word {
  return bytes.slice(2).padEnd(WORD_DIGITS, '0');
}

const selectors = new Map<string, Hex>();

function selectorOf(signature: string): Hex {
  let selector = selectors.get(signature);
  if (selector === undefined) {
    selector = keccak256OfText(signature).slice(0, SELECTOR_LENGTH) as Hex;
    selectors.set(signature, selector);
  }
  return selector;
}
