// Spreads the handling of many requests over turns of the event loop. In one turn, Node reads a request from every connection but accepts only one
// new connection. If every request of a turn were handled in it, 300 busy clients would make each turn so long that new connections, for example of
// health checks, wait for seconds. (The slices of platform/core/slices.ts are for long computations: each turn resumes one.)

import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';

/** Requests are handled when they arrive, for this long in one turn. The others wait, in the order of their arrival. */
const TURN_MS = 2;
/** The most requests of one turn. A request that waits for a read which others share takes most of its time later, and all of them at once. */
const REQUESTS_MAX = 32;

/**
 * When clients begin to connect, the turns in which a connection arrives handle no requests for CONNECT_MS. Such a turn takes a tenth of a
 * millisecond, so hundreds of clients connect in this time. After it, requests are handled for HANDLE_MS even if more clients connect.
 */
const CONNECT_MS = 40;
const HANDLE_MS = 20;

/** `listener` passes each request to `handle`, at once or in a later turn. A request whose client disconnects while it waits is dropped. */
export function handleInTurns(handle: RequestListener): { listener: RequestListener; noteConnection: () => void } {
  const waiting: [IncomingMessage, ServerResponse][] = [];
  /** When the present turn ends, by `performance.now()`. Null before the first request of a turn. */
  let endsAt: number | null = null;
  /** Whether a connection arrived since the previous turn that could handle requests. */
  let hasConnection = false;
  let connectsSince = Number.NEGATIVE_INFINITY;

  const beginTurn = (): number => {
    setImmediate(() => void handleWaiting());
    return performance.now() + TURN_MS;
  };
  const leavesToConnections = (): boolean => hasConnection && performance.now() < connectsSince + CONNECT_MS;
  const handleWaiting = async (): Promise<void> => {
    const until = performance.now() + (leavesToConnections() ? 0 : TURN_MS);
    hasConnection = false;
    let handled = 0;
    for (const [request, response] of waiting) {
      if (performance.now() >= until || handled === REQUESTS_MAX) break;
      handled += 1;
      if (!request.socket.destroyed) handle(request, response);
      // The promises of this request continue before the next request, so that their time counts in this turn.
      await Promise.resolve();
    }
    waiting.splice(0, handled);
    endsAt = waiting.length > 0 ? beginTurn() : null;
  };
  const listener: RequestListener = (request, response) => {
    endsAt ??= beginTurn();
    if (waiting.length === 0 && performance.now() < endsAt && !leavesToConnections()) handle(request, response);
    else waiting.push([request, response]);
  };
  return {
    listener,
    noteConnection: () => {
      hasConnection = true;
      const now = performance.now();
      if (now >= connectsSince + CONNECT_MS + HANDLE_MS) connectsSince = now;
    },
  };
}
