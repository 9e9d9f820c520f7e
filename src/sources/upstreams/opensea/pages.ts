// Requests single objects and lists from OpenSea's API. A list is read page by page: each response has the cursor of the next page.

import type { ParsedPage, VendorRow } from '../response-rows.ts';
import { isRow } from '../response-rows.ts';
import type { CallOptions, Query, UpstreamClient } from '../upstream-client.ts';
import { toMalformed } from '../upstream-client.ts';
import type { Page, WalkEnd, WalkOptions } from '../walk.ts';
import { parsePages, walkPages } from '../walk.ts';

/** The most rows that the API returns in one page. */
export const PAGE = 200;
const CURSOR_LENGTH_MAX = 4_096;
/**
 * The longest wait of a bulk request: one of many requests that are not urgent. Bulk requests wait while the token bucket of the request
 * budget is less than half full. With a budget of 100 requests an hour, half of the bucket fills within this time.
 */
const BULK_PATIENCE_MS = 15 * 60_000;
/**
 * A list with fewer malformed rows than this counts as complete, unless more than half of the rows of one page are malformed. Without this
 * tolerance, a single malformed row would make a short list incomplete.
 */
const REJECTED_MIN = 3;

type RequestOptions = Pick<CallOptions, 'signal' | 'isBulk'> & { query?: Query };

/** Throws UpstreamFailure unless the response is an object. */
export async function fetchObject(
  upstream: UpstreamClient,
  path: string,
  { query = {}, signal, isBulk = false }: RequestOptions = {},
): Promise<VendorRow> {
  const options = { signal, ...(isBulk && { isBulk, patienceMs: BULK_PATIENCE_MS }) };
  const response = await upstream.getJson(path, query, options);
  if (!isRow(response)) throw toMalformed(upstream, 'no object');
  return response;
}

/** Returns a function that fetches the page at a cursor. `name`: the field of the response that contains the rows. */
export function createPageReader(
  upstream: UpstreamClient,
  path: string,
  { name, query = {}, ...options }: RequestOptions & { name: string },
): (cursor: string | null) => Promise<Page> {
  return async (cursor) => {
    const response = await fetchObject(upstream, path, { query: { ...query, limit: PAGE, next: cursor }, ...options });
    const rows = response[name];
    if (!Array.isArray(rows)) throw toMalformed(upstream, `no ${name}`);
    if (rows.length > PAGE) throw toMalformed(upstream, 'more rows than requested');
    const next = response['next'] ?? null;
    if (next === null || next === '') return { rows, next: null };
    if (typeof next !== 'string' || next.length > CURSOR_LENGTH_MAX) throw toMalformed(upstream, 'no paging cursor');
    return { rows, next };
  };
}

export function walkParsed(
  readPage: (cursor: string | null) => Promise<Page>,
  parse: (rows: readonly unknown[]) => ParsedPage,
  options: WalkOptions,
): AsyncGenerator<ParsedPage, WalkEnd> {
  return parsePages(walkPages(readPage, options), parse, { rejectedMin: REJECTED_MIN });
}
