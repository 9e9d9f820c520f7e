// Reads the pages of a list that may be endless. A walk stops at a limit, at a repeated page or at a repeated paging cursor, and reports
// whether it read the complete list. Only a row that is missing from a complete list may be treated as deleted.

import { createHash } from 'node:crypto';
import type { ParsedPage } from './response-rows.ts';

/** `next`: the paging cursor of the next page; null on the last page. */
export type Page = { rows: readonly unknown[]; next: string | null };

export type WalkOptions = { pagesMax: number; rowsMax: number };

/** Why a walk did not read the complete list. The last four are found by code that interprets the rows. */
export type WalkGap =
  | 'page limit'
  | 'row limit'
  | 'repeated page'
  | 'looping cursor'
  | 'gap between pages'
  | 'fewer listings than counted'
  | 'out of order'
  | 'too many rejected';

/** `gap` is null when the walk saw the complete list. */
export type WalkEnd = { gap: WalkGap | null; pages: number; rows: number };

/** Yields the rows of each page. Throws the errors of `readPage`. */
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
    if (page.rows.length > 0) {
      const digest = createHash('sha256').update(JSON.stringify(page.rows)).digest('base64');
      if (digests.has(digest)) return { gap: 'repeated page', pages, rows };
      digests.add(digest);
      if (rows + page.rows.length > rowsMax) return { gap: 'row limit', pages, rows };
      rows += page.rows.length;
      yield page.rows;
    }
    if (page.next === null) return { gap: null, pages, rows };
    if (cursors.has(page.next)) return { gap: 'looping cursor', pages, rows };
    if (pages >= pagesMax) return { gap: 'page limit', pages, rows };
    cursors.add(page.next);
    cursor = page.next;
  }
}

/** If a larger share of all rows was rejected, the list counts as incomplete. */
const REJECTED_SHARE_MAX = 0.1;
/** If a larger share of the rows of one page was rejected, the list counts as incomplete. */
const REJECTED_PAGE_SHARE_MAX = 0.5;

export type ParsePagesOptions = {
  /** REJECTED_SHARE_MAX applies only if at least this many rows of the list were rejected. REJECTED_PAGE_SHARE_MAX always applies. */
  rejectedMin?: number;
};

/**
 * Parses each page of a walk. If many rows were rejected, the list counts as incomplete: a stored row that is missing among the parsed rows
 * may be a rejected row. Unsupported rows do not count as rejected.
 */
export async function* parsePages(
  pages: AsyncGenerator<readonly unknown[], WalkEnd>,
  parse: (rows: readonly unknown[]) => ParsedPage,
  { rejectedMin = 1 }: ParsePagesOptions = {},
): AsyncGenerator<ParsedPage, WalkEnd> {
  let rejected = 0;
  let hasRejectedPage = false;
  for (;;) {
    const page = await pages.next();
    if (page.done) {
      const end = page.value;
      const isTooMany = rejected >= rejectedMin && rejected > end.rows * REJECTED_SHARE_MAX;
      return end.gap === null && (hasRejectedPage || isTooMany) ? { ...end, gap: 'too many rejected' } : end;
    }
    const parsed = parse(page.value);
    rejected += parsed.rejected.length;
    hasRejectedPage ||= parsed.rejected.length > page.value.length * REJECTED_PAGE_SHARE_MAX;
    yield parsed;
  }
}
