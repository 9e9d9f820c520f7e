// The interface through which a command uses the service, in a running server or in the command's own process.

import type { IntakeConnection } from '../intake/connection.ts';

/** Disposing of the connection closes what it opened in this process. A server keeps running. */
export type ServiceConnection = IntakeConnection &
  AsyncDisposable & {
    /**
     * Runs an operation and returns its result as JSON. Throws OperatorError for a failure that the operator can correct, and when the
     * signal aborts. Default: the signal of the command.
     */
    call(operation: string, input: object, options?: { signal: AbortSignal }): Promise<unknown>;
  };
