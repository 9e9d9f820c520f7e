// Makes changes of reservations in a transaction: locks their products in the order of all changes of stock, applies the changes one after
// the other, and stores the results. A change of a held reservation needs the locks on all its products, so two changes of one reservation
// never run at the same time, and no two transactions wait for each other.

import { ServiceError } from '../../platform/core/errors.ts';
import type { ErrorDetail } from '../../platform/core/errors.ts';
import { createId } from '../../platform/core/time-ordered-id.ts';
import type { Queryable } from '../../platform/database/port.ts';
import type { WhenLocked } from '../grouped-changes.ts';
import type { LockedProduct } from '../queries/reservations.ts';
import {
  listExistingProducts,
  listReservationsById,
  lockProducts,
  writeReservations,
} from '../queries/reservations.ts';
import type { GroupedStockChange } from '../queries/stock.ts';
import { changeReservedStocks } from '../stock.ts';
import type { Consumption, ItemRequest, Reservation } from './reservation.ts';
import { consume, end, hasEnded, toReservationView } from './reservation.ts';

/** `productIds`: the products of the reservation. `keyId` is null for the sweep. */
export type ReservationChange = { productIds: readonly string[] } & (
  | { kind: 'reserve'; keyId: string; items: readonly ItemRequest[]; expiresInMs: number; reference: string | null }
  | ({ kind: 'consume'; keyId: string; id: string } & Consumption)
  | { kind: 'release'; keyId: string; id: string }
  | { kind: 'extend'; keyId: string; id: string; expiresInMs: number }
  /** Ends a reservation whose time is over. */
  | { kind: 'end'; keyId: null; id: string }
);

/** The reservation after the change, the error of the change, or `locked` if another transaction has locked one of the products. */
export type ReservationOutcome = Reservation | ServiceError | 'locked';

const EVENTS = {
  reserve: 'reservation.created',
  consume: 'reservation.consumed',
  release: 'reservation.released',
} as const;

/** Makes the changes in their order. The outcomes have the same order. */
export async function changeReservations(
  tx: Queryable,
  shopId: string,
  changes: readonly ReservationChange[],
  locked: WhenLocked,
): Promise<ReservationOutcome[]> {
  const productIds = [...new Set(changes.flatMap((change) => change.productIds))].toSorted();
  const products = new Map((await lockProducts(tx, shopId, productIds, locked)).map((row) => [row.id, row]));
  const absent = productIds.filter((id) => !products.has(id));
  const skipped =
    locked === 'skip' && absent.length > 0 ? await listExistingProducts(tx, shopId, absent) : new Set<string>();
  const ids = changes.flatMap((change) => (change.kind === 'reserve' ? [] : [change.id]));
  // This statement sees every change that was committed before the products were locked.
  const stored = ids.length === 0 ? [] : await listReservationsById(tx, shopId, ids);
  const now = Math.max(
    ...[...products.values()].map(({ lockedAt }) => lockedAt),
    ...stored.map(({ readAt }) => readAt),
  );
  const group = new ReservationGroup(products, new Map(stored.map((row) => [row.id, row])), now);
  const outcomes = changes.map((change): ReservationOutcome => {
    if (change.productIds.some((id) => skipped.has(id))) return 'locked';
    try {
      return group.make(change);
    } catch (error) {
      if (error instanceof ServiceError) return error;
      throw error;
    }
  });
  await group.store(tx, shopId);
  return outcomes;
}

/** The state of the locked products and of their reservations while the changes of a group are applied. */
class ReservationGroup {
  readonly #products: ReadonlyMap<string, LockedProduct>;
  readonly #reservations: Map<string, Reservation & { state: string }>;
  readonly #now: number;
  readonly #levels: Map<string, number>;
  readonly #made = new Map<string, Reservation>();
  readonly #reserved = new Map<string, number>();
  readonly #stock: GroupedStockChange[] = [];
  readonly #events: { id: string; type: string; data: object }[] = [];

  constructor(
    products: ReadonlyMap<string, LockedProduct>,
    reservations: Map<string, Reservation & { state: string }>,
    now: number,
  ) {
    this.#products = products;
    this.#reservations = reservations;
    this.#now = now;
    this.#levels = new Map([...products].map(([id, { inventory }]) => [id, inventory]));
  }

