// The reason why a command must stop: the signal that the process received.

export type StopSignal = 'SIGINT' | 'SIGTERM';

/** The reason of the abort when a signal stops a command. */
export class Interruption extends Error {
  override readonly name = 'Interruption';
  readonly stopSignal: StopSignal;

  constructor(stopSignal: StopSignal) {
    super(`interrupted by ${stopSignal}`);
    this.stopSignal = stopSignal;
  }
}

/** Whether a service manager or an operator stopped the command with SIGTERM, and not a user with Ctrl-C. */
export function isTerminated({ reason }: AbortSignal): boolean {
  return reason instanceof Interruption && reason.stopSignal === 'SIGTERM';
}
