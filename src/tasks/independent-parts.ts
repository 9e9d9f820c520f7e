// The parts of a task that do not depend on each other: a part that fails does not keep the parts after it from being done.

/**
 * Does the parts one after the other, also after one has failed, and returns the sum of their results. Throws the first error after the
 * last part, or the reason of `signal` before the next part.
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
