// Tests where a walk over the pages of a vendor's list ends, and whether the walk counts the list as complete.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { walkPages } from '../../../src/sources/upstreams/walk.ts';
import type { WalkEnd } from '../../../src/sources/upstreams/walk.ts';

type Page = { rows: readonly unknown[]; next: string | null };

const LIMITS = { pagesMax: 10, rowsMax: 100 };

/** Walks over the given pages. The keys are paging cursors. The first page has the cursor ''. */
async function walk(pages: Readonly<Record<string, Page>>, limits = LIMITS) {
  const requested: string[] = [];
  const rows: unknown[] = [];
  const walking = walkPages(async (cursor) => {
    requested.push(cursor ?? '');
    return pages[cursor ?? ''] ?? assert.fail(`the walk requested the page ${cursor}, which does not exist`);
  }, limits);
  for (;;) {
    const page = await walking.next();
    if (page.done) return { requested, rows, end: page.value satisfies WalkEnd };
    rows.push(...page.value);
  }
}

test('a walk that reaches a page without a next cursor is complete', async () => {
  const { rows, end } = await walk({ '': { rows: [1, 2], next: 'b' }, b: { rows: [3], next: null } });
  assert.deepEqual(rows, [1, 2, 3]);
  assert.deepEqual(end, { gap: null, pages: 2, rows: 3 });
});

test('a cursor that was followed before ends the walk immediately', async () => {
  const { requested, end } = await walk({
    '': { rows: [1], next: 'b' },
    b: { rows: [2], next: 'c' },
    c: { rows: [3], next: 'b' },
  });
  assert.deepEqual(requested, ['', 'b', 'c']);
  assert.deepEqual(end, { gap: 'looping cursor', pages: 3, rows: 3 });
});

test('a cursor that loops over empty pages ends the walk', async () => {
  const { requested, end } = await walk({ '': { rows: [], next: 'b' }, b: { rows: [], next: 'b' } });
  assert.deepEqual(requested, ['', 'b']);
  assert.deepEqual(end.gap, 'looping cursor');
});

test('a page with the same rows as an earlier page ends the walk, whatever its cursor', async () => {
  const { rows, end } = await walk({ '': { rows: [1], next: 'b' }, b: { rows: [1], next: 'c' } });
  assert.deepEqual(rows, [1]);
  assert.deepEqual(end.gap, 'repeated page');
});

test('a walk that reaches its limit of pages or rows is not complete', async () => {
  const pages = { '': { rows: [1], next: 'b' }, b: { rows: [2, 3], next: 'c' }, c: { rows: [4], next: null } };
  assert.deepEqual((await walk(pages, { pagesMax: 2, rowsMax: 100 })).end.gap, 'page limit');
  const { rows, end } = await walk(pages, { pagesMax: 10, rowsMax: 2 });
  assert.deepEqual([rows, end.gap], [[1], 'row limit']);
});
