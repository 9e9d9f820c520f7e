// Serialises the body and headers of a response once, and sends them for many requests.

import { hash } from 'node:crypto';
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import type { ContentCoding } from './content-coding.ts';
import { ENCODED_BYTES_MIN, EncodedBodies, chooseCoding } from './content-coding.ts';
import { toJsonText } from './serialised-json.ts';

/**
 * The times for which shared caches may keep a response and serve it stale, in seconds, and for which browsers may keep it (default: 0).
 * `immutable`: the response never changes.
 */
export type CachePolicy = { maxAgeS?: number; sharedMaxAgeS: number; staleWhileRevalidateS: number } | 'immutable';

/** The policy of responses that should soon be replaced, such as degraded responses. */
export const SHORT_POLICY = { sharedMaxAgeS: 1, staleWhileRevalidateS: 1 } satisfies CachePolicy;

/** One year, so that a cache never has to request the response again. */
const IMMUTABLE_MAX_AGE_S = 31_536_000;

const SHORT_CACHE_CONTROL = toCacheControl(SHORT_POLICY);

export type CachedResponse = {
  /** The pattern of the route. Null until the response is cached. */
  route: string | null;
  /** A collection id, ALL_COLLECTIONS or NO_COLLECTION. A change of a collection that the tag names makes the response out of date. */
  cacheTag: string;
  /**
   * The earliest expiry of a listing in the response, in ms since the epoch: from then on the response is wrong. Null if no listing
   * expires.
   */
  validUntil: number | null;
  /** Whether the response is incomplete or old because a read failed. */
  degraded: boolean;
  /** The age of the data when the response is sent, if the response is no longer fresh. 0 for a fresh response. */
  ageMs: number;
  /** The body, split where the time of the response is inserted. */
  parts: readonly Buffer[];
  /** The length of the body in bytes. */
  size: number;
  /** Null if the body is too small to be encoded, or contains the time of the response. */
  encoded: EncodedBodies | null;
  etag: string;
  headers: readonly string[];
  notModifiedHeaders: readonly string[];
};

/** A placeholder for the time of the response. It is as long as the time, so that `content-length` stays the same. */
export const RESPONSE_TIME = '@@@@@@@response-time@@@@';

export const CORS_HEADERS = {
  'access-control-allow-origin': '*',
  'access-control-expose-headers':
    'Age, ETag, Retry-After, X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset, X-Request-Id',
  'x-content-type-options': 'nosniff',
} as const;

/** What a response consists of. */
export type ResponseContent = {
  body: unknown;
  cacheTag: string;
  policy: CachePolicy;
  /** Whether a read failed. The response then has SHORT_POLICY instead of its own policy. */
  degraded?: boolean;
  validUntil?: number | null;
  timestamped?: boolean;
};

/**
 * Serialises `body`. If `timestamped` is true, RESPONSE_TIME in the body is replaced by the current time at each write. The ETag does not
 * depend on that time.
 */
export function createCachedResponse(options: ResponseContent): CachedResponse {
  const { degraded = false, validUntil = null, timestamped } = options;
  const text = toJsonText(options.body);
  const file = createCachedFile({
    bytes: toOwnBuffer(text),
    type: 'application/json; charset=utf-8',
    cacheTag: options.cacheTag,
    policy: degraded ? SHORT_POLICY : options.policy,
  });
  if (!timestamped) return { ...file, degraded, validUntil };
  return { ...file, degraded, validUntil, parts: text.split(RESPONSE_TIME).map(toOwnBuffer), encoded: null };
}

/** `type`: the media type. `headers`: in addition to those of all cached responses. */
export type FileContent = {
  bytes: Buffer;
  type: string;
  headers?: Readonly<Record<string, string>>;
  cacheTag: string;
  policy: CachePolicy;
};

export function createCachedFile({ bytes, type, headers = {}, cacheTag, policy }: FileContent): CachedResponse {
  const etag = `W/"${hash('sha256', bytes, 'base64url').slice(0, 22)}"`;
  const shared = {
    'cache-control': toCacheControl(policy),
    etag,
    vary: 'Accept-Encoding',
    ...CORS_HEADERS,
    ...headers,
  };
  const isText = /^application\/json|xml$/.test(type);
  return {
    route: null,
    cacheTag,
    validUntil: null,
    degraded: false,
    ageMs: 0,
    parts: [bytes],
    size: bytes.length,
    encoded: bytes.length < ENCODED_BYTES_MIN || !isText ? null : new EncodedBodies(bytes),
    etag,
    headers: flatten({ 'content-type': type, 'content-length': String(bytes.length), ...shared }),
    notModifiedHeaders: flatten(shared),
  };
}

