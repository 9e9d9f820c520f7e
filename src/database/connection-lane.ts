// A lane limits how many of a pool's connections one group of statements may use at once. When the statements of one lane hang, the other
// lanes still get connections.

import { raceDeadline } from '../resilience/deadline.ts';

/** The largest number of connections of one lane. A pool has ten: even when two lanes hang, two connections are free. */
const LANE_CONNECTIONS_MAX = 4;

/** Each statement or transaction holds one of the lane's places while it uses a connection. A free place goes to the caller that waited longest. */
export class ConnectionLane {
  readonly #placesMax: number;
  #placesTaken = 0;
  readonly #waiting = new Set<() => void>();

  constructor(placesMax = LANE_CONNECTIONS_MAX) {
    this.#placesMax = placesMax;
  }

  /** Takes a place, or waits until a place is free. Throws DeadlineExceeded at `deadline`, a time of `performance.now()`. */
  async enter(deadline: number): Promise<void> {
    if (this.#placesTaken < this.#placesMax) {
      this.#placesTaken += 1;
      return;
    }
    const { promise: placeFree, resolve: takePlace } = Promise.withResolvers<void>();
    this.#waiting.add(takePlace);
    try {
      await raceDeadline(placeFree, deadline);
    } catch (error) {
      // If this caller got the place just before its deadline, it passes the place on to the next caller.
      if (!this.#waiting.delete(takePlace)) this.leave();
      throw error;
    }
  }

  /** Gives the place to the caller that has waited longest, or frees it when no caller waits. */
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
