// Changes reservations for callers. Changes that wait at the same time share a transaction (`GroupedChanges`).

import { ServiceError } from '../../platform/core/errors.ts';
import { isId } from '../../platform/core/time-ordered-id.ts';
import { BatchedReads } from '../../platform/database/batched-reads.ts';
import type { ChangeOptions, GroupedChangesOptions } from '../grouped-changes.ts';
import { GroupedChanges } from '../grouped-changes.ts';
import type { OnceResponse, RepeatableResponse } from '../idempotency.ts';
import { toFirstResponse } from '../idempotency.ts';
import { listReservedProducts } from '../queries/reservations.ts';
import { ProductNames } from '../product-names.ts';
import type { ItemRequest, Reservation } from './reservation.ts';
import type { NamedConsumption, NamedItem, NewReservation } from './reservation-input.ts';
import type { ReservationChange } from './reservation-changes.ts';
import { changeReservations, missingItem, missingReservation } from './reservation-changes.ts';

const GROUP_SIZE_MAX = 100;
const READS_MAX = 500;

export type ReservationWriterOptions = Pick<
  GroupedChangesOptions<ReservationChange>,
  'statementsOf' | 'clock' | 'secretKeys'
> & {
  /** The response that is stored for a request with an idempotency key. */
  toResponse: (reservation: Reservation, change: ReservationChange) => RepeatableResponse;
};

/** A change that a caller requests. The writer finds the products. */
export type ReservationRequest = { keyId: string } & (
  | ({ kind: 'reserve' } & NewReservation)
  | ({ kind: 'consume'; id: string } & NamedConsumption)
  | { kind: 'release'; id: string }
  | { kind: 'extend'; id: string; expiresInMs: number }
);

export class ReservationWriter {
  readonly #changes: GroupedChanges<ReservationChange>;
  readonly #names: ProductNames;
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
    this.#names = new ProductNames(options);
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
      const items = await this.#findItems(shopId, request.items, options);
      const missing = items.findIndex(({ productId }) => productId === '');
      if (missing >= 0) throw missingItem(missing);
      const productIds = items.map(({ productId }) => productId).toSorted();
      return this.#changes.change(shopId, { ...request, items, productIds }, options);
    }
    // The body is checked before the reservation is looked up, as a 400 comes before a 404.
    const items =
      request.kind === 'consume' && request.items !== null
        ? await this.#findItems(shopId, request.items, options)
        : null;
    // Only a well-formed id is sent to the database, because PostgreSQL rejects some texts, such as those with NUL.
    const productIds = isId('rsv', request.id)
      ? await this.#products.read(`${shopId} ${request.id}`, options.startBy)
      : null;
    if (!productIds) throw missingReservation();
    const change = request.kind === 'consume' ? { ...request, items, productIds } : { ...request, productIds };
    return this.#changes.change(shopId, change, options);
  }

  /** The id of a product that the shop does not have is empty. Throws `bad_request` if two items are of one product, or have one name. */
  async #findItems(shopId: string, items: readonly NamedItem[], { startBy }: ChangeOptions): Promise<ItemRequest[]> {
    const names = items.map(({ product }) => product);
    const ids = await this.#names.find(shopId, names, startBy);
    const keys = names.map(({ by, value }, index) => ids[index] ?? `${by} ${value}`);
    const details = items.flatMap(({ product }, index) => {
      const isRepeated = keys.indexOf(keys[index] ?? '') < index;
      return isRepeated ? [{ path: `items.${index}.${product.by}`, message: 'is in an earlier item too' }] : [];
    });
    if (details.length > 0) throw new ServiceError('bad_request', 'An item is repeated', { details });
    return items.map(({ quantity }, index) => ({ productId: ids[index] ?? '', quantity }));
  }
}
