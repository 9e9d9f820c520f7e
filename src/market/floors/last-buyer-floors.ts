// Stores the last known buyer floor of each collection in the primary database. The stored floor is served while the buyer floor cannot be
// read.

import type { Clock } from '../../core/clock.ts';
import type { MarketSource } from '../market-source.ts';
import { valueOrNull } from '../market-source.ts';
import type { LastBuyerFloor } from '../queries/last-buyer-floors.ts';
import {
  deleteLastBuyerFloor,
  findLastBuyerFloor,
  listLastBuyerFloors,
  upsertLastBuyerFloor,
} from '../queries/last-buyer-floors.ts';

/** A stored floor is served up to this age. */
export const BUYER_FLOOR_AGE_MAX_MS = 30 * 60_000;
/**
 * An unchanged floor is written again only after this time. So the stored time of a floor may be earlier than the last observation by up to
 * this time.
 */
const REWRITE_MS = 60_000;
/** The last write is remembered for at most this many collections. When this number is reached, all last writes are forgotten. */
const COLLECTIONS_MAX = 10_000;

export class LastBuyerFloors {
  readonly #source: MarketSource;
  readonly #clock: Clock;
  readonly #written = new Map<string, { raw: bigint | null; at: number }>();
  readonly #writes = new Set<Promise<void>>();

  constructor(source: MarketSource, clock: Clock) {
    this.#source = source;
    this.#clock = clock;
  }

  /** In base units. Null when no floor was stored in the last half hour, or when the stored floor cannot be read. */
  async find(collectionId: string): Promise<bigint | null> {
    const since = this.#clock() - BUYER_FLOOR_AGE_MAX_MS;
    const floor = valueOrNull(await this.#source.read((db) => findLastBuyerFloor(db, collectionId, since)));
    return floor?.raw ?? null;
  }

  /** The stored floors of any age, by collection id. Null when they cannot be read. */
  async list(collectionIds: readonly string[]): Promise<ReadonlyMap<string, LastBuyerFloor> | null> {
    return valueOrNull(await this.#source.read((db) => listLastBuyerFloors(db, collectionIds)));
  }

  /**
   * Stores the buyer floor. The caller does not wait for the write. `raw` is null for a collection without listings. `ageMs`: the age of the
   * data from which the floor was read. It is above zero if the floor was read from a replica whose data is older than the primary's.
   */
  note(collectionId: string, raw: bigint | null, ageMs: number): void {
    const now = this.#clock();
    const last = this.#written.get(collectionId);
    // A clock that was set back must not delay the next write.
    if (last && last.raw === raw && now >= last.at && now - last.at < REWRITE_MS) return;
    if (this.#written.size >= COLLECTIONS_MAX) this.#written.clear();
    this.#written.set(collectionId, { raw, at: now });
    const write = this.#write(collectionId, raw, now - ageMs).finally(() => this.#writes.delete(write));
    this.#writes.add(write);
  }

  /** Resolves when all writes that have begun so far have ended. */
  async settled(): Promise<void> {
    await Promise.all(this.#writes);
  }

  async #write(collectionId: string, raw: bigint | null, observedAt: number): Promise<void> {
    const result = await this.#source.read((db) =>
      raw === null
        ? deleteLastBuyerFloor(db, collectionId, observedAt)
        : upsertLastBuyerFloor(db, collectionId, { raw, observedAt }),
    );
    // A failed write is forgotten, so that the next request writes the floor again.
    if (!result.ok) this.#written.delete(collectionId);
  }
}
