// The bloom filter of a block's logs, used to detect that a response omits logs. It does not prove that a block has no logs, because some
// chains serve a bloom of zeros.

import type { Hex } from '../../../platform/core/evm.ts';
import { keccak256 } from '../../../platform/core/keccak.ts';

const BITS = 2048;
const DIGITS = BITS / 4;
const CACHED_ENTRIES_MAX = 20_000;
/** A bloom is not used if the probability of a false positive among the searched entries is at least this. */
const COINCIDENCE_MAX = 0.5;

/** The three bits of each address or topic. Cached, because hashing is slow and the same contracts and topics are searched in every block. */
const cachedBits = new Map<Hex, readonly number[]>();

/** False: no log of the block has the address or topic. True: a log of the block may have the address or topic. */
export function bloomContains(bloom: Hex, entry: Hex): boolean {
  return bitsOf(entry).every((bit) => {
    const digit = Number.parseInt(bloom.charAt(2 + DIGITS - 1 - (bit >> 2)), 16);
    return (digit & (1 << (bit & 3))) !== 0;
  });
}

/** Whether so many bits are set that a search for `entries` absent entries probably has a false positive. */
export function isBloomTooFull(bloom: Hex, entries: number): boolean {
  let bitsSet = 0;
  for (let index = 2; index < bloom.length; index += 1) {
    bitsSet += SET_BITS_OF_DIGIT[Number.parseInt(bloom.charAt(index), 16)] ?? 0;
  }
  const falsePositive = (bitsSet / BITS) ** 3;
  return 1 - (1 - falsePositive) ** entries >= COINCIDENCE_MAX;
}

const SET_BITS_OF_DIGIT = [0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4];

function bitsOf(entry: Hex): readonly number[] {
  const cached = cachedBits.get(entry);
  if (cached) return cached;
  const hash = keccak256(entry);
  const bits = [2, 6, 10].map((from) => Number.parseInt(hash.slice(from, from + 4), 16) & (BITS - 1));
  if (cachedBits.size >= CACHED_ENTRIES_MAX) cachedBits.clear();
  cachedBits.set(entry, bits);
  return bits;
}
