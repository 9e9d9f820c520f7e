// The end of waiting: what has not come by a deadline is given up. Deadlines are moments of `performance.now()`.

/** Thrown when a statement was given up. The statement may still be running on the server for a moment. */
export class QueryTimeout extends Error {
  override readonly name = 'QueryTimeout';
}

/** Settles as the work does, or rejects at the deadline. On the path of every statement: one timer and one promise. */
export function raceDeadline<T>(work: Promise<T>, deadline: number): Promise<T> {
  if (deadline === Number.POSITIVE_INFINITY) return work;
  return new Promise((resolve, reject) => {
    const leftMs = Math.max(0, deadline - performance.now());
    const timer = setTimeout(() => reject(new QueryTimeout('no answer within the deadline')), leftMs);
    work.then(
      (value) => {
        clearTimeout(timer);
        resolve(value);
      },
      (error: unknown) => {
        clearTimeout(timer);
        reject(error);
      },
    );
  });
}
