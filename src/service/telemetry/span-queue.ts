// Keeps ended spans in bounded memory until they are exported. One batch is sent at a time. While the receiver is unavailable, the queue keeps
// the oldest spans and drops new ones.

import type { PostResult } from './otlp-client.ts';
import type { Span } from './tracer.ts';

const SPANS_MAX = 2_048;
const BATCH_MAX = 512;

export class SpanQueue {
  readonly #spans: Span[] = [];
  readonly #send: (batch: readonly Span[]) => Promise<PostResult>;
  #sending: Promise<void> | null = null;
  #dropped = 0;
  /** Whether the receiver was unavailable for the latest batch. While this is true, `add` starts no batch; only a call of `flush` tries again. */
  #isUnavailable = false;

  constructor(send: (batch: readonly Span[]) => Promise<PostResult>) {
    this.#send = send;
  }

  readonly add = (span: Span): void => {
    if (this.#spans.length >= SPANS_MAX) {
      this.#dropped += 1;
      return;
    }
    this.#spans.push(span);
    if (this.#spans.length >= BATCH_MAX && !this.#isUnavailable) void this.flush();
  };

  /** The number of spans that were dropped since the last call, because the queue was full or the receiver rejected them. */
  takeDropped(): number {
    const dropped = this.#dropped;
    this.#dropped = 0;
    return dropped;
  }

  /** Sends the queued spans until the queue is empty or the receiver is unavailable. */
  flush(): Promise<void> {
    this.#sending ??= this.#sendAll().finally(() => {
      this.#sending = null;
    });
    return this.#sending;
  }

  async #sendAll(): Promise<void> {
    while (this.#spans.length > 0) {
      const batch = this.#spans.slice(0, BATCH_MAX);
      const result = await this.#send(batch);
      this.#isUnavailable = result === 'unavailable';
      if (this.#isUnavailable) return;
      this.#spans.splice(0, batch.length);
      if (result === 'rejected') this.#dropped += batch.length;
    }
  }
}
