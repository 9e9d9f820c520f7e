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
