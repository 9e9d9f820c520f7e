// Shops, as the operator makes them.

import { findShop, insertShop, listShops } from './queries/shops.ts';
import type { Shop } from './queries/shops.ts';
import { createId } from '../core/time-ordered-id.ts';
import { OperatorError } from '../core/errors.ts';
import type { Store } from './context.ts';

const NAME_LENGTH_MAX = 160;

/** A new shop. Names are unique, because commands name shops by them. */
export async function createShop(store: Store, name: string): Promise<Shop> {
  const trimmed = name.trim();
  if (trimmed === '' || trimmed.length > NAME_LENGTH_MAX || trimmed.includes('\0')) {
    throw new OperatorError(`a shop's name has 1 to ${NAME_LENGTH_MAX} characters`, { exitCode: 2 });
  }
  const now = store.clock();
  const shop = await insertShop(store.main, { id: createId('shop', now), name: trimmed, createdAt: now });
  if (!shop) throw new OperatorError(`there is a shop named ${JSON.stringify(trimmed)} already`);
  return shop;
}

export function readShops(store: Store): Promise<Shop[]> {
  return listShops(store.main);
}

/** The shop of that name or id; an operator's mistake when there is none. */
export async function requireShop(store: Store, nameOrId: string): Promise<Shop> {
  const shop = await findShop(store.main, nameOrId);
  if (!shop) throw new OperatorError(`there is no shop named ${JSON.stringify(nameOrId)}; see mercat shops list`);
  return shop;
}
