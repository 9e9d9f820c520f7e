// Makes the random numbers, addresses and hashes of the sample marketplace. All of them are computed from seed texts, so that every load
// gives the same bytes.

import { createHash } from 'node:crypto';
import { base58 } from '@scure/base';
import type { Address, AssetId } from '../src/platform/core/address.ts';

/** Part of every seed. With another value, all random choices and identifiers of the sample change. */
const EDITION = 'mercat sample 1';

/**
 * A random source that gives the same values for the same seed. Each part of the sample has a separate seed, so that no part affects
 * another.
 */
export class Random {
  #state: number;

  constructor(...seed: string[]) {
    this.#state = digest('sha256', seed).readUInt32BE(0);
  }

  /** A number from 0 up to, but not including, 1. */
  float(): number {
    // The algorithm mulberry32. It uses only integer arithmetic, which is the same in every JavaScript engine.
    this.#state = (this.#state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }

  /** An integer from `min` to `max`, both included. */
  integer(min: number, max: number): number {
    return min + Math.floor(this.float() * (max - min + 1));
  }

  /** True with the given probability. */
  boolean(probability: number): boolean {
    return this.float() < probability;
  }

  pick<T>(items: readonly T[]): T {
    return at(items, this.integer(0, items.length - 1));
  }

  shuffle<T>(items: readonly T[]): T[] {
    const shuffled = [...items];
    for (let last = shuffled.length - 1; last > 0; last -= 1) {
      const other = this.integer(0, last);
      const moved = at(shuffled, last);
      shuffled[last] = at(shuffled, other);
      shuffled[other] = moved;
    }
    return shuffled;
  }
}

/** Returns the item at an index. Throws if there is none. */
export function at<T>(items: readonly T[], index: number): T {
  const item = items[index];
  if (item === undefined) throw new RangeError(`no item ${index} in a list of ${items.length}`);
  return item;
}

/** An EVM address in lower case. */
export function toEvmAddress(...seed: string[]): Address {
  return `0x${digest('sha256', seed).toString('hex', 0, 20)}` as Address;
}

/** 32 bytes as `0x` and hex: a transaction or order hash. */
export function toEvmHash(...seed: string[]): string {
  return `0x${digest('sha256', seed).toString('hex')}`;
}

/** 32 bytes in base58: a Solana wallet, mint or listing account. */
export function toSolanaAddress(...seed: string[]): Address & AssetId {
  return base58.encode(digest('sha256', seed)) as Address & AssetId;
}

/** 64 bytes in base58: a Solana transaction signature. */
export function toSolanaSignature(...seed: string[]): string {
  return base58.encode(digest('sha512', seed));
}

/** A token id of 78 digits, as in name registries, whose token ids are hashes. */
export function toLargeTokenId(...seed: string[]): AssetId {
  // From 10^77, the smallest number of 78 digits, up to 1.1 * 10^77, which is below 2^256.
  return (10n ** 77n + (BigInt(toEvmHash(...seed)) % 10n ** 76n)).toString() as AssetId;
}

function digest(algorithm: 'sha256' | 'sha512', seed: readonly string[]): Buffer {
  return createHash(algorithm)
    .update([EDITION, ...seed].join('\n'))
    .digest();
}
