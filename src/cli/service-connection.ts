// The interface through which a command uses the service, in a running server or in its own process.

import type { IntakeConnection } from '../intake/connection.ts';

/** Disposing of the connection closes what it opened in this process. A running server continues its work. */
export type ServiceConnection = IntakeConnection &
  AsyncDisposable & {
    /** Runs an operation and returns its result, a JSON value. Throws OperatorError for a failure that the operator can correct. */
    call(operation: string, input: object): Promise<unknown>;
  };
