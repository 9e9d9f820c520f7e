// Ends the process of `mercat serve` or `mercat work` even if a part of the service does not stop. This loses nothing that was
// acknowledged: the databases survive the end of a process at any moment.

/** With a grace period of a second or less, the process ends this long after the signal at the latest. */
const EXIT_DEADLINE_MS = 4_800;
/** The parts of the service have less time than this to stop, so the process is ended by force only when one of them fails to. */
const CLOSE_DEADLINE_MS = 3_800;

/**
 * Ends the process after the signal aborts, with the exit code 0 and one line on standard error, if it has not ended by then. `graceMs`
 * returns how long the service continues to serve after the signal.
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
    // Does not keep the process alive: usually the process ends long before.
    setTimeout(exit, Math.max(EXIT_DEADLINE_MS, graceMs() + CLOSE_DEADLINE_MS)).unref();
  };
  if (signal.aborted) schedule();
  else signal.addEventListener('abort', schedule, { once: true });
}
