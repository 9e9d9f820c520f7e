// The currency of figures that are plain numbers, such as volumes.

import type { MarketCollection } from '../../../client/src/market.ts';
import { currencyOfChain } from '../parts/chain-mark.tsx';

/** The prices of a collection name its currency. Without a price it is that of the chain. */
export function currencyOf({ stats, chain }: MarketCollection): string {
  return stats.floor?.currency ?? stats.buyerFloor?.price.currency ?? currencyOfChain(chain);
}
