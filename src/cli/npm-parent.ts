// npm runs a script through a shell that does not pass signals on: ending npm would leave the service running. A process that
// npm started therefore ends when its parent does.

const POLL_PERIOD_MS = 500;

/** Aborted when the process that started this one is gone. */
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
