// Everything that is compared after a step.

import type { OrdersDoor } from '../doors/orders-door.ts';
import type { ShopDoor } from '../doors/shop-door.ts';
import { bidChecks } from './bids.ts';
import type { Check } from './check.ts';
import { clientChecks } from './client.ts';
import type { Context } from './context.ts';
import { collectionChecks } from './explore.ts';
import { listChecks } from './explore-lists.ts';
import { marketplaceChecks } from './marketplace.ts';
import { tokenChecks } from './explore-tokens.ts';

export function allChecks(context: Context, { shop, orders }: { shop: ShopDoor; orders: OrdersDoor }): Check[] {
  const { doors, reader, copy, limit } = context;
  const stored = [...reader.market.tables.collection.values()];
  return [
    ...marketplaceChecks(context),
    ...stored.flatMap((one) => [
      ...collectionChecks(context, one),
      ...tokenChecks(context, one),
      ...bidChecks(context, one),
    ]),
    ...listChecks(context),
    ...clientChecks(context),
    ...doors.chain.checks(doors, copy, limit),
    ...doors.vendor.checks(doors, limit),
    ...orders.checks(),
    ...shop.checks(limit),
  ];
}
