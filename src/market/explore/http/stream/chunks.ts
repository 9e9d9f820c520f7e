// Encodes consecutive events as chunks of bytes, to be sent on connections. Connections with the same filter and position share one chunk.

import type { LogPage } from '../../stream/activity-feed.ts';
import type { StreamFilter } from '../../stream/stream-entry.ts';
import { passesFilter } from '../../stream/stream-entry.ts';
import { toFrame } from './event-stream.ts';

/** A chunk has at most this many bytes, unless its only event is larger. */
export const CHUNK_BYTES_MAX = 64 * 1024;
/** The most chunks that are remembered. */
const REMEMBERED_MAX = 200;

export type Chunk = {
  bytes: Buffer;
  events: number;
  /** The position up to which the chunk covers the log. */
  position: number;
  /** The position of the last event in the chunk. If the chunk has no event, the position after which the chunk begins. */
  namedPosition: number;
  /** When the last event in the chunk was put into the log; 0 if the chunk has no event. */
  newest: number;
};

export class Chunks {
  readonly #remembered = new Map<string, Chunk>();

  /** `page` has the events after `position`. Returns a chunk of the events that pass the filter: as many as fit, the earliest first. */
  take(page: LogPage, position: number, filter: StreamFilter): Chunk {
    const key = `${page.epoch} ${position} ${page.end} ${filter.key}`;
    const known = this.#remembered.get(key);
    if (known) return known;
    const chunk = toChunk(page, position, filter);
    if (this.#remembered.size >= REMEMBERED_MAX) this.#remembered.clear();
    this.#remembered.set(key, chunk);
    return chunk;
  }

  /**
   * Must be called when the log has become shorter within its epoch: other events can then get the missing positions. A call when new events
   * arrive only frees memory, because no remembered chunk has these events.
   */
  forget(): void {
    this.#remembered.clear();
  }
}

function toChunk({ epoch, entries, end }: LogPage, start: number, filter: StreamFilter): Chunk {
  let text = '';
  const chunk = { events: 0, position: start, namedPosition: start, newest: 0 };
  let size = 0;
  for (const entry of entries) {
    if (passesFilter(entry, filter)) {
      const frame = toFrame(epoch, entry);
      const bytes = Buffer.byteLength(frame);
      if (size > 0 && size + bytes > CHUNK_BYTES_MAX) return { ...chunk, bytes: Buffer.from(text) };
      text += frame;
      size += bytes;
      chunk.events += 1;
      chunk.namedPosition = entry.position;
      chunk.newest = entry.loggedAt;
    }
    chunk.position = entry.position;
  }
  return { ...chunk, position: end, bytes: Buffer.from(text) };
}
