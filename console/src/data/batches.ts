// Joins the reads of single tokens into one request, because a console page with a list of events names many tokens at once.

import type { Token } from '../../../client/src/market.ts';
import { client } from './client.ts';

type TokenNames = { chain: string; address: string; tokenId: string };
type Waiting = { names: TokenNames; resolve: (token: Token | null) => void; reject: (error: unknown) => void };

/** How long a read waits for other reads. */
const DELAY_MS = 10;
const TOKENS_MAX = 100;

class TokenBatches {
  #waiting: Waiting[] = [];

  /** The token, or null if it does not exist. */
  read(names: TokenNames): Promise<Token | null> {
    return new Promise((resolve, reject) => {
      if (this.#waiting.length === 0) setTimeout(() => void this.#send(), DELAY_MS);
      this.#waiting.push({ names, resolve, reject });
      if (this.#waiting.length === TOKENS_MAX) void this.#send();
    });
  }

  async #send(): Promise<void> {
    const batch = this.#waiting;
    this.#waiting = [];
    if (batch.length === 0) return;
    try {
      const { data } = await client.readTokens({ tokens: batch.map(({ names }) => names) });
      for (const [index, { resolve }] of batch.entries()) resolve(data[index] ?? null);
    } catch (error) {
      for (const { reject } of batch) reject(error);
    }
  }
}

export const tokenBatches = new TokenBatches();
