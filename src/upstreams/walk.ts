// A walk over the pages of a list that may never end: it stops at a limit, at a page that repeats and at a cursor that loops,
// and says whether the list was seen whole. Only then may anyone conclude that what was not in it is gone.

import { createHash } from 'node:crypto';
import type { ParsedPage } from './rows.ts';

/** One page, and the cursor of the next one; null after the last. */
export type Page = { rows: readonly unknown[]; next: string | null };

export type WalkOptions = { pagesMax: number; rowsMax: number };

export type WalkEnd = {
  whole: boolean;
  /** Why a walk was not whole. The last four are found by those who know what the rows are. */
  why:
    | 'page limit'
    | 'row limit'
    | 'repeated page'
    | 'looping cursor'
    | 'gap between pages'
    | 'fewer than counted'
    | 'out of order'
    | 'too many refused'
    | null;
  pages: number;
  rows: number;
};

/** The rows of each page. Throws what `readPage` throws: then nothing is known of the rest. */
export async function* walkPages(
  readPage: (cursor: string | null) => Promise<Page>,
  { pagesMax, rowsMax }: WalkOptions,
): AsyncGenerator<readonly unknown[], WalkEnd> {
  const cursors = new Set<string>();
  const digests = new Set<string>();
  let cursor: string | null = null;
  let rows = 0;
  for (let pages = 1; ; pages += 1) {
    const page = await readPage(cursor);
    const end = (why: WalkEnd['why']): WalkEnd => ({ whole: why === null, why, pages, rows });
    if (page.rows.length > 0) {
      const digest = createHash('sha256').update(JSON.stringify(page.rows)).digest('base64');
      if (digests.has(digest)) return end('repeated page');
      digests.add(digest);
      if (rows + page.rows.length > rowsMax) return end('row limit');
      rows += page.rows.length;
      yield page.rows;
    }
    if (page.next === null) return end(null);
    if (cursors.has(page.next)) return end('looping cursor');
    if (pages >= pagesMax) return end('page limit');
    cursors.add(page.next);
    cursor = page.next;
  }
}

/** A walk is not believed to have seen the list when more than this share of its rows made no sense, or half of one page. */
const REFUSED_SHARE_MAX = 0.1;
const REFUSED_PAGE_SHARE_MAX = 0.5;

export type ParsePagesOptions = {
  /** Whether a refusal with this reason means that a row was not understood. */
  isDoubt?: (reason: string) => boolean;
  /** Fewer refused rows than this say nothing of the rest, unless they are most of their page. */
  refusedMin?: number;
};

/** What each page of a walk comes to. */
export async function* parsePages(
  pages: AsyncGenerator<readonly unknown[], WalkEnd>,
  toHarvest: (rows: readonly unknown[]) => ParsedPage,
  { isDoubt = () => true, refusedMin = 1 }: ParsePagesOptions = {},
): AsyncGenerator<ParsedPage, WalkEnd> {
  let refused = 0;
  let isSpoilt = false;
  for (;;) {
    const page = await pages.next();
    if (page.done) {
      const end = page.value;
      const isMuch = refused >= refusedMin && refused > end.rows * REFUSED_SHARE_MAX;
      return end.whole && (isSpoilt || isMuch) ? { ...end, whole: false, why: 'too many refused' } : end;
    }
    const harvest = toHarvest(page.value);
    const doubts = harvest.refused.filter(isDoubt).length;
    refused += doubts;
    isSpoilt ||= doubts > page.value.length * REFUSED_PAGE_SHARE_MAX;
    yield harvest;
  }
}
