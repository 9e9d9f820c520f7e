// Updates products for callers. Updates that wait at the same time share their statements and a commit (`GroupedChanges`).

import { ServiceError } from '../../core/errors.ts';
import { isId } from '../../core/time-ordered-id.ts';
import type { ChangeOptions, GroupedChangesOptions, Outcome } from '../grouped-changes.ts';
import { GroupedChanges } from '../grouped-changes.ts';
import type { OnceResponse, RepeatableResponse } from '../idempotency.ts';
import { toFirstResponse } from '../idempotency.ts';
import { updateProductsWithEvents } from './product-changes.ts';
import type { Product, ProductInput } from './product.ts';
import type { ProductUpdate } from './products.ts';
import { invalidProduct, missingProduct } from './products.ts';

export type ProductUpdateRequest = Pick<ProductUpdate, 'input' | 'check'> & { productId: string };

/** The most updates in a group. The limit is lower than that of stock changes, because a product may have hundreds of kilobytes. */
const GROUP_SIZE_MAX = 16;

export type ProductWriterOptions = Pick<
  GroupedChangesOptions<ProductUpdateRequest>,
  'statementsOf' | 'clock' | 'secretKeys'
> & {
  /** The response that is stored for a request with an idempotency key. */
  toResponse: (product: Product) => RepeatableResponse;
};

/**
 * Whether an update can share a transaction with other updates. An update of the slug cannot: it may fail in a way that rolls the transaction
 * back. An update of the stock cannot either: it needs an entry in the adjustment log, and a group of updates writes no such entries.
 */
export function isGroupable({ slug, inventory }: ProductInput): boolean {
  return slug === undefined && inventory === undefined;
}

export class ProductWriter {
  readonly #changes: GroupedChanges<ProductUpdateRequest>;

  constructor({ toResponse, ...options }: ProductWriterOptions) {
    this.#changes = new GroupedChanges({
      ...options,
      needsTransaction: true,
      sizeMax: GROUP_SIZE_MAX,
      write: async (db, shopId, requests, at) => {
        const results = await updateProductsWithEvents(db, { shopId, ...at }, requests);
        return results.map((result): Outcome => {
          if (result instanceof ServiceError || result === 'locked') return result;
          if (result.outcome === 'invalid') return invalidProduct(result.details);
          if (result.outcome === 'missing') return missingProduct();
          return toFirstResponse(toResponse(result.product));
        });
      },
    });
  }

  /**
   * Makes a groupable update. With `once`, a repeated request gets its stored response. Throws the errors of `changeProduct` and
   * of `runOnce`.
   * Throws `unavailable` and changes nothing if the update has not begun by `latest`, a time of `performance.now()`.
   */
  async change(shopId: string, request: ProductUpdateRequest, options: ChangeOptions): Promise<OnceResponse> {
    // Text that is not a product id is not sent to the database, which does not accept every text.
    if (!isId('prod', request.productId)) throw missingProduct();
    return this.#changes.change(shopId, request, options);
  }
}
