// The sample marketplace's only source of variety: seeded draws, and names made of digests. Everything follows from the words
// given, so that two loads are alike to the byte; it must never read the clock, real randomness, or the service's settings.

import { createHash } from 'node:crypto';
import { base58 } from '@scure/base';
import type { Address, AssetId } from '../src/core/address.ts';

/** Repeatable draws. The same seed gives the same draws, whatever else was drawn elsewhere. */
export type Random = {
  /** A double from 0 to below 1. */
  next(): number;
  /** An integer, both bounds included. */
  between(min: number, max: number): number;
  happens(share: number): boolean;
  pick<T>(items: readonly T[]): T;
  shuffle<T>(items: readonly T[]): T[];
};

/** Part of every seed: to change it is to change every byte of the sample. */
const EDITION = 'mercat sample 1';

/** A stream of its own for each subject, so that a new collection changes nothing in the others. */
export function createRandom(...subject: string[]): Random {
  // mulberry32: only integer arithmetic, which no engine rounds differently.
  let state = digest('sha256', subject).readUInt32BE(0);
  const next = () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const between = (min: number, max: number) => min + Math.floor(next() * (max - min + 1));
  return {
    next,
    between,
    happens: (share) => next() < share,
    pick: (items) => at(items, between(0, items.length - 1)),
    shuffle: (items) => {
      const shuffled = [...items];
      for (let last = shuffled.length - 1; last > 0; last -= 1) {
        const other = between(0, last);
        const moved = at(shuffled, last);
        shuffled[last] = at(shuffled, other);
        shuffled[other] = moved;
      }
      return shuffled;
    },
  };
}

/** The item that the caller knows to be there. */
export function at<T>(items: readonly T[], index: number): T {
  const item = items[index];
  if (item === undefined) throw new RangeError(`no item ${index} in a list of ${items.length}`);
  return item;
}

/** An EVM address, lower case. */
export function toEvmAddress(...subject: string[]): Address {
  return `0x${digest('sha256', subject).toString('hex', 0, 20)}` as Address;
}

/** 32 bytes as `0x` and hex: a transaction or order hash. */
export function toEvmHash(...subject: string[]): string {
  return `0x${digest('sha256', subject).toString('hex')}`;
}

/** 32 bytes in base58: a Solana wallet, mint or listing account. */
export function toSolanaAddress(...subject: string[]): Address & AssetId {
  return base58.encode(digest('sha256', subject)) as Address & AssetId;
}

/** 64 bytes in base58: a Solana transaction signature. */
export function toSolanaSignature(...subject: string[]): string {
  return base58.encode(digest('sha512', subject));
}

/** A token id of 78 digits, as registries make that number their tokens by a hash. */
export function toLargeTokenId(...subject: string[]): AssetId {
  // 10^77 is the least number of 78 digits, and 10^76 more is still below 2^256.
  return (10n ** 77n + (BigInt(toEvmHash(...subject)) % 10n ** 76n)).toString() as AssetId;
}

function digest(algorithm: 'sha256' | 'sha512', subject: readonly string[]): Buffer {
  return createHash(algorithm)
    .update([EDITION, ...subject].join('\n'))
    .digest();
}
