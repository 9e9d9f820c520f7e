// Dollar rates, read from the primary at most every few seconds. Dollars are best effort: without a fresh rate there are
// none, and no answer waits for one longer than its own source allows.

import type { Clock } from '../clock.ts';
import { listRates } from '../db/rates.ts';
import type { Rates } from '../domain/price.ts';
import type { MarketSource } from './market.ts';

export type RateBook = {
  read(): Promise<Rates>;
  /** Makes the next read look again: a rate has come in. */
  forget(): void;
};

const FRESH_MS = 5_000;

export function createRateBook(primary: MarketSource, clock: Clock): RateBook {
  let known: Rates = new Map();
  let readAt = Number.NEGATIVE_INFINITY;
  let reading: Promise<void> | null = null;

  const refresh = async () => {
    const startedAt = clock();
    const result = await primary.read(listRates);
    // What was known stays in use when it cannot be read again: a rate says itself when it is too old.
    if (result.ok) known = new Map(result.value.map((rate) => [rate.symbol, rate]));
    readAt = startedAt;
    reading = null;
  };

  return {
    forget: () => {
      readAt = Number.NEGATIVE_INFINITY;
    },
    read: async () => {
      if (clock() - readAt >= FRESH_MS) await (reading ??= refresh());
      return known;
    },
  };
}
