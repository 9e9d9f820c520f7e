// A reservation holds stock of products for a checkout. Its rules, without a database: what a reservation takes, and what becomes of it.

import type { ErrorDetail } from '../../platform/core/errors.ts';
import { ServiceError } from '../../platform/core/errors.ts';

/** `held` ends once, in one of the other states. */
export const RESERVATION_STATES = ['held', 'consumed', 'released', 'expired'] as const;
export type ReservationStatus = (typeof RESERVATION_STATES)[number];

/** `quantity` was reserved. `held` is still held and `consumed` was sold. The rest was returned to the stock. */
export type ReservationItem = {
  productId: string;
  /** The name of the product. Null after the product was deleted. */
  name: string | null;
  quantity: number;
  held: number;
  consumed: number;
  /** Whether the stock of the product was counted at the time of the reservation. If not, no stock was taken. */
  isCounted: boolean;
};

/** Times in milliseconds, by the clock of the database. `endedAt` is null while the reservation is held. */
export type Reservation = {
  id: string;
  status: ReservationStatus;
  reference: string | null;
  createdAt: number;
  expiresAt: number;
  endedAt: number | null;
  items: readonly ReservationItem[];
};

/** A product and how much of it. */
export type ItemRequest = { productId: string; quantity: number };

/** `null`: all that is held. `keepsRest`: what is not consumed stays held; otherwise it is returned. */
export type Consumption = { items: readonly ItemRequest[] | null; keepsRest: boolean };

/**
 * The reservation after a consumption. Throws `conflict` if more is consumed than is held, and `bad_request` if an item is of a product that
 * the reservation does not have.
 */
export function consume(reservation: Reservation, { items, keepsRest }: Consumption, now: number): Reservation {
  const wanted = new Map(items?.map(({ productId, quantity }) => [productId, quantity]));
  if (items !== null) checkConsumed(reservation, items);
  const consumed = reservation.items.map((item) => {
    const sold = items === null ? item.held : (wanted.get(item.productId) ?? 0);
    return { ...item, held: keepsRest ? item.held - sold : 0, consumed: item.consumed + sold };
  });
  if (consumed.some(({ held }) => held > 0)) return { ...reservation, items: consumed };
  return { ...reservation, status: 'consumed', endedAt: now, items: consumed };
}

function checkConsumed(reservation: Reservation, items: readonly ItemRequest[]): void {
  const held = new Map(reservation.items.map((item) => [item.productId, item.held]));
  const find = (isWrong: (item: ItemRequest) => string | null): ErrorDetail[] =>
    items.flatMap((item, index) => {
      const message = isWrong(item);
      return message === null ? [] : [{ path: `items.${index}`, message }];
    });
  const foreign = find(({ productId }) => (held.has(productId) ? null : 'is not a product of this reservation'));
  if (foreign.length > 0) {
    throw new ServiceError('bad_request', 'The reservation does not have these products', { details: foreign });
  }
  const excess = find(({ productId, quantity }) => {
    const left = held.get(productId) ?? 0;
    return quantity > left ? `${quantity} is more than the ${left} that are held` : null;
  });
  if (excess.length > 0) throw new ServiceError('conflict', 'The reservation holds less', { details: excess });
}

/** The reservation after its end. What it held is returned to the stock. */
export function end(reservation: Reservation, status: 'released' | 'expired', now: number): Reservation {
  return { ...reservation, status, endedAt: now, items: reservation.items.map((item) => ({ ...item, held: 0 })) };
}

/** The error for a change of a reservation that has ended. */
export function hasEnded({ status }: Reservation): ServiceError {
  const details = [{ path: 'status', message: `is ${status}` }];
  return new ServiceError('conflict', `The reservation is ${status}, so it cannot be changed`, { details });
}

/** The data of the events about a reservation, and its form in responses. */
export function toReservationView({ id, status, reference, createdAt, expiresAt, endedAt, items }: Reservation) {
  return {
    id,
    status,
    reference,
    items: items.map(({ productId, name, quantity, held, consumed }) => ({
      productId,
      name,
      quantity,
      held,
      consumed,
    })),
    createdAt: new Date(createdAt).toISOString(),
    expiresAt: new Date(expiresAt).toISOString(),
    endedAt: endedAt === null ? null : new Date(endedAt).toISOString(),
  };
}
