// Loads a value when it is first needed.

/**
 * Returns a function that calls `load` when it is first called, and returns the same promise from each later call. If `load` rejects, for
 * example because the process has too many open files, the next call of the function calls `load` again.
 */
export function loadOnce<T>(load: () => Promise<T>): () => Promise<T> {
  let loading: Promise<T> | null = null;
  return () => {
    if (loading) return loading;
    const started = load();
    loading = started;
    started.catch(() => (loading = null));
    return started;
  };
}
