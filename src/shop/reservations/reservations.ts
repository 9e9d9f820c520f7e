// Reads reservations for callers, and ends those whose time is over.

import { isId } from '../../platform/core/time-ordered-id.ts';
import type { Statements } from '../../platform/database/port.ts';
import { isStuck, repeatAborted } from '../../platform/database/port.ts';
import type { ShopCaller, ShopContext } from '../context.ts';
import type { WhenLocked } from '../grouped-changes.ts';
import type { DueReservation, ReservationQuery } from '../queries/reservations.ts';
import { listDueReservations, listReservations, listReservationsById } from '../queries/reservations.ts';
import type { Reservation } from './reservation.ts';
import { changeReservations, missingReservation } from './reservation-changes.ts';

export async function readReservation(context: ShopContext, caller: ShopCaller, id: string): Promise<Reservation> {
  const [found] = isId('rsv', id) ? await listReservationsById(context.main, caller.shopId, [id]) : [];
  if (!found) throw missingReservation();
  return found;
}

/** A page of reservations, newest first. `next` is the argument `before` for the next page. */
export async function readReservations(
  context: ShopContext,
  caller: ShopCaller,
  query: ReservationQuery,
): Promise<{ reservations: Reservation[]; next: string | null }> {
  if (query.productId !== null && !isId('prod', query.productId)) return { reservations: [], next: null };
  const rows = await listReservations(context.main, caller.shopId, { ...query, limit: query.limit + 1 });
  const reservations = rows.slice(0, query.limit);
  return { reservations, next: rows.length > query.limit ? (reservations.at(-1)?.id ?? null) : null };
}

/** The most products whose locks one call waits for. */
const WAITS_MAX = 4;
/** How long. The stock of all other products waits for the next call. */
const LOCK_WAIT_MS = 250;

/**
 * Ends up to `limit` reservations whose time is over and returns their stock. Returns how many were ended. A product that another
 * transaction has locked delays only its own reservations. If it stays locked, they are left for the next call.
 */
export async function endDueReservations(main: Statements, limit: number): Promise<number> {
  const due = await listDueReservations(main, limit);
  let ended = 0;
  const locked: DueReservation[] = [];
  for (const [shopId, ofShop] of Map.groupBy(due, (one) => one.shopId)) {
    const left = await endAll(main, shopId, ofShop, 'skip');
    ended += ofShop.length - left.length;
    locked.push(...left);
  }
  const waits = [...Map.groupBy(locked, ({ productIds }) => productIds[0] ?? '').values()].slice(0, WAITS_MAX);
  const waited = await Promise.allSettled(
    waits.map(async (ofProduct) => {
      const left = await endAll(main, ofProduct[0]?.shopId ?? '', ofProduct, 'wait');
      ended += ofProduct.length - left.length;
    }),
  );
  for (const result of waited) if (result.status === 'rejected' && !isStuck(result.reason)) throw result.reason;
  return ended;
}

/** Ends reservations of a shop. Returns those of which a product is locked. */
async function endAll(
  main: Statements,
  shopId: string,
  due: readonly DueReservation[],
  locked: WhenLocked,
): Promise<DueReservation[]> {
  const changes = due.map(({ id, productIds }) => ({ kind: 'end', keyId: null, id, productIds }) as const);
  const outcomes = await repeatAborted(() =>
    main.transaction(async (tx) => {
      if (locked === 'wait') await tx.query(`set local lock_timeout = ${LOCK_WAIT_MS}`);
      return changeReservations(tx, shopId, changes, locked);
    }),
  );
  return due.filter((_, index) => outcomes[index] === 'locked');
}
