// Changes the stock of products for callers. Changes that wait at the same time share a statement (`GroupedChanges`).

import { ServiceError } from '../platform/core/errors.ts';
import { isId } from '../platform/core/time-ordered-id.ts';
import type { ChangeOptions, GroupedChangesOptions, Outcome } from './grouped-changes.ts';
import { GroupedChanges } from './grouped-changes.ts';
import type { OnceResponse, RepeatableResponse } from './idempotency.ts';
import { toFirstResponse } from './idempotency.ts';
import type { AppliedStockChange, StockChangeResult } from './queries/stock.ts';
import type { StockRequest } from './stock.ts';
import { changeStocks } from './stock.ts';

const GROUP_SIZE_MAX = 100;

export type StockWriterOptions = Pick<GroupedChangesOptions<Grouped>, 'statementsOf' | 'clock' | 'secretKeys'> & {
  /** The response that is stored for a request with an idempotency key. */
  toResponse: (change: AppliedStockChange) => RepeatableResponse;
};

type Grouped = StockRequest & { productIds: readonly string[] };

export class StockWriter {
  readonly #changes: GroupedChanges<Grouped>;
  readonly #toResponse: StockWriterOptions['toResponse'];

  constructor({ toResponse, ...options }: StockWriterOptions) {
    this.#toResponse = toResponse;
    this.#changes = new GroupedChanges({
      ...options,
      sizeMax: GROUP_SIZE_MAX,
      write: async (db, shopId, requests, at) => {
        const results = await changeStocks(db, shopId, requests, at);
        return results.map((result, index) => this.#toOutcome(result, requests[index]?.expected ?? null));
      },
    });
  }

  /**
   * Changes stock. With `once`, a repeated request gets its stored response. Throws `not_found` if the shop has no such product, `conflict` if
   * the stock does not equal `expected`, and the errors of `runOnce`. Throws `unavailable` and changes nothing if the change has not begun by
   * `startBy`.
   */
  async change(shopId: string, request: StockRequest, options: ChangeOptions): Promise<OnceResponse> {
    // Only a well-formed product id is sent to the database, because PostgreSQL rejects some texts, such as those with NUL.
    if (!isId('prod', request.productId)) throw missing();
    return this.#changes.change(shopId, { ...request, productIds: [request.productId] }, options);
  }

  #toOutcome(result: StockChangeResult, expected: number | null): Outcome {
    if (result.outcome === 'applied') return toFirstResponse(this.#toResponse(result.change));
    if (result.outcome === 'unexpected') return unexpected(result.level, expected);
    return result.outcome === 'locked' ? 'locked' : missing();
  }
}

function missing(): ServiceError {
  return new ServiceError('not_found', 'Product not found');
}

function unexpected(level: number, expected: number | null): ServiceError {
  const message = `stock is ${level}, not ${expected}`;
  return new ServiceError('conflict', `The ${message}`, { details: [{ path: 'expected', message }] });
}
