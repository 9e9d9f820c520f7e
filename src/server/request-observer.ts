// Reports each ended request to the metrics, the access log and the traces.

import type { IncomingMessage, ServerResponse } from 'node:http';
import { METHODS } from 'node:http';

export type EndedRequest = {
  request: IncomingMessage;
  id: string;
  /** The canonical spelling of the target. Null if the target cannot be read. */
  target: string | null;
  /** The pattern of the route, such as `/v1/collections/:id`. Null if no route was reached. */
  route: string | null;
  /** 499 if the connection ended before the response was complete, as in nginx. */
  status: number;
  seconds: number;
  /** True if the connection ended before the response was complete: the client disconnected, or a streamed response failed. */
  isAborted: boolean;
};

const ABORTED_STATUS = 499;

export type RequestObserver = (ended: EndedRequest) => void;

/** Makes a trace of each request. */
export type RequestTracer = {
  /** Calls `run`, which does a part of the work for the request. The trace of the request contains this work. */
  enter(request: IncomingMessage, run: () => void): void;
  observe: RequestObserver;
};

const KNOWN_METHODS = new Set(METHODS);

/** Null for a method that Node.js does not know. Otherwise clients could create any number of metric labels with invented methods. */
export function knownMethodOf({ method = '' }: IncomingMessage): string | null {
  return KNOWN_METHODS.has(method) ? method : null;
}

/** The routes of requests that the router has received. */
export class RoutesOfRequests {
  readonly #routes = new WeakMap<IncomingMessage, string>();

  note(request: IncomingMessage, route: string | undefined): void {
    if (route !== undefined) this.#routes.set(request, route);
  }

  routeOf(request: IncomingMessage): string | null {
    return this.#routes.get(request) ?? null;
  }
}

export type Observation = { observe: RequestObserver; routes: RoutesOfRequests };

/** Calls `observe` after the response is complete or the client has disconnected. */
export function observeEnd(
  response: ServerResponse,
  started: Pick<EndedRequest, 'request' | 'id' | 'target'> & { startedAt: number },
  { observe, routes }: Observation,
): void {
  const { startedAt, ...request } = started;
  response.once('close', () => {
    const isAborted = !response.writableFinished;
    observe({
      ...request,
      route: routes.routeOf(request.request),
      status: isAborted ? ABORTED_STATUS : response.statusCode,
      seconds: (performance.now() - startedAt) / 1_000,
      isAborted,
    });
  });
}
