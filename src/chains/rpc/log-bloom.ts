// The bloom of a block's logs, as evidence that an answer left logs out. It is never a reason to believe that there are none:
// chains exist whose blooms are all zero.

import type { Hex } from '../../core/evm.ts';
import { keccak256 } from '../../core/keccak.ts';

const BITS = 2048;
const DIGITS = BITS / 4;
const POSITIONS_KEPT_MAX = 20_000;
/** A bloom that would show as much by coincidence with at least this chance is no evidence. */
const COINCIDENCE_MAX = 0.5;

/** Three bits an entry. Contracts and topics come again with every block, and hashing is the dear part. */
const positions = new Map<Hex, readonly number[]>();

/** True when all bits of the address or topic are set: then it may be there, and otherwise it is not. */
export function bloomShows(bloom: Hex, entry: Hex): boolean {
  return positionsOf(entry).every((bit) => {
    const digit = Number.parseInt(bloom.charAt(2 + DIGITS - 1 - (bit >> 2)), 16);
    return (digit & (1 << (bit & 3))) !== 0;
  });
}

/** Whether `entries` that are not in a block could well seem to be in it, so full is its bloom. */
export function isBloomTooFull(bloom: Hex, entries: number): boolean {
  let set = 0;
  for (let index = 2; index < bloom.length; index += 1) set += ONES[Number.parseInt(bloom.charAt(index), 16)] ?? 0;
  const one = (set / BITS) ** 3;
  return 1 - (1 - one) ** entries >= COINCIDENCE_MAX;
}

const ONES = [0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4];

function positionsOf(entry: Hex): readonly number[] {
  const known = positions.get(entry);
  if (known) return known;
  const hash = keccak256(entry);
  const bits = [2, 6, 10].map((from) => Number.parseInt(hash.slice(from, from + 4), 16) & (BITS - 1));
  if (positions.size >= POSITIONS_KEPT_MAX) positions.clear();
  positions.set(entry, bits);
  return bits;
}
