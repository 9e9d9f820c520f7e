// Divides long computations into slices. The event loop serves requests between two slices. All computations of the process share the slices:
// the event loop is blocked for about SLICE_MS at a time, and not for SLICE_MS by each of the computations that run at the same time.

/** The time that a slice should take at most, in milliseconds. A single step of a computation may take longer. */
const SLICE_MS = 5;

let sliceStartedAt = Number.NEGATIVE_INFINITY;
/** Resumes the computations that wait for a slice, in the order of their waiting. */
const waiting: (() => void)[] = [];

/** Whether the present slice has lasted for SLICE_MS. Between two steps a computation asks this, and then waits for the next slice. */
export function isSliceOver(): boolean {
  return performance.now() - sliceStartedAt >= SLICE_MS;
}

/** Resolves when the event loop has served other work, and no other computation has the slice. */
export function nextSlice(): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  if (waiting.push(resolve) === 1) setImmediate(beginSlice);
  return promise;
}

function beginSlice(): void {
  sliceStartedAt = performance.now();
  waiting.shift()?.();
  if (waiting.length > 0) setImmediate(beginSlice);
}

/** Returns the result of `toResult` for each value, in the order of the values. Takes as many slices as needed. */
export async function mapInSlices<T, R>(values: readonly T[], toResult: (value: T) => R): Promise<R[]> {
  const results: R[] = [];
  for (const value of values) {
    if (isSliceOver()) await nextSlice();
    results.push(toResult(value));
  }
  return results;
}
