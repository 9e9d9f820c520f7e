// What a command can do with the service, wherever the service runs.

import type { IntakeConnection } from '../intake/connection.ts';

/** Disposed, it ends what it opened in this process; what a server runs goes on. */
export type ServiceConnection = IntakeConnection &
  AsyncDisposable & {
    /** Runs an operation and returns its result as JSON has it. Throws OperatorError for what the operator can correct. */
    call(operation: string, input: object): Promise<unknown>;
  };
