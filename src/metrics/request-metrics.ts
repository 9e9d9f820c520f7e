// The duration of requests by operation and status. Names follow the semantic conventions of OpenTelemetry for HTTP servers.

import type { Registry } from 'prom-client';
import { Histogram } from 'prom-client';
import type { RequestObserver } from '../server/request-observer.ts';
import { knownMethodOf } from '../server/request-observer.ts';

/** The bucket boundaries that the conventions recommend, and three lower boundaries for cached responses, which take less than a millisecond. */
const SECONDS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10];
const OTHER_METHOD = '_OTHER';

export const REQUEST_DURATION = 'http_server_request_duration_seconds';

export function createRequestMetrics(registry: Registry): RequestObserver {
  const durations = new Histogram({
    name: REQUEST_DURATION,
    help: 'Duration of requests. http_route is empty when no route was reached.',
    labelNames: ['http_request_method', 'http_route', 'http_response_status_code'],
    buckets: SECONDS,
    registers: [registry],
  });
  return ({ request, route, status, seconds }) =>
    durations.observe(
      {
        http_request_method: knownMethodOf(request) ?? OTHER_METHOD,
        http_route: route ?? '',
        http_response_status_code: status,
      },
      seconds,
    );
}
