// The currency of figures that are plain numbers, such as volumes.

import type { MarketCollection } from '../../../client/src/market.ts';
import { currencyOfChain } from '../parts/chain-mark.tsx';

/** The currency of the floor or the buyer floor. If the collection has neither, the currency of its chain. */
export function currencyOf({ stats, chain }: MarketCollection): string {
  return stats.floor?.currency ?? stats.buyerFloor?.price.currency ?? currencyOfChain(chain);
}
