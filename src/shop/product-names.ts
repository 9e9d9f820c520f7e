// Finds the products that requests name by id, SKU or external id. Concurrent look-ups of a shop share their statements.

import type { ErrorDetail } from '../platform/core/errors.ts';
import type { Deadline } from '../platform/core/deadline.ts';
import { isStorable } from '../platform/core/text.ts';
import { isId } from '../platform/core/time-ordered-id.ts';
import { BatchedReads } from '../platform/database/batched-reads.ts';
import type { Statements } from '../platform/database/port.ts';
import type { ProductName } from './queries/stock.ts';
import { PRODUCT_NAMES, listProductIdsByName } from './queries/stock.ts';

/**
 * Reads the one field that names a product. If there is none, or more than one, or the value is no text, adds entries to `details` and
 * returns null. `path` stands before the names of the fields.
 */
export function readProductName(
  fields: Readonly<Record<string, unknown>>,
  details: ErrorDetail[],
  path = '',
): ProductName | null {
  const [by = 'product_id', ...others] = PRODUCT_NAMES.filter((name) => fields[name] !== undefined);
  for (const other of others) details.push({ path: `${path}${other}`, message: `must be absent when ${by} is given` });
  const value = fields[by];
  // An id of any other form is the id of no product.
  if (typeof value === 'string' && value !== '' && (by === 'product_id' || isStorable(value))) {
    return others.length === 0 ? { by, value } : null;
  }
  details.push({ path: `${path}${by}`, message: by === 'product_id' ? 'must be a product id' : 'must be text' });
  return null;
}

const NAMES_MAX = 1_000;

type Options = { statementsOf: (shopId: string, options: { startBy: Deadline }) => Statements };

export class ProductNames {
  readonly #ids: BatchedReads<string>;

  constructor({ statementsOf }: Options) {
    this.#ids = new BatchedReads({
      sizeMax: NAMES_MAX,
      readAll: async (keys, startBy) => {
        const names = keys.map((key) => JSON.parse(key) as [shopId: string, ...ProductName[]]);
        const found = new Map<string, string>();
        for (const [shopId, ofShop] of Map.groupBy(names, ([shop]) => shop)) {
          const wanted = ofShop.flatMap(([, name]) => (name ? [name] : []));
          for (const { name, id } of await listProductIdsByName(statementsOf(shopId, { startBy }), shopId, wanted)) {
            found.set(toKey(shopId, name), id);
          }
        }
        return found;
      },
    });
  }

  /**
   * The ids of the products, in the order of the names. Null for a product that the shop does not have. An id is not looked up; it is null
   * only if it cannot be the id of a product.
   */
  find(shopId: string, names: readonly ProductName[], startBy: Deadline): Promise<(string | null)[]> {
    return Promise.all(
      names.map(async ({ by, value }) => {
        if (by === 'product_id') return isId('prod', value) ? value : null;
        return this.#ids.read(toKey(shopId, { by, value }), startBy);
      }),
    );
  }
}

const toKey = (shopId: string, { by, value }: ProductName): string => JSON.stringify([shopId, { by, value }]);
