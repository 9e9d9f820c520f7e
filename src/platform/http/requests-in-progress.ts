// Decides when a request stops counting as a request in progress. By default it stops when its response is closed. The response of a stream
// lasts for as long as the client wishes, so the request of a stream stops counting when the stream begins.

import type { ServerResponse } from 'node:http';

const leavers = new WeakMap<ServerResponse, () => void>();

/** Calls `leave` once: when the response is closed, or earlier, when `leaveRequestsInProgress` is called with this response. */
export function onLeave(response: ServerResponse, leave: () => void): void {
  leavers.set(response, leave);
  response.once('close', () => leaveRequestsInProgress(response));
}

/**
 * Stops counting the request of a long response. Long responses are limited separately. If they were counted here, they would use up the
 * limit of their interface.
 */
export function leaveRequestsInProgress(response: ServerResponse): void {
  const leave = leavers.get(response);
  leavers.delete(response);
  leave?.();
}
