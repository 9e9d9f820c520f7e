// Runs the parts of a task that do not depend on each other.

/**
 * Runs the parts one after the other, and returns the sum of their results. If parts fail, the other parts still run, and the first error is
 * thrown after the last part. If `signal` is aborted, no further part begins, and the reason of `signal` is thrown.
 */
export async function sumParts(parts: readonly (() => Promise<number>)[], signal?: AbortSignal): Promise<number> {
  let total = 0;
  const errors: unknown[] = [];
  for (const part of parts) {
    signal?.throwIfAborted();
    try {
      total += await part();
    } catch (error) {
      errors.push(error);
    }
  }
  if (errors.length > 0) throw errors[0];
  return total;
}
