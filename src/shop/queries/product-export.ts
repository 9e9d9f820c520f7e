// Reads all products of a shop for an export, the variants of a group together.

import type { Product } from '../products/product.ts';
import type { Queryable } from '../../platform/database/port.ts';
import { column, rowDecoder, text } from '../../platform/database/rows.ts';
import { PRODUCT_COLUMNS, decodeProduct } from './products.ts';

const decodeLeader = rowDecoder('product', { leader: column('leader', text) });

/**
 * A page of groups, by the creation of their first product. A product without a group is a group of its own. `after`: only groups whose first
 * product is newer than this product. `limit` counts groups.
 */
export async function listProductGroups(
  db: Queryable,
  shopId: string,
  { after, limit }: { after: string | null; limit: number },
): Promise<{ leader: string; products: Product[] }[]> {
  const rows = await db.query(
    `with leader as (
       select id, group_id from main.product as one
       where shop_id = $1 and id > coalesce($2, '') and (group_id is null or not exists (
         select from main.product as earlier
         where earlier.shop_id = $1 and earlier.group_id = one.group_id and earlier.id < one.id))
       order by id limit $3
     )
     select leader.id as leader, member.* from leader cross join lateral (
       select ${PRODUCT_COLUMNS} from main.product
       where shop_id = $1 and (product.id = leader.id or product.group_id = leader.group_id)
     ) as member
     order by leader.id, member.id`,
    [shopId, after, limit],
  );
  const members = rows.map((row) => ({ ...decodeLeader(row), product: decodeProduct(row) }));
  return [...Map.groupBy(members, ({ leader }) => leader)].map(([leader, group]) => ({
    leader,
    products: group.map(({ product }) => product),
  }));
}
