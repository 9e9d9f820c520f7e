// Reading the 32-byte words of ABI-encoded data from its hexadecimal text, without unpacking what is not asked for. Every
// reader throws Unreadable when the word is not there or is not of its form; nobody outside this folder sees that.

import type { Address, AssetId } from '../../core/address.ts';
import type { Hex } from '../../core/evm.ts';

/** The data is not what the event's signature promises. */
export class Unreadable extends Error {
  override readonly name = 'Unreadable';
}

const WORD_DIGITS = 64;
const ZEROS = '0'.repeat(WORD_DIGITS);
/** Digits that fit a number exactly. */
const SAFE_DIGITS = 13;
const PREFIX = 2;

/** The digits of word `index`, without 0x. */
export function wordAt(data: Hex, index: number): string {
  const from = PREFIX + index * WORD_DIGITS;
  const word = data.slice(from, from + WORD_DIGITS);
  if (word.length !== WORD_DIGITS) throw new Unreadable(`no word ${index}`);
  return word;
}

export function hashAt(data: Hex, index: number): Hex {
  return `0x${wordAt(data, index)}`;
}

export function bigintAt(data: Hex, index: number): bigint {
  return toBigint(wordAt(data, index));
}

export function addressAt(data: Hex, index: number): Address {
  return toAddress(wordAt(data, index));
}

export function flagAt(data: Hex, index: number): boolean {
  const value = smallAt(data, index);
  if (value > 1) throw new Unreadable('not a flag');
  return value === 1;
}

/** A number that has to be small: an item type, an offset, a length. */
export function smallAt(data: Hex, index: number): number {
  const word = wordAt(data, index);
  if (!word.startsWith(ZEROS.slice(0, WORD_DIGITS - SAFE_DIGITS))) throw new Unreadable('too large a number');
  return Number.parseInt(word.slice(-SAFE_DIGITS), 16);
}

/**
 * Where the array begins to which word `index` points: the word after its length, and its length. Offsets count in bytes
 * from the start of the data. An array that does not fit into the data is unreadable, whatever its length claims.
 */
export function arrayAt(data: Hex, index: number, wordsEach: number): { start: number; length: number } {
  const offset = smallAt(data, index);
  if (offset % 32 !== 0) throw new Unreadable('a crooked offset');
  const at = offset / 32;
  const length = smallAt(data, at);
  const words = (data.length - PREFIX) / WORD_DIGITS;
  if (at + 1 + length * wordsEach > words) throw new Unreadable('an array beyond the end');
  return { start: at + 1, length };
}

/** From the digits of a topic or a word. */
export function toAddress(word: string): Address {
  if (!word.startsWith('000000000000000000000000')) throw new Unreadable('not an address');
  return `0x${word.slice(24)}` as Address;
}

export function toBigint(word: string): bigint {
  return isSmall(word) ? BigInt(Number.parseInt(word.slice(-SAFE_DIGITS), 16)) : BigInt(`0x${word}`);
}

/** Most token ids are small, and small ones are read ten times as fast. */
export function tokenIdOfWord(word: string): AssetId {
  const text = isSmall(word)
    ? Number.parseInt(word.slice(-SAFE_DIGITS), 16).toString()
    : BigInt(`0x${word}`).toString();
  return text as AssetId;
}

const SMALL_PREFIX = ZEROS.slice(0, WORD_DIGITS - SAFE_DIGITS);
const isSmall = (word: string) => word.startsWith(SMALL_PREFIX);
