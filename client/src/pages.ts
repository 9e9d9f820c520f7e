// A list that the service serves in pages.

import { MercatError } from './mercat-error.ts';

export type Page = { data: readonly unknown[]; pagination: { nextCursor: string | null } };
type Row<P extends Page> = Awaited<P['data'][number]>;

/**
 * A list. Creating it sends no request. Read it row by row (`for await (const row of list)`) or page by page (`list.pages()`). Or read only
 * one page (`list.page()`) or the first rows (`list.take(100)`).
 */
export class Pages<P extends Page> implements AsyncIterable<Row<P>> {
  readonly #readPage: (cursor: string | null) => Promise<P>;
  #newest: P | null = null;

  /** `readPage` reads the page after the cursor, or the first page. */
  constructor(readPage: (cursor: string | null) => Promise<P>) {
    this.#readPage = readPage;
  }

  /** The page that was read last, with its `meta`. Null before a page was read. */
  get newestPage(): P | null {
    return this.#newest;
  }

  /** Reads one page: the page after the `cursor` in the parameters of the call, or the first page if they have no `cursor`. */
  async page(): Promise<P> {
    return this.#read(null);
  }

  /** Reads all pages. */
  async *pages(): AsyncGenerator<P, void, undefined> {
    for (let cursor: string | null = null; ;) {
      const page: P = await this.#read(cursor);
      yield page;
      const { nextCursor } = page.pagination;
      if (nextCursor === null) return;
      if (nextCursor === cursor) throw new MercatError('invalid_response', 'The list does not end');
      cursor = nextCursor;
    }
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Row<P>, void, undefined> {
    for await (const page of this.pages()) yield* page.data as Row<P>[];
  }

  /** The first `max` rows, or all rows if there are fewer. */
  async take(max: number): Promise<Row<P>[]> {
    const rows: Row<P>[] = [];
    if (max <= 0) return rows;
    for await (const row of this) {
      if (rows.push(row) >= max) break;
    }
    return rows;
  }

  async #read(cursor: string | null): Promise<P> {
    this.#newest = await this.#readPage(cursor);
    return this.#newest;
  }
}
