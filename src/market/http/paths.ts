// The paths of the marketplace interface as text: which bucket a request counts in, and under which key its answer is kept.

import type { RateLimitBucket } from '../../http/rate-limit.ts';

export const MARKETPLACE_PREFIX = '/v1';

const LIST = /^\/v1\/collections(\/[^/]+\/(listings|sales))?$/;

const COUNTED = /^\/(v1|docs|status)(\/|$)/;

/**
 * The bucket of a path, or null outside the interface, its reference page, whose script is the largest answer of all, and the
 * status, which asks the databases. Lists are the collections, and listings and sales of one.
 */
export function bucketOf(path: string): RateLimitBucket | null {
  if (!COUNTED.test(path)) return null;
  return LIST.test(trim(path)) ? 'list' : 'single';
}

/**
 * The key of an answer: the path and the known parameters in their documented order, spelt as a caller would. A request
 * spelt just so finds its answer without being parsed; any other spelling leads to the same key.
 */
export function toCacheKey(path: string, query: Record<string, unknown>, raw: Record<string, unknown>): string {
  const parts = Object.keys(query)
    .filter((name) => raw[name] !== undefined)
    .map((name) => `${name}=${encodeURIComponent(String(query[name]))}`);
  const trimmed = trim(path);
  return parts.length === 0 ? trimmed : `${trimmed}?${parts.join('&')}`;
}

/** The router takes a path with a slash at its end as the path without. */
function trim(path: string): string {
  return path.endsWith('/') ? path.slice(0, -1) : path;
}
