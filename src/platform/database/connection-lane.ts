// A lane limits how many connections of a pool one group of statements uses at once. If the statements of one lane hang, other lanes still
// get connections.

import { FairQueue } from '../resilience/fair-queue.ts';

/** The share of a pool's connections that one lane can use. If two lanes hang, a fifth of the connections is still free. */
const LANE_SHARE = 0.4;
/**
 * The embedded engine has one connection. At most this many statements of a lane wait for the connection at once, and
 * connection-order.ts decides which of them is next.
 */
const LANE_CONNECTIONS_EMBEDDED = 4;

/** Creates a lane of a pool with `connectionsMax` connections. Each statement or transaction holds a place while it uses a connection. */
export function createLane(connectionsMax: number): FairQueue {
  const places =
    connectionsMax === 1 ? LANE_CONNECTIONS_EMBEDDED : Math.max(1, Math.floor(connectionsMax * LANE_SHARE));
  return new FairQueue({ places: () => places });
}
