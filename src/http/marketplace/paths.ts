// The paths of the marketplace interface as text: which bucket a request counts in, and under which key its answer is kept.

import type { Bucket } from '../rate-limit.ts';

export const MARKETPLACE_PREFIX = '/v1';

/** The bucket of a path, or null outside the interface. Lists are the collections, and listings and sales of one. */
export function bucketOf(path: string): Bucket | null {
  if (path !== MARKETPLACE_PREFIX && !path.startsWith(`${MARKETPLACE_PREFIX}/`)) return null;
  const trimmed = path.endsWith('/') ? path.slice(0, -1) : path;
  if (trimmed === `${MARKETPLACE_PREFIX}/collections`) return 'list';
  if (!trimmed.startsWith(`${MARKETPLACE_PREFIX}/collections/`)) return 'single';
  return trimmed.endsWith('/listings') || trimmed.endsWith('/sales') ? 'list' : 'single';
}

/**
 * The key of an answer: the path and the known parameters in their documented order, spelt as a caller would. A request
 * spelt just so finds its answer without being parsed; any other spelling leads to the same key.
 */
export function toAnswerKey(path: string, query: Record<string, unknown>, raw: Record<string, unknown>): string {
  const parts = Object.keys(query)
    .filter((name) => raw[name] !== undefined)
    .map((name) => `${name}=${encodeURIComponent(String(query[name]))}`);
  return parts.length === 0 ? path : `${path}?${parts.join('&')}`;
}
