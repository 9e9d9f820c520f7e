// The time limit for the body of a request. A route that stores a long body while it arrives, such as an import, ends the limit: how long the
// body takes then depends on the service too.

import type { IncomingMessage } from 'node:http';

const timers = new WeakMap<IncomingMessage, NodeJS.Timeout>();

/** Calls `onLate` if the body of the request has not arrived completely after `limitMs`. */
export function limitBodyTime(request: IncomingMessage, limitMs: number, onLate: () => void): void {
  const { 'content-length': length, 'transfer-encoding': encoding } = request.headers;
  if (encoding === undefined && (length === undefined || length === '0')) return;
  const timer = setTimeout(() => {
    if (!request.complete) onLate();
  }, limitMs);
  timers.set(request, timer);
  request.once('close', () => clearTimeout(timer));
}

/** Ends the time limit for the body. The limit for a connection on which nothing is sent still applies. */
export function allowLongBody(request: IncomingMessage): void {
  clearTimeout(timers.get(request));
}
