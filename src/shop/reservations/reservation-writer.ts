// Changes reservations for callers. Changes that wait at the same time share a transaction (`GroupedChanges`).

import { ServiceError } from '../../platform/core/errors.ts';
import { isId } from '../../platform/core/time-ordered-id.ts';
import { BatchedReads } from '../../platform/database/batched-reads.ts';
import type { ChangeOptions, GroupedChangesOptions } from '../grouped-changes.ts';
import { GroupedChanges } from '../grouped-changes.ts';
import type { OnceResponse, RepeatableResponse } from '../idempotency.ts';
import { toFirstResponse } from '../idempotency.ts';
import { listReservedProducts } from '../queries/reservations.ts';
import type { Reservation } from './reservation.ts';
import type { ReservationChange } from './reservation-changes.ts';
import { changeReservations, missingReservation } from './reservation-changes.ts';

const GROUP_SIZE_MAX = 100;
const READS_MAX = 500;

export type ReservationWriterOptions = Pick<
  GroupedChangesOptions<ReservationChange>,
  'statementsOf' | 'clock' | 'secretKeys'
> & {
  /** The response that is stored for a request with an idempotency key. */
  toResponse: (reservation: Reservation, change: ReservationChange) => RepeatableResponse;
};

/** A change that a caller requests. The products of an existing reservation are read by the writer. */
export type ReservationRequest = Exclude<WithoutProducts<ReservationChange>, { kind: 'end' }>;

type WithoutProducts<T> = T extends unknown ? Omit<T, 'productIds'> : never;

export class ReservationWriter {
  readonly #changes: GroupedChanges<ReservationChange>;
  readonly #products: BatchedReads<string[]>;

  constructor({ toResponse, ...options }: ReservationWriterOptions) {
    this.#changes = new GroupedChanges({
      ...options,
      sizeMax: GROUP_SIZE_MAX,
      isTransaction: true,
      write: async (tx, shopId, changes, { locked }) => {
        const outcomes = await changeReservations(tx, shopId, changes, locked);
        return changes.map((change, index) => {
          const outcome = outcomes[index] ?? 'locked';
          if (outcome === 'locked' || outcome instanceof ServiceError) return outcome;
          return toFirstResponse(toResponse(outcome, change));
        });
      },
    });
    this.#products = new BatchedReads({
      sizeMax: READS_MAX,
      readAll: async (keys, startBy) => {
        const products = new Map<string, string[]>();
        const byShop = Map.groupBy(keys, (key) => key.split(' ', 1)[0] ?? '');
        for (const [shopId, ofShop] of byShop) {
          const ids = ofShop.map((key) => key.slice(shopId.length + 1));
          const found = await listReservedProducts(options.statementsOf(shopId, { startBy }), shopId, ids);
          for (const [id, productIds] of found) products.set(`${shopId} ${id}`, productIds);
        }
        return products;
      },
    });
  }

  /**
   * Makes a change. With `once`, a repeated request gets its stored response. Throws `not_found`, `conflict` and `insufficient_stock`, and the
   * errors of `runOnce`. Throws `unavailable` and changes nothing if the change has not begun by `startBy`.
   */
  async change(shopId: string, request: ReservationRequest, options: ChangeOptions): Promise<OnceResponse> {
    if (request.kind === 'reserve') {
      const productIds = request.items.map(({ productId }) => productId).toSorted();
      return this.#changes.change(shopId, { ...request, productIds }, options);
    }
    // Only a well-formed id is sent to the database, because PostgreSQL rejects some texts, such as those with NUL.
    const productIds = isId('rsv', request.id)
      ? await this.#products.read(`${shopId} ${request.id}`, options.startBy)
      : null;
    if (!productIds) throw missingReservation();
    return this.#changes.change(shopId, { ...request, productIds }, options);
  }
}
