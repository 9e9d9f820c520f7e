// Lets many callers share one read, so that public requests cannot multiply the reads of a database.

const FRESH_MS = 1_000;

/** Returns a function that calls `read` at most once a second. Between these calls it returns the promise of the latest call. */
export function readOncePerSecond<T>(read: () => Promise<T>): () => Promise<T> {
  let latest: { readAt: number; result: Promise<T> } | null = null;
  return () => {
    const now = performance.now();
    if (!latest || now - latest.readAt >= FRESH_MS) latest = { readAt: now, result: read() };
    return latest.result;
  };
}
