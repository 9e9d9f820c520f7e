// Load shedding: beyond a number of requests in progress, an interface rejects further requests with a 503. The other interfaces then keep
// their share of the process. Health checks are never shed, nor are requests that get a fresh cached response or exceed a rate limit,
// because all these requests end before this stage.

import type { RequestListener } from 'node:http';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { MCP_PATH } from './agents/http/mcp.ts';
import { ServiceError } from '../platform/core/errors.ts';
import { isBelow } from '../platform/http/request-target.ts';
import { onLeave } from '../platform/http/requests-in-progress.ts';
import { FairQueue } from '../platform/resilience/fair-queue.ts';
import { sendErrorResponse, toErrorResponse } from '../platform/http/error-response.ts';
import { INTAKE_PREFIX } from '../intake/http/routes.ts';
import { MARKETPLACE_PREFIX } from '../market/reads/http/routes.ts';
import { STORE_PREFIX } from '../shop/http/routes.ts';
import { EXPLORE_PREFIX } from '../market/explore/http/routes.ts';
import { corsHeadersOf } from './public-interfaces.ts';

export type LoadLimits = {
  /** How many requests of one interface may be in progress. */
  inProgressMax: number;
  /** How many requests of one interface may be in progress while the event loop is late. */
  inProgressLateMax: number;
  /** The event loop counts as late while its mean delay is above this, in milliseconds. */
  lateMs: number;
};

const LOAD_LIMITS: LoadLimits = { inProgressMax: 1_000, inProgressLateMax: 500, lateMs: 500 };

/** How many requests of one interface may be in progress while the mean delay of the event loop is `delayMs`. */
export function inProgressMaxAt(delayMs: number, limits = LOAD_LIMITS): number {
  return delayMs > limits.lateMs ? limits.inProgressLateMax : limits.inProgressMax;
}

/** Requests to other paths, such as /status, are few and are not shed. */
const INTERFACES = [MARKETPLACE_PREFIX, EXPLORE_PREFIX, STORE_PREFIX, INTAKE_PREFIX, MCP_PATH];

const BUSY = new ServiceError('unavailable', 'The service is busy, try again soon');

export type LoadSheddingOptions = {
  limits?: LoadLimits;
  /** How late the event loop is, in milliseconds. */
  delayMs: () => number;
  /** Called for each request that is shed. */
  onShed: () => void;
};

/** Passes a request to `route` unless its interface has reached its limit of requests in progress. */
export function shedLoad(options: LoadSheddingOptions, route: RequestListener): RequestListener {
  const { limits = LOAD_LIMITS, delayMs, onShed } = options;
  const inProgress = new FairQueue({ places: () => inProgressMaxAt(delayMs(), limits) });
  return (request, response) => {
    const prefix = INTERFACES.find((one) => isBelow(request.url ?? '', one));
    if (prefix === undefined) return route(request, response);
    if (!inProgress.tryEnter(prefix)) {
      onShed();
      return sendErrorResponse(request, response, toErrorResponse(BUSY), corsHeadersOf(prefix));
    }
    onLeave(response, () => inProgress.leave(prefix));
    route(request, response);
  };
}

const SAMPLE_PERIOD_MS = 20;
const MEAN_PERIOD_MS = 500;

/** Measures the mean delay of the event loop in each half second. `meanMs` is the mean of the latest complete half second. */
export class EventLoopDelay {
  readonly #histogram = monitorEventLoopDelay({ resolution: SAMPLE_PERIOD_MS });
  readonly #timer: NodeJS.Timeout;
  #meanMs = 0;

  constructor() {
    this.#histogram.enable();
    this.#timer = setInterval(() => this.#sample(), MEAN_PERIOD_MS).unref();
  }

  readonly meanMs = (): number => this.#meanMs;

  stop(): void {
    clearInterval(this.#timer);
    this.#histogram.disable();
  }

  #sample(): void {
    // The mean is NaN if there is no sample yet.
    this.#meanMs = Math.max(0, (this.#histogram.mean || 0) / 1e6 - SAMPLE_PERIOD_MS);
    this.#histogram.reset();
  }
}
