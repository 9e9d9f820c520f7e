// Dollar rates, read from the primary at most every few seconds. Dollars are best effort: without a fresh rate there are
// none, and no answer waits for one longer than its own source allows.

import type { Clock } from '../core/clock.ts';
import { listRates } from './queries/rates.ts';
import type { Rates } from '../core/price.ts';
import type { MarketSource } from './market-source.ts';

export type RateBook = {
  read(): Promise<Rates>;
  /** Makes the next read look again: a rate has come in. */
  forget(): void;
};

const FRESH_MS = 5_000;

export function createRateBook(source: MarketSource, clock: Clock): RateBook {
  type Look = { startedAt: number; done: Promise<void> };
  let known: Rates = new Map();
  let latest: Look | null = null;
  let looks = 0;
  let applied = 0;

  const look = (): Look => {
    looks += 1;
    const number = looks;
    const one: Look = { startedAt: clock(), done: Promise.resolve() };
    one.done = source.read(listRates).then((result) => {
      // What was known stays in use when it cannot be read again: a rate says itself when it is too old.
      if (!result.ok && latest === one) latest = null;
      if (!result.ok || number < applied) return;
      applied = number;
      known = new Map(result.value.map((rate) => [rate.symbol, rate]));
    });
    return one;
  };

  return {
    forget: () => {
      latest = null;
    },
    read: async () => {
      if (!latest || clock() - latest.startedAt >= FRESH_MS) latest = look();
      await latest.done;
      return known;
    },
  };
}
