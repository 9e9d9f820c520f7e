// Ends the process of `mercat serve` or `mercat work` even if a part of the service does not stop. No acknowledged write is lost, because
// the databases survive the end of a process at any moment.

/** With a grace period of a second or less, the process ends this long after the signal at the latest. */
const EXIT_DEADLINE_MS = 4_800;
/** Each part of the service stops in less time than this, so the process is ended by force only when a part fails to stop. */
const CLOSE_DEADLINE_MS = 3_800;

/**
 * Sets a deadline when the signal aborts. If the process still runs at the deadline, ends the process with the exit code 0 and one line on
 * standard error. `graceMs` returns how long the service continues to serve after the signal.
 */
export function exitSoonAfter(
  signal: AbortSignal,
  stderr: NodeJS.WritableStream,
  graceMs: () => number = () => 0,
): void {
  const schedule = () => {
    const exit = () => {
      stderr.write('mercat: the service did not stop in time, so the process ends now\n');
      process.exit(0);
    };
    // The timer does not keep the process alive: usually the process ends long before the deadline.
    setTimeout(exit, Math.max(EXIT_DEADLINE_MS, graceMs() + CLOSE_DEADLINE_MS)).unref();
  };
  if (signal.aborted) schedule();
  else signal.addEventListener('abort', schedule, { once: true });
}
