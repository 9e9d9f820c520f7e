// A ready answer: the bytes and headers of a 200, made once and written many times, and how it is written to a request.

import { createHash } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';

/** How long shared caches may keep an answer, in seconds. */
export type CachePolicy = { sharedMaxAgeS: number; staleWhileRevalidateS: number };

/** Answers that miss a source are worth keeping for a moment only. */
export const DEGRADED_POLICY: CachePolicy = { sharedMaxAgeS: 1, staleWhileRevalidateS: 1 };

export type CachedResponse = {
  /** The collection it is about, or ALL_COLLECTIONS: an import that touches it makes the answer old. */
  subject: string;
  /** Milliseconds since the epoch after which the answer is known to be untrue; null: never. */
  trueUntil: number | null;
  /** The body, cut where the time of the response goes. */
  parts: readonly Buffer[];
  /** Bytes of the body as it is written. */
  size: number;
  etag: string;
  headers: readonly string[];
  notModifiedHeaders: readonly string[];
};

/** In place of the time of the response: as long as an ISO 8601 time with milliseconds, so that lengths do not change. */
export const RESPONSE_TIME = '@@@@@@@response-time@@@@';

export const CORS_HEADERS = {
  'access-control-allow-origin': '*',
  'access-control-expose-headers': 'ETag, Retry-After, X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset',
  'x-content-type-options': 'nosniff',
} as const;

/** With `stamped`, RESPONSE_TIME in the body becomes the time of each response; the ETag does not depend on it. */
export function createCachedResponse(options: {
  body: unknown;
  subject: string;
  policy: CachePolicy;
  trueUntil?: number | null;
  stamped?: boolean;
}): CachedResponse {
  const { policy } = options;
  const text = JSON.stringify(options.body);
  const bytes = Buffer.from(text);
  const etag = `W/"${createHash('sha256').update(bytes).digest('base64url').slice(0, 22)}"`;
  const shared = { 'cache-control': toCacheControl(policy), etag, ...CORS_HEADERS };
  return {
    subject: options.subject,
    trueUntil: options.trueUntil ?? null,
    parts: options.stamped ? text.split(RESPONSE_TIME).map((part) => Buffer.from(part)) : [bytes],
    size: bytes.length,
    etag,
    headers: flatten({
      'content-type': 'application/json; charset=utf-8',
      'content-length': String(bytes.length),
      ...shared,
    }),
    notModifiedHeaders: flatten(shared),
  };
}

/** The same answer under another policy: one that was made when all was well, told while something is out of reach. */
export function underPolicy(answer: CachedResponse, policy: CachePolicy): CachedResponse {
  const cacheControl = toCacheControl(policy);
  const change = (headers: readonly string[]) =>
    headers.map((part, index) => (headers[index - 1] === 'cache-control' ? cacheControl : part));
  return { ...answer, headers: change(answer.headers), notModifiedHeaders: change(answer.notModifiedHeaders) };
}

/** Writes a 200, or a 304 when the caller holds the same answer. `HEAD` gets the headers alone. */
export function writeCachedResponse(
  request: IncomingMessage,
  response: ServerResponse,
  answer: CachedResponse,
  now: number,
): void {
  const held = request.headers['if-none-match'];
  if (held !== undefined && holdsEtag(held, answer.etag)) {
    response.writeHead(304, answer.notModifiedHeaders as string[]).end();
    return;
  }
  response.writeHead(200, answer.headers as string[]);
  response.end(request.method === 'HEAD' ? undefined : bodyOf(answer, now));
}

function bodyOf(answer: CachedResponse, now: number): Buffer | undefined {
  if (answer.parts.length === 1) return answer.parts[0];
  const time = Buffer.from(new Date(now).toISOString());
  return Buffer.concat(answer.parts.flatMap((part, index) => (index === 0 ? [part] : [time, part])));
}

/** Weak comparison, as RFC 9110 asks for GET and HEAD. */
function holdsEtag(ifNoneMatch: string, etag: string): boolean {
  if (ifNoneMatch.trim() === '*') return true;
  const opaque = etag.slice('W/'.length);
  return ifNoneMatch.split(',').some((one) => one.trim().replace(/^W\//, '') === opaque);
}

function toCacheControl({ sharedMaxAgeS, staleWhileRevalidateS }: CachePolicy): string {
  return `public, max-age=0, s-maxage=${sharedMaxAgeS}, stale-while-revalidate=${staleWhileRevalidateS}`;
}

function flatten(headers: Record<string, string>): string[] {
  return Object.entries(headers).flat();
}
