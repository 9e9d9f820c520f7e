// Ends the process of `mercat serve` or `mercat work` even if a part of the service does not stop. This loses nothing that was
// acknowledged: the databases survive the end of a process at any moment.

/** The parts of the service have less time than this to stop, so the process is ended by force only when one of them fails to. */
const EXIT_DEADLINE_MS = 4_800;

/** Ends the process at the latest this long after the signal aborts, with the exit code 0 and one line on standard error. */
export function exitSoonAfter(signal: AbortSignal, stderr: NodeJS.WritableStream): void {
  const schedule = () => {
    const exit = () => {
      stderr.write('mercat: the service did not stop in time, so the process ends now\n');
      process.exit(0);
    };
    // Does not keep the process alive: usually the process ends long before.
    setTimeout(exit, EXIT_DEADLINE_MS).unref();
  };
  if (signal.aborted) schedule();
  else signal.addEventListener('abort', schedule, { once: true });
}
