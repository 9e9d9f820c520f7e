// One connection to the stream. It sends the events that are after its position and pass its filter. It sends the next events only after
// its client has read the earlier bytes.

import type { ServerResponse } from 'node:http';
import { setImmediate as yieldToOthers } from 'node:timers/promises';
import { ServiceError } from '../../../../platform/core/errors.ts';
import type { ActivityFeed } from '../../stream/activity-feed.ts';
import { PAGE_SIZE } from '../../stream/activity-feed.ts';
import type { StreamPosition } from '../../stream/offset.ts';
import { toOffset } from '../../stream/offset.ts';
import type { StreamFilter } from '../../stream/stream-entry.ts';
import { isSelective } from '../../stream/stream-entry.ts';
import type { Chunks } from './chunks.ts';
import { toComment } from './event-stream.ts';

/**
 * Why a stream has ended. `closed`: its client has disconnected. `slow`: its client did not read. `gone`: the next event is no longer kept.
 * `draining`: the process shuts down.
 * `reset`: the database was replaced, so the log is another one or shorter than before.
 */
export type StreamEnd = 'closed' | 'slow' | 'gone' | 'draining' | 'reset';

export type SubscriptionOptions = {
  response: ServerResponse;
  feed: ActivityFeed;
  chunks: Chunks;
  filter: StreamFilter;
  /** The position after which the stream begins. */
  start: StreamPosition;
  /** Called once, when the stream has ended. */
  onEnd: (end: StreamEnd) => void;
  /** Called after events were written. `newest`: the time at which the newest of these events was put into the log. */
  onSent: (events: number, newest: number) => void;
};

/** If fewer than one in this many events passes the filter, older events are read with the filter, and otherwise in pages that all clients share. */
const SPARSE_FACTOR = 10;

/**
 * After this many positions that a filter left out, the client receives the offset at once, so that it has little to read again after a lost
 * connection, and a client that only catches up does not have to wait for a comment.
 */
const UNNAMED_MAX = PAGE_SIZE;

export class Subscription {
  readonly #options: SubscriptionOptions;
  #position: number;
  /** The last position that the client has received, in an event or in an `id` line. */
  #namedPosition: number;
  /** Whether older events are read with the filter. */
  #isSparse: boolean;
  #isSending = false;
  /** Whether the log may have events after `#position`. */
  #isDue = false;
  #isEnded = false;
  /** The time of the last write, by `performance.now()`. Null when the operating system has taken all bytes: they then count as read. */
  #unreadSince: number | null = null;

  constructor(options: SubscriptionOptions) {
    this.#options = options;
    this.#position = options.start.position;
    this.#namedPosition = options.start.position;
    this.#isSparse = isSelective(options.filter);
    options.response.once('close', () => this.#end('closed'));
  }

  /** Bytes in memory that the client has not read. */
  get bufferedBytes(): number {
    return this.#options.response.writableLength;
  }

  /** Whether the client has left bytes unread for at least `afterMs`. */
  isSlow(now: number, afterMs: number): boolean {
    return this.#unreadSince !== null && now - this.#unreadSince >= afterMs;
  }

  /** Sends what is new, unless the client has not read the earlier bytes yet. */
  send(): void {
    this.#isDue = true;
    if (!this.#isSending) void this.#sendAll();
  }

  /**
   * Sends a comment, so that proxies and clients see that the connection is alive. If the filter has left out the latest events, the
   * comment contains the offset of the last event that was left out. A client that connects again then resumes after that event.
   */
  sendComment(): void {
    if (this.#isEnded || this.#unreadSince !== null) return;
    const isUnnamed = this.#position > this.#namedPosition;
    const { epoch } = this.#options.start;
    this.#namedPosition = this.#position;
    // #write calls `send` when the comment is written. If an earlier read of the log failed, `send` repeats the read.
    this.#write(toComment(isUnnamed ? toOffset(epoch, this.#position) : null));
  }

  /** Ends the stream, so that the client connects again. */
  end(end: StreamEnd): void {
    if (this.#isEnded) return;
    const { response } = this.#options;
    // After `response.end()`, the bytes for a slow client would stay in memory until the client reads them.
    if (end === 'slow') response.destroy();
    else response.end();
    this.#end(end);
  }

  async #sendAll(): Promise<void> {
    this.#isSending = true;
    try {
      while (this.#isDue && !this.#isEnded && this.#unreadSince === null) {
        this.#isDue = false;
        if (await this.#sendChunk()) this.#isDue = true;
      }
    } catch (error) {
      // If the error is `gone`, the stream ends, and the client learns the reason from the response to its next request. After any other
      // failure the connection stays open, and the next event or comment causes the next attempt.
      if (error instanceof ServiceError && error.code === 'gone') this.end('gone');
    } finally {
      this.#isSending = false;
    }
  }

  /** Returns whether there may be more to send. */
  async #sendChunk(): Promise<boolean> {
    const { feed, chunks, filter, start, onSent } = this.#options;
    let page = feed.read(this.#position, this.#isSparse ? filter : null);
    // Other work runs between two reads of older events, so that clients that catch up do not delay the other clients.
    if (page instanceof Promise) [page] = await Promise.all([page, yieldToOthers()]);
    if (this.#isEnded || page === null || page.end === this.#position) {
      this.#nameFarPosition();
      return false;
    }
    if (page.epoch !== start.epoch) {
      this.end('reset');
      return false;
    }
    const chunk = chunks.take(page, this.#position, filter);
    this.#isSparse = isSelective(filter) && chunk.events * SPARSE_FACTOR < chunk.position - this.#position;
    this.#position = chunk.position;
    if (chunk.events > 0) {
      this.#namedPosition = chunk.namedPosition;
      this.#write(chunk.bytes);
      onSent(chunk.events, chunk.newest);
    } else this.#nameFarPosition();
    return true;
  }

  /** Names the position without waiting for the next comment, if the filter has left out many events since the last `id`. */
  #nameFarPosition(): void {
    if (this.#position - this.#namedPosition >= UNNAMED_MAX) this.sendComment();
  }

  /** Nothing more is written until the operating system has taken these bytes. So a connection has at most one chunk in memory. */
  #write(bytes: Buffer | string): void {
    this.#unreadSince = performance.now();
    this.#options.response.write(bytes, (error) => {
      if (error) return;
      this.#unreadSince = null;
      this.send();
    });
  }

  #end(end: StreamEnd): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    this.#options.onEnd(end);
  }
}
