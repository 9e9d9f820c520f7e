// Stores the last known buyer floor of each collection in the primary database. The stored floor is served while the buyer floor cannot be
// read.

import type { Clock } from '../../../platform/core/clock.ts';
import type { MarketSource } from '../market-source.ts';
import { valueOrNull } from '../market-source.ts';
import type { LastBuyerFloor } from '../queries/last-buyer-floors.ts';
import { deleteLastBuyerFloor, listLastBuyerFloors, upsertLastBuyerFloor } from '../queries/last-buyer-floors.ts';

/** The lowest ask and the lowest total of a buyer, in base units, of one moment. */
export type PresentFloors = { ask: bigint; total: bigint };

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
  readonly #written = new Map<string, { floors: PresentFloors | null; at: number }>();
  readonly #writes = new Set<Promise<void>>();

  constructor(source: MarketSource, clock: Clock) {
    this.#source = source;
    this.#clock = clock;
  }

  /** The floors that were stored in the last half hour, by collection id. Null when they cannot be read. */
  async list(collectionIds: readonly string[]): Promise<ReadonlyMap<string, LastBuyerFloor> | null> {
    const since = this.#clock() - BUYER_FLOOR_AGE_MAX_MS;
    return valueOrNull(await this.#source.read((db) => listLastBuyerFloors(db, collectionIds, since)));
  }

  /**
   * Stores the buyer floor, and the ask floor of the same moment. The caller does not wait for the write. `floors` is null for a collection
   * without listings.
   */
  note(collectionId: string, floors: PresentFloors | null): void {
    const now = this.#clock();
    const last = this.#written.get(collectionId);
    const isSame = last?.floors?.total === floors?.total && last?.floors?.ask === floors?.ask;
    // A clock that was set back must not delay the next write.
    if (last && isSame && now >= last.at && now - last.at < REWRITE_MS) return;
    if (this.#written.size >= COLLECTIONS_MAX) this.#written.clear();
    this.#written.set(collectionId, { floors, at: now });
    const write = this.#write(collectionId, floors, now).finally(() => this.#writes.delete(write));
    this.#writes.add(write);
  }

  /** Resolves when all writes that have begun so far have ended. */
  async settled(): Promise<void> {
    await Promise.all(this.#writes);
  }

  async #write(collectionId: string, floors: PresentFloors | null, observedAt: number): Promise<void> {
    const result = await this.#source.read((db) =>
      floors === null
        ? deleteLastBuyerFloor(db, collectionId, observedAt)
        : upsertLastBuyerFloor(db, collectionId, { raw: floors.total, askRaw: floors.ask, observedAt }),
    );
    // A failed write is forgotten, so that the next request writes the floor again.
    if (!result.ok) this.#written.delete(collectionId);
  }
}
