// A share of a pool's connections: whoever hangs in one lane leaves the others room. It knows nothing of connections.

import { raceDeadline } from '../resilience/deadline.ts';

export type Lane = {
  /** Waits for a place until `deadline` (`performance.now()`), and throws DeadlineExceeded when there was none. */
  enter(deadline: number): Promise<void>;
  leave(): void;
};

/** Connections that one lane may hold: two lanes that hang leave others to the rest. */
const LANE_CONNECTIONS_MAX = 4;

/** A lane over any pool. First come, first served. */
export function createLane(connectionsMax = LANE_CONNECTIONS_MAX): Lane {
  let entered = 0;
  const waiting = new Set<() => void>();
  return {
    enter: async (deadline) => {
      if (entered < connectionsMax) {
        entered += 1;
        return;
      }
      const { promise: called, resolve: call } = Promise.withResolvers<void>();
      waiting.add(call);
      try {
        await raceDeadline(called, deadline);
      } catch (error) {
        // A place that was handed over at the last moment goes to the next one.
        if (!waiting.delete(call)) leave();
        throw error;
      }
    },
    leave,
  };

  /** Hands the place over to whoever has waited longest. */
  function leave(): void {
    const [next] = waiting;
    if (!next) {
      entered -= 1;
      return;
    }
    waiting.delete(next);
    next();
  }
}
