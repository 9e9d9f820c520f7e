// The newest block of a chain as far as its endpoints agree, and whether another block number is plausible beside it.

import type { Clock } from '../../core/clock.ts';

/** Blocks by which a head may be lower than one seen before: nodes behind a load balancer differ by some. */
export const BEHIND_MAX = 64;
/** Blocks by which a head may be higher, beside those that the time since the best head allows. */
export const AHEAD_MAX = 5_000;
/** The fastest chains produce ten blocks a second. */
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

  /** Takes a plausible head. */
  accept(number: number): void {
    this.#implausibleSince = null;
    if (!this.#best || number > this.#best.number) this.#best = { number, seenAt: this.#clock() };
  }

  /** Takes a head that is not plausible but confirmed, as when a chain was set back. */
  replace(number: number): void {
    this.#best = null;
    this.accept(number);
  }

  /** Notes an implausible head. Returns for how many milliseconds there have been no plausible ones. */
  implausibleForMs(): number {
    this.#implausibleSince ??= this.#clock();
    return this.#clock() - this.#implausibleSince;
  }
}

export function isNear(a: number, b: number): boolean {
  return Math.abs(a - b) <= BEHIND_MAX;
}
