// Joins the reads of single tokens, and of single collections, into one request, because a console page with a list of events names many of them at once.

import type { MarketCollection, Token } from '../../../client/src/market.ts';
import { client } from './client.ts';

type TokenNames = { chain: string; address: string; tokenId: string };
type Waiting<Names, Result> = { names: Names; resolve: (result: Result) => void; reject: (error: unknown) => void };

/** How long a read waits for other reads. */
const DELAY_MS = 10;
const BATCH_MAX = 100;

class Batches<Names, Result> {
  readonly #readAll: (names: readonly Names[]) => Promise<readonly Result[]>;
  #waiting: Waiting<Names, Result>[] = [];

  /** `readAll` returns the results in the order of the names. */
  constructor(readAll: (names: readonly Names[]) => Promise<readonly Result[]>) {
    this.#readAll = readAll;
  }

  read(names: Names): Promise<Result> {
    return new Promise((resolve, reject) => {
      if (this.#waiting.length === 0) setTimeout(() => void this.#send(), DELAY_MS);
      this.#waiting.push({ names, resolve, reject });
      if (this.#waiting.length === BATCH_MAX) void this.#send();
    });
  }

  async #send(): Promise<void> {
    const batch = this.#waiting;
    this.#waiting = [];
    if (batch.length === 0) return;
    try {
      const results = await this.#readAll(batch.map(({ names }) => names));
      for (const [index, { resolve }] of batch.entries()) resolve(results[index] as Result);
    } catch (error) {
      for (const { reject } of batch) reject(error);
    }
  }
}

/** A token that does not exist is null. */
export const tokenBatches = new Batches<TokenNames, Token | null>(
  async (tokens) => (await client.readTokens({ tokens: [...tokens] })).data,
);

/** Collections by their canonical ids. */
export const collectionBatches = new Batches<string, MarketCollection>(
  async (ids) => (await client.listMarketCollections({ ids: ids.join(',') }).page()).data,
);
