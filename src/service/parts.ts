// The parts of a running program, and the order in which they are closed.

import { Deadline } from '../platform/core/deadline.ts';
import { isDoneWithin } from '../platform/resilience/deadline.ts';

/** A shutdown waits this long for work in progress. The HTTP server destroys its connections before this time has passed. */
const CLOSE_PATIENCE_MS = 2_500;

/** Closes one part. A promise resolves after the part is closed. */
type Close = () => Promise<unknown> | void;

/**
 * Closes its parts in the reverse order of their opening, or all at once (`together`). All parts have `CLOSE_PATIENCE_MS` for it, so that a database that does
 * not respond cannot block a shutdown. If a part fails to close, the other parts are closed all the same. `close` then rejects with the
 * error, or with an AggregateError of several errors.
 */
export class Parts implements AsyncDisposable {
  readonly #together: boolean;
  readonly #closers: Close[] = [];

  constructor({ together = false }: { together?: boolean } = {}) {
    this.#together = together;
  }

  /** Adds an open part, which may be absent. Returns it. */
  use<Part extends { close: Close } | null>(part: Part): Part {
    if (part) this.onClose(() => part.close());
    return part;
  }

  /** Adds what has to be done to close a part. */
  onClose(close: Close): void {
    this.#closers.push(close);
  }

  async close(): Promise<void> {
    const deadline = Deadline.after(CLOSE_PATIENCE_MS);
    const errors: unknown[] = [];
    const attempt = async (close: Close) => {
      try {
        await isDoneWithin(Promise.resolve(close()), deadline.leftMs);
      } catch (error) {
        errors.push(error);
      }
    };
    const closers = this.#closers.splice(0).toReversed();
    if (this.#together) await Promise.all(closers.map(attempt));
    else for (const close of closers) await attempt(close);
    if (errors.length > 1) throw new AggregateError(errors, 'several parts of the service failed to close');
    if (errors.length === 1) throw errors[0];
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}
