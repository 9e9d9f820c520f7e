// Changes the stock of products for callers. Changes that wait at the same time share a statement (`GroupedChanges`).

import { ServiceError } from '../platform/core/errors.ts';
import { missingProduct } from './products/products.ts';
import type { ChangeOptions, GroupedChangesOptions, Outcome } from './grouped-changes.ts';
import { GroupedChanges } from './grouped-changes.ts';
import type { OnceResponse, RepeatableResponse } from './idempotency.ts';
import { toFirstResponse } from './idempotency.ts';
import type { AppliedStockChange, StockChangeResult } from './queries/stock.ts';
import type { StockRequest } from './stock.ts';
import { STOCK_MAX } from './products/product.ts';
import { changeStocks } from './stock.ts';
import { ProductNames } from './product-names.ts';
import type { NamedStockChange } from './stock-input.ts';

const GROUP_SIZE_MAX = 100;

export type StockWriterOptions = Pick<GroupedChangesOptions<Grouped>, 'statementsOf' | 'clock' | 'secretKeys'> & {
  /** The response that is stored for a request with an idempotency key. */
  toResponse: (change: AppliedStockChange) => RepeatableResponse;
};

type Grouped = StockRequest & { productIds: readonly string[] };

export class StockWriter {
  readonly #changes: GroupedChanges<Grouped>;
  readonly #products: ProductNames;
  readonly #toResponse: StockWriterOptions['toResponse'];

  constructor({ toResponse, ...options }: StockWriterOptions) {
    this.#toResponse = toResponse;
    this.#products = new ProductNames(options);
    this.#changes = new GroupedChanges({
      ...options,
      sizeMax: GROUP_SIZE_MAX,
      write: async (db, shopId, requests, at) => {
        const results = await changeStocks(db, shopId, requests, at);
        return results.map((result) => this.#toOutcome(result));
      },
    });
  }

  /**
   * Changes stock. With `once`, a repeated request gets its stored response. Throws `not_found` if the shop has no such product, `conflict` if
   * the stock does not equal `expected`, `insufficient_stock` if the change must not be limited and would be, and the errors of `runOnce`.
   * Throws `unavailable` and changes nothing if the change has not begun by `startBy`.
   */
  async change(
    shopId: string,
    { product, ...request }: NamedStockChange & { keyId: string },
    options: ChangeOptions,
  ): Promise<OnceResponse> {
    // Ids are not looked up, so that a change by id needs one statement.
    const [productId] = await this.#products.find(shopId, [product], options.startBy);
    if (!productId) throw missingProduct();
    return this.#changes.change(shopId, { ...request, productId, productIds: [productId] }, options);
  }

  #toOutcome(result: StockChangeResult): Outcome {
    if (result.outcome === 'applied') return toFirstResponse(this.#toResponse(result.change));
    return result.outcome === 'locked' ? 'locked' : toStockError(result);
  }
}

/** The error of a change that was not made. */
export function toStockError(result: Exclude<StockChangeResult, { outcome: 'applied' | 'locked' }>): ServiceError {
  if (result.outcome === 'missing') return missingProduct();
  const { level } = result;
  if (result.outcome === 'unexpected') {
    const message = `stock is ${level}, not ${result.expected}`;
    return new ServiceError('conflict', `The ${message}`, { details: [{ path: 'expected', message }] });
  }
  const { mode, requested } = result;
  const code = requested < 0 ? 'insufficient_stock' : 'conflict';
  const message = `stock is ${level}, and must stay between 0 and ${STOCK_MAX}`;
  return new ServiceError(code, `The ${message}`, { details: [{ path: mode, message }] });
}
