// Announces operations that a trace may show, on a diagnostics channel. Without a subscriber the operation runs directly.

import { tracingChannel } from 'node:diagnostics_channel';

export type TracedAttributes = Record<string, string | number>;

/** Must contain no value that a client sent, no URL and no key, because traces are exported. */
export type TracedOperation = {
  /** `client`: waits for another system. `internal`: work of this process. */
  kind: 'client' | 'internal';
  /** The name must contain no ids, because traces are grouped by name. */
  name: string;
  /** Whether the operation is shown only as a part of another operation. */
  needsParent: boolean;
  /** The operation may add attributes while it runs. */
  attributes: TracedAttributes;
  /** The kind of the failure. Set by an operation that has failed although its promise is fulfilled. */
  failure?: string;
};

export const tracedOperations = tracingChannel<TracedOperation, unknown>('mercat:operation');

/** Runs `work`. `describe` is called only if there is a subscriber; otherwise `work` receives null. */
export function traced<T>(
  describe: () => TracedOperation,
  work: (operation: TracedOperation | null) => Promise<T>,
): Promise<T> {
  if (!tracedOperations.hasSubscribers) return work(null);
  const operation = describe();
  return tracedOperations.tracePromise(async () => work(operation), operation);
}
