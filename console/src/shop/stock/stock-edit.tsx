// The stock of a product in a row, which the user edits in its place.

import { MercatError } from '../../../../client/src/store.ts';
import { patchStock } from '../../data/shop-queries.ts';
import { formatCount } from '../../format/amount.ts';
import { texts } from '../texts.ts';
import { EditCell } from '../edit-cell.tsx';
import type { ShopSession } from '../session.ts';
import type { StockChange } from './parse-stock.ts';
import { parseStock } from './parse-stock.ts';
import { StockLevel } from './stock-level.tsx';

const t = texts.stock;

type StockEditProps = { session: ShopSession; product: { id: string; name: string; inventory: number } };

export function StockEdit({ session, product: { id, name, inventory } }: StockEditProps) {
  return (
    <EditCell
      name="stock"
      label={t.editOf(name)}
      hint={t.editHint}
      value={String(inventory)}
      onSave={async (text) => {
        const change = parseStock(text, inventory);
        if (change === null) throw new MercatError('bad_request', t.notAChange);
        await saveStock(session, id, change);
      }}
    >
      <StockLevel inventory={inventory} isTracked />
    </EditCell>
  );
}

/** If the stock is not the one that the row shows, nothing is changed, and the row shows the present one. */
async function saveStock({ client, scopes }: ShopSession, productId: string, change: StockChange): Promise<void> {
  try {
    const { data } = await client.changeInventory({ product_id: productId, ...change, clamp: false });
    patchStock(new Map([[productId, data.inventory]]));
  } catch (error) {
    const isOther = error instanceof MercatError && (error.code === 'conflict' || error.code === 'insufficient_stock');
    if (!isOther || !scopes.has('inventory:read')) throw error;
    const { data } = await client.listInventory({ product_id: productId });
    const now = data[0]?.inventory;
    if (now === undefined) throw error;
    patchStock(new Map([[productId, now]]));
    const message = 'set' in change ? t.changedMeanwhile(formatCount(now)) : t.notSufficient(formatCount(now));
    throw new MercatError(error.code, message, { cause: error });
  }
}
