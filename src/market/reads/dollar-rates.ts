// Reads the dollar rates of the native currencies from the primary database. The rates of a successful read are reused for five seconds.
// If the rates cannot be read, the rates of the last successful read stay in use. platform/core/price.ts gives no dollar value for a rate that is
// too old.

import type { Clock } from '../../platform/core/clock.ts';
import type { Rates } from '../../platform/core/price.ts';
import type { MarketSource } from './market-source.ts';
import { listRates } from './queries/rates.ts';

const FRESH_MS = 5_000;

/** `done` also resolves when the read has failed. */
type Refresh = { startedAt: number; done: Promise<void> };

export class DollarRates {
  readonly #source: MarketSource;
  readonly #clock: Clock;
  #rates: Rates = new Map();
  #latest: Refresh | null = null;
  /** The number of the read that began last. Reads are numbered in the order in which they begin. */
  #begun = 0;
  /** The number of the read that `#rates` come from. A read that began earlier does not replace them. */
  #applied = 0;

  constructor(source: MarketSource, clock: Clock) {
    this.#source = source;
    this.#clock = clock;
  }

  /** Never rejects, and takes no longer than the deadline of the source. */
  async read(): Promise<Rates> {
    const ageMs = this.#latest ? this.#clock() - this.#latest.startedAt : FRESH_MS;
    // The age is negative when the clock was set back.
    if (!this.#latest || ageMs >= FRESH_MS || ageMs < 0) this.#latest = this.#refresh();
    await this.#latest.done;
    return this.#rates;
  }

  /** The next call of `read` queries the database, even if the last rates are fresh. Must be called after a rate was written. */
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
