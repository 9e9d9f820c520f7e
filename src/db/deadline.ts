// The end of waiting: what has not come by a deadline is given up. Deadlines are moments of `performance.now()`.

/** Thrown when a statement was given up. The statement may still be running on the server for a moment. */
export class QueryTimeout extends Error {
  override readonly name = 'QueryTimeout';
}

export async function raceDeadline<T>(work: Promise<T>, deadline: number): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>();
  const leftMs = Math.max(0, deadline - performance.now());
  const timer = setTimeout(() => reject(new QueryTimeout('no answer within the deadline')), leftMs);
  try {
    return await Promise.race([work, promise]);
  } finally {
    clearTimeout(timer);
  }
}
