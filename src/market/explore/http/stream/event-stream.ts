// Formats the stream as server-sent events (WHATWG HTML, section 9.2).

import { CORS_HEADERS } from '../../../../platform/http/cached-response.ts';
import type { StreamEntry } from '../../stream/stream-entry.ts';
import { toOffset } from '../../stream/offset.ts';

export const STREAM_PATH = '/explore/v1/stream';

export const STREAM_HEADERS = {
  ...CORS_HEADERS,
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-store, no-transform',
  // Without this header, nginx would buffer the events.
  'x-accel-buffering': 'no',
};

/** Clients connect again after this time at the earliest. */
export const RETRY_MS = 1_000;

/** The beginning of a stream. A client that is disconnected before its first event sends the `id` back, and resumes at `offset`. */
export function toPreamble(offset: string, retryMs: number): string {
  return `retry: ${retryMs}\nid: ${offset}\n\n`;
}

/**
 * A comment. If `offset` is not null, a client that connects again resumes after this offset. An `id` without data causes no event at
 * the client.
 */
export function toComment(offset: string | null): string {
  return offset === null ? ':\n\n' : `:\nid: ${offset}\n\n`;
}

/** JSON has no line breaks, so `data` is one line. */
export function toFrame(epoch: string, { position, kind, json }: StreamEntry): string {
  return `id: ${toOffset(epoch, position)}\nevent: ${kind}\ndata: ${json}\n\n`;
}
