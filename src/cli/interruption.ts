// When the process receives SIGINT or SIGTERM, the AbortSignal of its command is aborted. The reason of the signal is an Interruption.

export type StopSignal = 'SIGINT' | 'SIGTERM';

export class Interruption extends Error {
  override readonly name = 'Interruption';
  readonly stopSignal: StopSignal;

  constructor(stopSignal: StopSignal) {
    super(`interrupted by ${stopSignal}`);
    this.stopSignal = stopSignal;
  }
}

/** Whether the command was stopped by SIGTERM, which a service manager sends, and not by Ctrl-C. */
export function isTerminated({ reason }: AbortSignal): boolean {
  return reason instanceof Interruption && reason.stopSignal === 'SIGTERM';
}

/** A job that is stopped has this long to undo its work and to report what it has done. */
const STOP_PATIENCE_MS = 10_000;

/** Returns a signal that aborts some time after `signal` aborts, for the calls with which a command stops a job and reads its result. */
export function withPatience(signal: AbortSignal): AbortSignal {
  const ended = new AbortController();
  const end = () => setTimeout(() => ended.abort(signal.reason), STOP_PATIENCE_MS).unref();
  if (signal.aborted) end();
  else signal.addEventListener('abort', end, { once: true });
  return ended.signal;
}
