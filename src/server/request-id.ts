// Reads the ids by which clients and proxies name a request, for the logs and the traces: `X-Request-Id`, and the trace context of W3C
// (`traceparent`). A request without an id gets a new one.

import { randomBytes } from 'node:crypto';
import type { IncomingMessage } from 'node:http';

export const REQUEST_ID_HEADER = 'x-request-id';
/** The allowed form of an id from outside, which is written into a header and into logs. */
const REQUEST_ID = /^[\w.:@=-]{1,128}$/;
const TRACEPARENT = /^[\da-f]{2}-([\da-f]{32})-([\da-f]{16})-([\da-f]{2})$/;
const ALL_ZEROS = /^0+$/;
const SAMPLED_FLAG = 1;

/** A random prefix of this process. The prefix and a count of the requests make a unique id. */
const PROCESS_PREFIX = randomBytes(9).toString('base64url');
let requests = 0;

/** Returns the id that the client has sent, or a new id if the client has sent none of the allowed form. */
export function requestIdOf(request: IncomingMessage): string {
  const sent = request.headers[REQUEST_ID_HEADER];
  if (typeof sent === 'string' && REQUEST_ID.test(sent)) return sent;
  requests += 1;
  return `${PROCESS_PREFIX}${requests.toString(36)}`;
}

/** `parentId` is the caller's span. */
export type RemoteTrace = { traceId: string; parentId: string; isSampled: boolean };

/** Null if the request has no valid `traceparent`. */
export function traceOf(request: IncomingMessage): RemoteTrace | null {
  const sent = request.headers['traceparent'];
  const [, traceId = '0', parentId = '0', flags = '0'] = TRACEPARENT.exec(typeof sent === 'string' ? sent : '') ?? [];
  if (ALL_ZEROS.test(traceId) || ALL_ZEROS.test(parentId)) return null;
  return { traceId, parentId, isSampled: (Number.parseInt(flags, 16) & SAMPLED_FLAG) !== 0 };
}
