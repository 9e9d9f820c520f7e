// Reads single 32-byte words of ABI-encoded data from hexadecimal text, without decoding the other words. The functions throw
// UndecodableData when the word is missing or not of the expected type.

import type { Address, AssetId } from '../../../platform/core/address.ts';
import { toTokenId } from '../../../platform/core/address.ts';
import type { Hex } from '../../../platform/core/evm.ts';

/** Thrown when data does not have the form that the signature of the event or function prescribes. */
export class UndecodableData extends Error {
  override readonly name = 'UndecodableData';
}

const WORD_DIGITS = 64;
const ZEROS = '0'.repeat(WORD_DIGITS);
/** A JavaScript number holds an integer of up to this many hexadecimal digits exactly. */
const SAFE_DIGITS = 13;
const PREFIX_LENGTH = '0x'.length;
const ADDRESS_PADDING = '0'.repeat(24);

/** The digits of word `index`, without 0x. */
export function wordAt(data: Hex, index: number): string {
  const from = PREFIX_LENGTH + index * WORD_DIGITS;
  const word = data.slice(from, from + WORD_DIGITS);
  if (word.length !== WORD_DIGITS) throw new UndecodableData(`no word ${index}`);
  return word;
}

export function hashAt(data: Hex, index: number): Hex {
  return `0x${wordAt(data, index)}`;
}

export function bigintAt(data: Hex, index: number): bigint {
  return bigintOfWord(wordAt(data, index));
}

export function addressAt(data: Hex, index: number): Address {
  return addressOfWord(wordAt(data, index));
}

export function booleanAt(data: Hex, index: number): boolean {
  const value = smallIntegerAt(data, index);
  if (value > 1) throw new UndecodableData('not a boolean');
  return value === 1;
}

export function smallIntegerAt(data: Hex, index: number): number {
  const word = wordAt(data, index);
  if (!isSmall(word)) throw new UndecodableData('an integer is too large');
  return smallIntegerOf(word);
}

/**
 * Finds the array to which word `index` points. `start`: the index of the array's first word. `length`: the number of elements. Offsets in
 * the data are in bytes from the start of the data. Throws UndecodableData when the array does not fit into the data.
 */
export function arrayAt(data: Hex, index: number, wordsPerElement: number): { start: number; length: number } {
  const offset = smallIntegerAt(data, index);
  if (offset % 32 !== 0) throw new UndecodableData('an offset is not a multiple of 32');
  const lengthIndex = offset / 32;
  const length = smallIntegerAt(data, lengthIndex);
  const start = lengthIndex + 1;
  const words = (data.length - PREFIX_LENGTH) / WORD_DIGITS;
  if (start + length * wordsPerElement > words) throw new UndecodableData('an array is longer than the data');
  return { start, length };
}

/**
 * Returns the data from the offset in word `index` to the end. A struct or an array of structs begins at this offset. The offsets inside the
 * struct or array count from its beginning, so they are correct in the returned data.
 */
export function structAt(data: Hex, index: number): Hex {
  const from = PREFIX_LENGTH + 2 * smallIntegerAt(data, index);
  if (from > data.length) throw new UndecodableData('a struct begins after the data');
  return `0x${data.slice(from)}`;
}

/** The bytes at the offset in word `index`. */
export function bytesAt(data: Hex, index: number): Hex {
  const from = PREFIX_LENGTH + 2 * smallIntegerAt(data, index);
  const length = smallIntegerAt(`0x${data.slice(from, from + WORD_DIGITS)}`, 0);
  const end = from + WORD_DIGITS + 2 * length;
  if (end > data.length) throw new UndecodableData('bytes are longer than the data');
  return `0x${data.slice(from + WORD_DIGITS, end)}`;
}

/** The text at the offset in word `index`. Bytes that are not UTF-8 become replacement characters. */
export function textAt(data: Hex, index: number): string {
  return textOfBytes(bytesAt(data, index));
}

export function textOfBytes(bytes: Hex): string {
  return Buffer.from(bytes.slice(PREFIX_LENGTH), 'hex').toString('utf8');
}

/** The digits of topic `index`, without 0x. */
export function topicWord(topics: readonly Hex[], index: number): string {
  const topic = topics[index];
  if (topic === undefined) throw new UndecodableData(`no topic ${index}`);
  return topic.slice(PREFIX_LENGTH);
}

export function topicAddress(topics: readonly Hex[], index: number): Address {
  return addressOfWord(topicWord(topics, index));
}

export function addressOfWord(word: string): Address {
  if (!word.startsWith(ADDRESS_PADDING)) throw new UndecodableData('not an address');
  return `0x${word.slice(ADDRESS_PADDING.length)}` as Address;
}

export function bigintOfWord(word: string): bigint {
  return isSmall(word) ? BigInt(smallIntegerOf(word)) : BigInt(`0x${word}`);
}

/** The token id in a word. Most token ids are small, and decoding a small id without a bigint is ten times as fast. */
export function tokenIdOfWord(word: string): AssetId {
  return isSmall(word) ? (smallIntegerOf(word).toString() as AssetId) : toTokenId(BigInt(`0x${word}`));
}

const SMALL_PREFIX = ZEROS.slice(SAFE_DIGITS);

function isSmall(word: string): boolean {
  return word.startsWith(SMALL_PREFIX);
}

function smallIntegerOf(word: string): number {
  return Number.parseInt(word.slice(-SAFE_DIGITS), 16);
}
