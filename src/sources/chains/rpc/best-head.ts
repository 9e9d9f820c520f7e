// The best head of a chain: the number of the newest accepted block that any endpoint of the chain served. A head is plausible if it is not
// too far below or above the best head so far. Any other head is accepted only after block-reads.ts has confirmed it.

import type { Clock } from '../../../platform/core/clock.ts';

/** How many blocks a plausible head may be below the best head. The nodes behind a load balancer differ by some blocks. */
const BEHIND_MAX = 64;
/**
 * How many blocks a plausible head may be above the best head, in addition to the blocks that the chain can have produced since the best
 * head was seen.
 */
export const AHEAD_MAX = 5_000;
/** Twice the rate of the fastest chains. */
const BLOCKS_PER_SECOND_MAX = 20;

export class BestHead {
  readonly #clock: Clock;
  #best: { number: number; seenAt: number } | null = null;
  #implausibleSince: number | null = null;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Null before the first head. */
  get number(): number | null {
    return this.#best?.number ?? null;
  }

  isPlausible(number: number): boolean {
    if (!this.#best) return true;
    const sinceMs = this.#clock() - this.#best.seenAt;
    const highest = this.#best.number + AHEAD_MAX + (BLOCKS_PER_SECOND_MAX * sinceMs) / 1000;
    return number >= this.#best.number - BEHIND_MAX && number <= highest;
  }

  isBehind(number: number): boolean {
    return this.#best !== null && number < this.#best.number;
  }

  isAhead(number: number): boolean {
    return this.#best !== null && number > this.#best.number;
  }

  accept(number: number): void {
    this.#implausibleSince = null;
    if (!this.#best || number > this.#best.number) this.#best = { number, seenAt: this.#clock() };
  }

  /** Records a head that is not plausible but was confirmed, for example after a reset of the chain to an older block. */
  replace(number: number): void {
    this.#best = null;
    this.accept(number);
  }

  /** Records that an implausible head was seen. Returns the ms since the first implausible head after the last accepted head. */
  implausibleForMs(): number {
    this.#implausibleSince ??= this.#clock();
    return this.#clock() - this.#implausibleSince;
  }
}

export function isNear(a: number, b: number): boolean {
  return Math.abs(a - b) <= BEHIND_MAX;
}
