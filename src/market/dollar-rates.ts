// The dollar rates of the native currencies, read from the primary at most every five seconds. When they cannot be read, the
// rates known so far stay in use: a rate that is too old gives no dollar value (core/price.ts).

import type { Clock } from '../core/clock.ts';
import type { Rates } from '../core/price.ts';
import type { MarketSource } from './market-source.ts';
import { listRates } from './queries/rates.ts';

const FRESH_MS = 5_000;

/** A read of all rates. Reads are numbered in the order in which they began. */
type Refresh = { startedAt: number; done: Promise<void> };

export class DollarRates {
  readonly #source: MarketSource;
  readonly #clock: Clock;
  #rates: Rates = new Map();
  #latest: Refresh | null = null;
  #begun = 0;
  /** The number of the read that `#rates` are from. */
  #applied = 0;

  constructor(source: MarketSource, clock: Clock) {
    this.#source = source;
    this.#clock = clock;
  }

  /** Never rejects, and takes no longer than the deadline of the source. */
  async read(): Promise<Rates> {
    if (!this.#latest || this.#clock() - this.#latest.startedAt >= FRESH_MS) this.#latest = this.#refresh();
    await this.#latest.done;
    return this.#rates;
  }

  /** Makes the next read query the database: a rate was written. */
  expire(): void {
    this.#latest = null;
  }

  #refresh(): Refresh {
    this.#begun += 1;
    const number = this.#begun;
    const refresh: Refresh = { startedAt: this.#clock(), done: Promise.resolve() };
    refresh.done = this.#source.read(listRates).then((result) => {
      if (!result.ok && this.#latest === refresh) this.#latest = null;
      if (!result.ok || number < this.#applied) return;
      this.#applied = number;
      this.#rates = new Map(result.value.map((rate) => [rate.symbol, rate]));
    });
    return refresh;
  }
}
