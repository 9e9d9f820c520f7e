// A long job of a command, such as a backup. The job runs in the process of the server or of the command. The job is stopped when the command
// no longer reads the state of the job, because the command was probably killed.

import { describeError, OperatorError } from '../core/errors.ts';
import { isDoneWithin } from '../resilience/deadline.ts';

/** `read` waits at most this long for the end of the job before it returns the state. */
const READ_WAIT_MS = 200;
/** A job whose state was not read for this long is stopped. */
const UNREAD_MS_MAX = 30_000;

/** `result` and `failure` are both null while the job runs. `failure` is a message for the operator. */
export type JobState<Progress, Result> = Progress & { result: Result | null; failure: string | null };

export type JobControl<Progress> = { signal: AbortSignal; onProgress: (progress: Progress) => void };

export type JobParts<Progress, Result> = {
  /** The progress before the first report. */
  initial: Progress;
  run: (control: JobControl<Progress>) => Promise<Result>;
  /** The state's `failure` after a stop. */
  describeStop: string;
  /** The state's `failure` after another error. After an OperatorError, `failure` is the message of that error. */
  describeFailure: (reason: string) => string;
  unreadMsMax?: number | undefined;
};

export class WatchedJob<Progress extends object, Result> {
  readonly state: JobState<Progress, Result>;
  readonly #parts: JobParts<Progress, Result>;
  readonly #stopping = new AbortController();
  #readAt = performance.now();
  readonly #ended: Promise<void>;

  /** Starts the job. */
  constructor(parts: JobParts<Progress, Result>) {
    this.#parts = parts;
    this.state = { ...parts.initial, result: null, failure: null };
    this.#ended = this.#run();
  }

  isRunning(): boolean {
    return this.state.result === null && this.state.failure === null;
  }

  /** Waits up to READ_WAIT_MS for the end of the job, then returns its state. */
  async read(): Promise<JobState<Progress, Result>> {
    this.#readAt = performance.now();
    await isDoneWithin(this.#ended, READ_WAIT_MS);
    return this.state;
  }

  /** Stops the job and waits for its end. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#ended;
  }

  async #run(): Promise<void> {
    const { run, describeStop, describeFailure, unreadMsMax = UNREAD_MS_MAX } = this.#parts;
    const { signal } = this.#stopping;
    const onProgress = (progress: Progress) => {
      Object.assign(this.state, progress);
      if (performance.now() - this.#readAt > unreadMsMax) this.#stopping.abort();
    };
    try {
      this.state.result = await run({ signal, onProgress });
    } catch (error) {
      if (error instanceof OperatorError) this.state.failure = error.message;
      else if (signal.aborted) this.state.failure = describeStop;
      else this.state.failure = describeFailure(describeError(error));
    }
  }
}