/** `Buffer.from` would take small buffers from a shared block of 64 KiB, and a cached response would keep the complete block in memory. */
function toOwnBuffer(text: string): Buffer {
  const bytes = Buffer.allocUnsafeSlow(Buffer.byteLength(text));
  bytes.write(text);
  return bytes;
}

/**
 * Returns `response` for a caller that gets it `ageMs` after its data was read. The result has `Age` in full seconds (RFC 9111, section
 * 5.1), and SHORT_POLICY, so that a shared cache replaces it soon.
 */
export function toStaleResponse(response: CachedResponse, ageMs: number): CachedResponse {
  const age = String(Math.floor(ageMs / 1_000));
  const change = (headers: readonly string[]) => [
    ...headers.map((part, index) => (headers[index - 1] === 'cache-control' ? SHORT_CACHE_CONTROL : part)),
    'age',
    age,
  ];
  return {
    ...response,
    degraded: true,
    ageMs,
    headers: change(response.headers),
    notModifiedHeaders: change(response.notModifiedHeaders),
  };
}

/**
 * Writes a 200, or a 304 if `If-None-Match` matches. `HEAD` gets only the headers. `now` is the time of the response. `extraHeaders`
 * contains each header name, followed by its value.
 */
export function writeCachedResponse(
  request: IncomingMessage,
  reply: ServerResponse,
  response: CachedResponse,
  { now, extraHeaders = [] }: { now: number; extraHeaders?: readonly string[] },
): void {
  if (isNotModified(request.headers, response.etag)) {
    reply.writeHead(304, [...response.notModifiedHeaders, ...extraHeaders]).end();
    return;
  }
  const coding = response.encoded && chooseCoding(request.headers['accept-encoding']);
  const isHead = request.method === 'HEAD';
  const sendPlain = () => {
    reply.writeHead(200, [...response.headers, ...extraHeaders]);
    reply.end(isHead ? undefined : toBody(response, now));
  };
  if (!response.encoded || !coding) return sendPlain();
  const send = (body: Buffer) => {
    reply.writeHead(200, [...toEncodedHeaders(response.headers, body, coding), ...extraHeaders]);
    reply.end(isHead ? undefined : body);
  };
  const encoded = response.encoded.get(coding);
  if (encoded instanceof Promise) void encoded.then(send, sendPlain);
  else send(encoded);
}

function toEncodedHeaders(headers: readonly string[], body: Buffer, coding: ContentCoding): string[] {
  const changed = headers.map((part, index) => (headers[index - 1] === 'content-length' ? String(body.length) : part));
  return [...changed, 'content-encoding', coding];
}

function toBody({ parts }: CachedResponse, now: number): Buffer | undefined {
  if (parts.length === 1) return parts[0];
  const time = Buffer.from(new Date(now).toISOString());
  return Buffer.concat(parts.flatMap((part, index) => (index === 0 ? [part] : [time, part])));
}

/**
 * Whether `If-None-Match` names the response with the weak ETag `etag`, so that a 304 is sent. The comparison is weak, as RFC 9110, section
 * 13.1.2, requires.
 */
export function isNotModified(headers: IncomingHttpHeaders, etag: string): boolean {
  const ifNoneMatch = headers['if-none-match'];
  if (ifNoneMatch === undefined) return false;
  if (ifNoneMatch.trim() === '*') return true;
  const opaque = etag.slice('W/'.length);
  return ifNoneMatch.split(',').some((one) => one.trim().replace(/^W\//, '') === opaque);
}

function toCacheControl(policy: CachePolicy): string {
  if (policy === 'immutable') return `public, max-age=${IMMUTABLE_MAX_AGE_S}, immutable`;
  const { maxAgeS = 0, sharedMaxAgeS, staleWhileRevalidateS } = policy;
  return `public, max-age=${maxAgeS}, s-maxage=${sharedMaxAgeS}, stale-while-revalidate=${staleWhileRevalidateS}`;
}

function flatten(headers: Record<string, string>): string[] {
  return Object.entries(headers).flat();
}
