// Joins reads and the stream after them without a gap.

import { MercatError } from './mercat-error.ts';

/**
 * Collects the offsets of the responses of a snapshot. A response reflects everything up to its offset, and possibly more. So the oldest
 * offset is where the stream has to begin. Offsets all have the same length and sort as text.
 */
export class SnapshotOffsets {
  #oldest: string | null = null;

  note(body: unknown): void {
    const { offset } = (body as { meta?: { offset?: string } }).meta ?? {};
    if (offset === undefined) return;
    if (this.#oldest === null || offset < this.#oldest) this.#oldest = offset;
  }

  /** Throws a MercatError if no response had an offset. */
  get oldest(): string {
    if (this.#oldest !== null) return this.#oldest;
    throw new MercatError('invalid_response', 'No response of the snapshot has an offset: read it from /explore/v1');
  }
}
