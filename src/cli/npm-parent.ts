// If npm started this process, ends the process when its parent has ended. Reason: npm runs a script through a shell that does not forward
// signals, so the service would survive a stop of npm.

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
