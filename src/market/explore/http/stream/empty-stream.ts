// Responds to requests for the stream while the service starts, or cannot read the log. The response is a stream that ends without an event.
// The client then connects again: an EventSource does so only after the status 200.

import type { ServerResponse } from 'node:http';
import { pathOf, withoutTrailingSlash } from '../../../../platform/http/request-target.ts';
import { RETRY_MS, STREAM_HEADERS, STREAM_PATH } from './event-stream.ts';

export function isStream(target: string): boolean {
  return withoutTrailingSlash(pathOf(target)) === STREAM_PATH;
}

export function sendEmptyStream(response: ServerResponse): void {
  response.writeHead(200, STREAM_HEADERS).end(`retry: ${RETRY_MS}\n\n`);
}
