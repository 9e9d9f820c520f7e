// Creates, lists and finds shops, for the commands of the operator.

import { findShop, insertShop, listShops } from './queries/shops.ts';
import type { Shop } from './queries/shops.ts';
import { createId } from '../platform/core/time-ordered-id.ts';
import { OperatorError } from '../platform/core/errors.ts';
import type { ShopContext } from './context.ts';
import { parseShopName } from './shop-name.ts';

/** Creates a shop. Its name must be unique, because commands refer to shops by name. */
export async function createShop(context: ShopContext, name: string): Promise<Shop> {
  const trimmed = parseShopName(name);
  const now = context.clock();
  const shop = { id: createId('shop', now), name: trimmed, createdAt: now };
  if (await insertShop(context.main, shop)) return shop;
  throw new OperatorError(`there is already a shop named ${JSON.stringify(trimmed)}`);
}

export function readShops(context: ShopContext): Promise<Shop[]> {
  return listShops(context.main);
}

/** The shop with this name or id. Throws an OperatorError if there is none. */
export async function requireShop(context: ShopContext, nameOrId: string): Promise<Shop> {
  const shop = await findShop(context.main, nameOrId);
  if (!shop) throw new OperatorError(`there is no shop named ${JSON.stringify(nameOrId)}; see mercat shops list`);
  return shop;
}
