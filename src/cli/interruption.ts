// The reason with which the AbortSignal of a command is aborted when the process receives SIGINT or SIGTERM.

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
