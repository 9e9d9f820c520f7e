// Shows the stock of a product, with a badge when the stock is low or zero.

import { LOW_STOCK } from '../../data/shop-queries.ts';
import { formatCount } from '../../format/amount.ts';
import { Flash } from '../../parts/flash.tsx';
import { Unknown } from '../../parts/unknown.tsx';
import { texts } from '../texts.ts';

export function StockLevel({ inventory, isTracked }: { inventory: number; isTracked: boolean }) {
  if (!isTracked) return <Unknown reason={texts.stock.untrackedReason} />;
  return (
    <span class="stock-level">
      {inventory <= LOW_STOCK && (
        <span class={inventory === 0 ? 'badge badge-bad' : 'badge badge-warn'}>
          {inventory === 0 ? texts.stock.soldOut : texts.stock.low}
        </span>
      )}
      <Flash value={inventory}>{formatCount(inventory)}</Flash>
    </span>
  );
}
