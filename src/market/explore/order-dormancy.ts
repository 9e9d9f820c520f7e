// Why an active order cannot be filled at present, as the explore interface states it.

import { LISTING_DORMANCIES } from '../index/listing-judgement.ts';

/** `pending`: the listing has not been compared with the events of its chain yet. */
export const ORDER_DORMANCIES = ['not-started', ...LISTING_DORMANCIES] as const;
export type OrderDormancy = (typeof ORDER_DORMANCIES)[number];
