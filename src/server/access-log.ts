// The access log: one line for each request. Queries are left out, because a client may have put a key into its query by mistake.

import type { IncomingMessage } from 'node:http';
import type { Log } from '../platform/core/log.ts';
import { pathOf } from '../platform/http/request-target.ts';
import { findCaller } from '../shop/http/authenticate.ts';
import { traceOf } from './request-id.ts';
import type { RequestObserver } from './request-observer.ts';

/** The longest path and the longest user agent that are logged. The rest of a longer text is cut off. */
const TEXT_LENGTH_MAX = 200;

export function createAccessLog(log: Log, clientAddress: (request: IncomingMessage) => string): RequestObserver {
  return ({ request, id, target, route, status, seconds, isAborted }) => {
    const trace = traceOf(request);
    const caller = findCaller(request);
    log.info('request', {
      requestId: id,
      ...(trace && { traceId: trace.traceId, parentId: trace.parentId }),
      method: request.method,
      path: target === null ? null : pathOf(target).slice(0, TEXT_LENGTH_MAX),
      route,
      status,
      durationMs: Math.round(seconds * 1e6) / 1e3,
      client: clientAddress(request),
      ...(caller && { key: caller.keyId, shop: caller.shopId }),
      userAgent: request.headers['user-agent']?.slice(0, TEXT_LENGTH_MAX) ?? null,
      ...(isAborted && { aborted: true }),
    });
  };
}
