// A share of a pool's connections, so that statements which hang in one lane leave connections to the others.

import { raceDeadline } from '../resilience/deadline.ts';

/** Connections that one lane may hold: even with two lanes that hang, some of the pool's ten are left. */
const LANE_CONNECTIONS_MAX = 4;

/** Places are given in the order of arrival. */
export class ConnectionLane {
  readonly #placesMax: number;
  #placesTaken = 0;
  readonly #waiting = new Set<() => void>();

  constructor(placesMax = LANE_CONNECTIONS_MAX) {
    this.#placesMax = placesMax;
  }

  /** Takes a place, or waits for one until `deadline` (`performance.now()`). Throws DeadlineExceeded. */
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
      // A place that was given at the last moment goes to the next one.
      if (!this.#waiting.delete(takePlace)) this.leave();
      throw error;
    }
  }

  /** Gives the place to the statement that has waited longest. */
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
