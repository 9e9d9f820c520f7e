// Detects the end of the parent process, for a process that npm started. npm runs a script through a shell that does not forward signals.
// Without this detection, the service would continue to run after npm was stopped.

const POLL_PERIOD_MS = 500;

/** Returns a signal that aborts when the parent process has ended. */
export function watchParent(): AbortSignal {
  const ended = new AbortController();
  const parent = process.ppid;
  const timer = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(timer);
    ended.abort();
  }, POLL_PERIOD_MS);
  timer.unref();
  return ended.signal;
}
