// Loads a value when it is first needed.

/**
 * Returns a function. The first call of this function calls `load`, and all calls return the promise of that load. If `load` rejects, for
 * example because the process has too many open files, the next call loads again.
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
