// npm runs a script through a shell that keeps signals to itself: ending npm would leave the service running without anybody.
// A process that npm started therefore ends with the shell that it was started from. Any other lives on its own.

const WATCH_PERIOD_MS = 500;

/** Aborted when the process that started this one is gone. */
export function watchParent(): AbortSignal {
  const gone = new AbortController();
  const parent = process.ppid;
  const timer = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(timer);
    gone.abort();
  }, WATCH_PERIOD_MS);
  timer.unref();
  return gone.signal;
}
