// The rows of one source of a listing window, cheapest first. They are read in chunks, and only as far as the window needs them.

import type { Result } from '../../platform/resilience/source.ts';

export type PricedRow = { asset: string; raw: bigint; orderId: string };

/** A window holds at most this many assets. */
export const WINDOW_SIZE_MAX = 250;
/** The most rows of one chunk: more than a window holds, so that a second chunk is not needed when a few assets have several listings. */
export const CHUNK_SIZE = 300;

export class SortedRows<R extends PricedRow> {
  /** The first row of each asset, cheapest first. */
  readonly rows: R[] = [];
  /** The assets of `rows`. */
  readonly assets = new Set<string>();
  readonly #readChunk: (after: R | undefined) => Promise<Result<R[]>>;
  #last: R | undefined;
  #isAtEnd = false;
  #hasFailed = false;

  /** `readChunk` reads the first CHUNK_SIZE rows after the given row. */
  constructor(readChunk: (after: R | undefined) => Promise<Result<R[]>>) {
    this.#readChunk = readChunk;
  }

  /** Whether no row is left to read. Also true after a failed read. */
  get isAtEnd(): boolean {
    return this.#isAtEnd;
  }

  get hasFailed(): boolean {
    return this.#hasFailed;
  }

  /** Whether a row that was not read yet can belong to the window. `listings`: the rows of the window so far, cheapest first. */
  isNeededFor(listings: readonly PricedRow[]): boolean {
    if (this.#isAtEnd) return false;
    const dearest = listings.at(WINDOW_SIZE_MAX - 1);
    return dearest === undefined || this.#last === undefined || compareListings(this.#last, dearest) < 0;
  }

  /** Reads the next chunk, if the window needs it. A failed read also removes the rows that were kept. */
  async readFor(listings: readonly PricedRow[]): Promise<R[]> {
    if (!this.isNeededFor(listings)) return [];
    const result = await this.#readChunk(this.#last);
    if (!result.ok) {
      this.#hasFailed = true;
      this.#isAtEnd = true;
      this.rows.length = 0;
      this.assets.clear();
      return [];
    }
    this.#last = result.value.at(-1);
    this.#isAtEnd = result.value.length < CHUNK_SIZE;
    return result.value;
  }

  /** Adds each row to `rows`, unless `rows` already has a row of the same asset. */
  keep(rows: readonly R[]): void {
    for (const row of rows) {
      if (this.assets.has(row.asset)) continue;
      this.assets.add(row.asset);
      this.rows.push(row);
    }
  }

  /** Reads no more rows. */
  end(): void {
    this.#isAtEnd = true;
  }
}

/** Compares by price, then by order id. Ids are compared by code units, which for ASCII text is the sort order of the databases. */
export function compareListings(a: PricedRow, b: PricedRow): number {
  if (a.raw !== b.raw) return a.raw < b.raw ? -1 : 1;
  if (a.orderId === b.orderId) return 0;
  return a.orderId < b.orderId ? -1 : 1;
}
