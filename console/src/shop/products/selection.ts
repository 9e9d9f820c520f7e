// The products that the user has selected in the list, for a change of all of them at once.

import type { ProductSummary } from '../../../../client/src/store.ts';
import { Store } from '../../shell/store.ts';

/** The selected products by id, as they were when they were selected. */
export class Selection extends Store<ReadonlyMap<string, ProductSummary>> {
  constructor() {
    super(new Map());
  }

  has(products: readonly ProductSummary[]): boolean {
    return products.length > 0 && products.every(({ id }) => this.get().has(id));
  }

  select(products: readonly ProductSummary[], isSelected: boolean): void {
    const next = new Map(this.get());
    for (const product of products) {
      if (isSelected) next.set(product.id, product);
      else next.delete(product.id);
    }
    this.set(next);
  }

  clear(): void {
    this.set(new Map());
  }
}
