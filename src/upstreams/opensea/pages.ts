// Pages of OpenSea's lists: one question a page, the answer's frame checked, its cursor followed. It knows no row.

import type { VendorRow } from '../rows.ts';
import type { Query, UpstreamClient } from '../upstream-client.ts';
import { toMalformed } from '../upstream-client.ts';
import type { Page } from '../walk.ts';

/** The most that its API gives at once. */
export const PAGE = 200;
const CURSOR_LENGTH_MAX = 4_096;
/** With the others at work, and a budget of a hundred an hour, half a bucket fills in less. */
const BULK_PATIENCE_MS = 15 * 60_000;

type AnswerOptions = { query?: Query; signal?: AbortSignal | undefined; isBulk?: boolean };

/** An answer that is an object. */
export async function readAnswer(
  upstream: UpstreamClient,
  path: string,
  { query = {}, signal, isBulk = false }: AnswerOptions = {},
): Promise<VendorRow> {
  const answer = await upstream.getJson(path, query, {
    ...(signal && { signal }),
    ...(isBulk && { isBulk, patienceMs: BULK_PATIENCE_MS }),
  });
  if (typeof answer === 'object' && answer !== null && !Array.isArray(answer)) return answer as VendorRow;
  throw toMalformed(upstream, 'no object');
}

/** Reads pages of the list that an answer has under `name`, as walkPages wants them. */
export function pageReader(
  upstream: UpstreamClient,
  path: string,
  { name, query = {}, ...options }: AnswerOptions & { name: string },
): (cursor: string | null) => Promise<Page> {
  return async (cursor) => {
    const answer = await readAnswer(upstream, path, { query: { ...query, limit: PAGE, next: cursor }, ...options });
    const rows = answer[name];
    if (!Array.isArray(rows)) throw toMalformed(upstream, `no ${name}`);
    if (rows.length > PAGE) throw toMalformed(upstream, 'more rows than asked for');
    const next = answer['next'] ?? null;
    if (next === null || next === '') return { rows, next: null };
    if (typeof next !== 'string' || next.length > CURSOR_LENGTH_MAX) throw toMalformed(upstream, 'no cursor');
    return { rows, next };
  };
}