  make(change: ReservationChange): Reservation {
    if (change.kind === 'reserve') return this.#reserve(change);
    const before = this.#reservations.get(change.id);
    if (!before) throw missingReservation();
    if (change.kind === 'end') {
      // Another process may have ended it, or extended it.
      if (before.state !== 'held' || before.status === 'held') return before;
      const status = before.status === 'released' ? 'released' : 'expired';
      return this.#change(change, before, end(before, status, before.expiresAt), `reservation.${status}`);
    }
    if (before.status !== 'held') throw hasEnded(before);
    if (change.kind === 'extend') {
      const expiresAt = Math.max(before.expiresAt, this.#now + change.expiresInMs);
      return this.#change(change, before, { ...before, expiresAt }, null);
    }
    const after = change.kind === 'consume' ? consume(before, change, this.#now) : end(before, 'released', this.#now);
    return this.#change(change, before, after, EVENTS[change.kind]);
  }

  #reserve({ items, expiresInMs, reference, keyId }: ReservationChange & { kind: 'reserve' }): Reservation {
    const details: ErrorDetail[] = [];
    const reserved = items.map(({ productId, quantity }, index) => {
      const product = this.#products.get(productId);
      if (!product) throw missingItem(index);
      const level = this.#levels.get(productId) ?? 0;
      if (product.trackInventory && level < quantity) {
        const message = `the stock of ${productId} is ${level}, less than ${quantity}`;
        details.push({ path: `items.${index}.quantity`, message });
      }
      return {
        productId,
        name: product.name,
        quantity,
        held: quantity,
        consumed: 0,
        isCounted: product.trackInventory,
      };
    });
    if (details.length > 0) {
      throw new ServiceError('insufficient_stock', 'The stock is not sufficient, so nothing was reserved', { details });
    }
    const reservation: Reservation = {
      id: createId('rsv', this.#now),
      status: 'held',
      reference,
      createdAt: this.#now,
      expiresAt: this.#now + expiresInMs,
      endedAt: null,
      items: reserved,
    };
    const empty = { ...reservation, items: reserved.map((item) => ({ ...item, held: 0 })) };
    return this.#change({ kind: 'reserve', keyId }, empty, reservation, EVENTS.reserve);
  }

  /** Notes what must be stored. What is no longer held and was not consumed returns to the stock. */
  #change(
    { keyId, kind }: Pick<ReservationChange, 'keyId' | 'kind'>,
    before: Reservation,
    after: Reservation,
    type: string | null,
  ): Reservation {
    const { id } = after;
    for (const [index, item] of after.items.entries()) {
      const earlier = before.items[index] ?? item;
      const held = item.held - earlier.held;
      if (!item.isCounted || held === 0 || !this.#products.has(item.productId)) continue;
      this.#reserved.set(item.productId, (this.#reserved.get(item.productId) ?? 0) + held);
      const returned = earlier.consumed - item.consumed - held;
      if (returned === 0) continue;
      this.#levels.set(item.productId, (this.#levels.get(item.productId) ?? 0) + returned);
      this.#stock.push({
        productId: item.productId,
        mode: 'adjustment',
        requested: returned,
        expected: null,
        keyId,
        reason: kind === 'reserve' ? 'Reserved' : `Returned: the reservation is ${after.status}`,
        eventId: createId('evt', this.#now),
        reservationId: id,
      });
    }
    this.#reservations.set(id, { ...after, state: after.status });
    this.#made.set(id, after);
    if (type !== null) {
      this.#events.push({ id: createId('evt', this.#now), type, data: toReservationView(after) });
    }
    return after;
  }

  async store(tx: Queryable, shopId: string): Promise<void> {
    if (this.#made.size === 0) return;
    if (this.#stock.length > 0) await changeReservedStocks(tx, shopId, this.#stock, this.#now);
    await writeReservations(tx, shopId, {
      reservations: [...this.#made.values()],
      reserved: this.#reserved,
      events: this.#events,
      now: this.#now,
    });
  }
}

/** The error is the same for a reservation that never existed and for one of another shop. */
export function missingReservation(): ServiceError {
  return new ServiceError('not_found', 'Reservation not found');
}

/** The error for an item whose product the shop does not have. */
export function missingItem(index: number): ServiceError {
  const details = [{ path: `items.${index}`, message: 'is not a product of this shop' }];
  return new ServiceError('not_found', 'Product not found', { details });
}
