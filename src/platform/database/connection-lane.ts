// A lane limits how many connections of a pool one group of statements uses at once. If the statements of one lane hang, other lanes still
// get connections.

import type { Deadline } from '../core/deadline.ts';
import { raceDeadline } from '../resilience/deadline.ts';

/** The share of a pool's connections that one lane can use. If two lanes hang, a fifth of the connections is still free. */
const LANE_SHARE = 0.4;
/**
 * The embedded engine has one connection. At most this many statements of a lane wait for the connection at once, and
 * connection-order.ts decides which of them is next.
 */
const LANE_CONNECTIONS_EMBEDDED = 4;

/** The connections of one lane of a pool with `connectionsMax` connections. */
export function laneSizeOf(connectionsMax: number): number {
  return connectionsMax === 1 ? LANE_CONNECTIONS_EMBEDDED : Math.max(1, Math.floor(connectionsMax * LANE_SHARE));
}

/** Each statement or transaction holds a place of the lane while it uses a connection. A free place goes to the longest waiting caller. */
export class ConnectionLane {
  readonly #placesMax: number;
  #placesTaken = 0;
  readonly #waiting = new Set<() => void>();

  constructor(placesMax: number) {
    this.#placesMax = placesMax;
  }

  /** Takes a place, or waits until a place is free. Throws DeadlineExceeded at the deadline. */
  async enter(deadline: Deadline): Promise<void> {
    if (this.#placesTaken < this.#placesMax) {
      this.#placesTaken += 1;
      return;
    }
    const { promise: placeFree, resolve: takePlace } = Promise.withResolvers<void>();
    this.#waiting.add(takePlace);
    try {
      await raceDeadline(placeFree, deadline);
    } catch (error) {
      // This caller may have received a place just before the deadline. `leave` then gives the place to the next caller.
      if (!this.#waiting.delete(takePlace)) this.leave();
      throw error;
    }
  }

  /** Gives the place to the longest waiting caller. Frees the place if no caller waits. */
  leave(): void {
    const [next] = this.#waiting;
    if (!next) {
      this.#placesTaken -= 1;
      return;
    }
    this.#waiting.delete(next);
    next();
  }
}
