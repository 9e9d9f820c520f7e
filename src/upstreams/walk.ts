// Reads the pages of a list that may be endless. A walk stops at a limit, at a repeated page or at a repeated paging cursor, and reports
// whether it read the complete list. A row may be treated as deleted only when it is missing from a complete list.

import { createHash } from 'node:crypto';
import type { ParsedPage } from './response-rows.ts';

/** `next`: the paging cursor of the next page, or null when this is the last page. */
export type Page = { rows: readonly unknown[]; next: string | null };

export type WalkOptions = { pagesMax: number; rowsMax: number };

/** Why a walk did not read the complete list. The last four are found by code that interprets the rows. */
export type WalkGap =
  | 'page limit'
  | 'row limit'
  | 'repeated page'
  | 'looping cursor'
  | 'gap between pages'
  | 'fewer than counted'
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

/** A list counts as incomplete when more than this share of all its rows was rejected. */
const REJECTED_SHARE_MAX = 0.1;
/** A list counts as incomplete when more than this share of the rows of one page was rejected. */
const REJECTED_PAGE_SHARE_MAX = 0.5;

export type ParsePagesOptions = {
  /** Fewer rejected rows than this do not make a list incomplete, unless they are more than half of a page. */
  rejectedMin?: number;
};

/**
 * Parses each page of a walk. When many rows were rejected, the list counts as incomplete: a stored row that is missing among the
 * parsed rows may be one of the rejected rows. Unsupported rows do not count as rejected.
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
