// Counts the requests in progress. A response that lasts for as long as its client wishes leaves the count before its end.

import type { ServerResponse } from 'node:http';

const leavers = new WeakMap<ServerResponse, () => void>();

/** Calls `leave` once: after the response, or when `leaveRequestsInProgress` is called for it. */
export function onLeave(response: ServerResponse, leave: () => void): void {
  leavers.set(response, leave);
  response.once('close', () => leaveRequestsInProgress(response));
}

/** Called for a long response, which has limits of its own. Long responses would otherwise use up the limit of their interface. */
export function leaveRequestsInProgress(response: ServerResponse): void {
  const leave = leavers.get(response);
  leavers.delete(response);
  leave?.();
}
