// The reason why a command must stop: the signal that the process received.

export type StopSignal = 'SIGINT' | 'SIGTERM';

/** The reason of the abort if a signal stops a command. */
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
