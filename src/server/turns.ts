// Spreads the handling of many requests over turns of the event loop. In one turn, Node reads a request from every connection but accepts only one
// new connection. If every request of a turn were handled in it, 300 busy clients would make each turn so long that new connections, for example of
// health checks, wait for seconds. (The slices of platform/core/slices.ts are for long computations: each turn resumes one.)

import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';

/** Requests are handled when they arrive, for this long in one turn. The others wait, in the order of their arrival. */
const TURN_MS = 2;

/** Passes each request to `handle`, at once or in a later turn. A request whose client disconnects while it waits is dropped. */
export function handleInTurns(handle: RequestListener): RequestListener {
  const waiting: [IncomingMessage, ServerResponse][] = [];
  /** When the present turn ends, by `performance.now()`. Null before the first request of a turn. */
  let endsAt: number | null = null;

  const beginTurn = (): number => {
    setImmediate(() => void handleWaiting());
    return performance.now() + TURN_MS;
  };
  const handleWaiting = async (): Promise<void> => {
    const until = performance.now() + TURN_MS;
    let handled = 0;
    for (const [request, response] of waiting) {
      if (performance.now() >= until) break;
      handled += 1;
      if (!request.socket.destroyed) handle(request, response);
      // The promises of this request continue before the next request, so that their time counts in this turn.
      await Promise.resolve();
    }
    waiting.splice(0, handled);
    endsAt = waiting.length > 0 ? beginTurn() : null;
  };
  return (request, response) => {
    endsAt ??= beginTurn();
    if (waiting.length === 0 && performance.now() < endsAt) handle(request, response);
    else waiting.push([request, response]);
  };
}
