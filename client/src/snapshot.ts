// A snapshot is the responses that a client reads before it follows the stream. This file finds the offset at which the stream must begin, so
// that the client misses no event that occurs after the first of these reads.

import { MercatError } from './mercat-error.ts';

/**
 * Collects the offsets of the responses of a snapshot. A response reflects everything up to its offset, and possibly more. So the oldest
 * offset is where the stream has to begin. The offsets of an epoch, which is the part up to the hyphen, sort as text.
 */
export class SnapshotOffsets {
  readonly #offsets: (string | null)[] = [];

  note(body: unknown): void {
    const { offset } = (body as { meta?: { offset?: string | null } }).meta ?? {};
    if (offset !== undefined) this.#offsets.push(offset);
  }

  /** Throws a MercatError if no response has an offset, if the service did not know an offset, or if it was restored between two responses. */
  get oldest(): string {
    const [oldest] = this.#offsets.toSorted((a, b) => ((a ?? '') < (b ?? '') ? -1 : 1));
    if (oldest === undefined)
      throw new MercatError(
        'invalid_response',
        'No response of the snapshot has an offset: read the snapshot from /explore/v1',
      );
    if (oldest === null)
      throw new MercatError(
        'unavailable',
        'The service cannot read its activity log now, so it does not know where the stream has to begin: try again later',
      );
    if (this.#offsets.some((offset) => epochOf(offset) !== epochOf(oldest)))
      throw new MercatError(
        'offset_expired',
        'The database of the service was restored while the snapshot was read: read the snapshot again',
      );
    return oldest;
  }
}

function epochOf(offset: string | null): string | undefined {
  return offset?.slice(0, offset.lastIndexOf('-'));
}
