// The duration of requests by operation and status, and the requests of each API key. Names follow the semantic conventions of OpenTelemetry for HTTP servers.

import type { Registry } from 'prom-client';
import { Counter, Histogram } from 'prom-client';
import type { RequestObserver } from '../../server/request-observer.ts';
import { knownMethodOf } from '../../server/request-observer.ts';
import { findCaller } from '../../shop/http/authenticate.ts';

/** The bucket boundaries that the conventions recommend, and three lower boundaries for cached responses, which take less than a millisecond. */
const SECONDS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10];
const OTHER_METHOD = '_OTHER';

export const REQUEST_DURATION = 'http_server_request_duration_seconds';
export const KEY_REQUESTS = 'mercat_key_requests_total';

/** The most keys that have metrics of their own, so that a service with many shops does not fill the memory of its monitor. */
const KEYS_MAX = 200;
/** The label of all further keys. */
const OTHER_KEYS = { key: 'other', shop: '' };

export function createRequestMetrics(registry: Registry): RequestObserver {
  const durations = new Histogram({
    name: REQUEST_DURATION,
    help: 'Duration of requests. http_route is empty when no route was reached.',
    labelNames: ['http_request_method', 'http_route', 'http_response_status_code'],
    buckets: SECONDS,
    registers: [registry],
  });
  const requests = new Counter({
    name: KEY_REQUESTS,
    help: `Requests by API key and class of the status. Keys beyond the first ${KEYS_MAX} that the process saw are counted as other.`,
    labelNames: ['key', 'shop', 'status'],
    registers: [registry],
  });
  const known = new Set<string>();
  return ({ request, route, status, seconds }) => {
    durations.observe(
      {
        http_request_method: knownMethodOf(request) ?? OTHER_METHOD,
        http_route: route ?? '',
        http_response_status_code: status,
      },
      seconds,
    );
    const caller = findCaller(request);
    if (!caller) return;
    if (known.size < KEYS_MAX) known.add(caller.keyId);
    const labels = known.has(caller.keyId) ? { key: caller.keyId, shop: caller.shopId ?? '' } : OTHER_KEYS;
    requests.inc({ ...labels, status: `${Math.floor(status / 100)}xx` });
  };
}
