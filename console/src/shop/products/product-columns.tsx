// The columns of the list of products. A row is one product, or the variants of one product.

import type { ProductSummary } from '../../../../client/src/store.ts';
import { patchProducts } from '../../data/shop-queries.ts';
import type { Column } from '../../parts/data-table.tsx';
import { RowLink } from '../../parts/data-table.tsx';
import { ChevronIcon } from '../../parts/icons.tsx';
import { Picture } from '../../parts/picture.tsx';
import { Time } from '../../parts/time.tsx';
import { texts as shared } from '../../texts.ts';
import { texts } from '../texts.ts';
import { EditCell } from '../edit-cell.tsx';
import { groupPath, productPath } from '../paths.ts';
import type { ShopSession } from '../session.ts';
import { StockEdit } from '../stock/stock-edit.tsx';
import { StockLevel } from '../stock/stock-level.tsx';
import { SelectBox } from './select-box.tsx';
import type { Selection } from './selection.ts';
import type { ProductRow } from './variants.ts';
import { nameOfGroup, optionsText, pricesOf, productsOf } from './variants.ts';

const t = texts.products;
const { fields } = texts.product;

type ColumnsContext = {
  session: ShopSession;
  /** Null if the key may not change products. */
  selection: Selection | null;
  /** All products of the list, for the checkbox in the head. */
  products: readonly ProductSummary[];
  /** Opens or closes the rows of the variants of a group. */
  onToggle: (groupId: string) => void;
};

export function toProductColumns({ session, selection, products, onToggle }: ColumnsContext): Column<ProductRow>[] {
  const { scopes } = session;
  return [
    {
      id: 'picture',
      head: selection ? (
        <SelectBox selection={selection} products={products} label={t.selectAll} isHead />
      ) : (
        <span class="visually-hidden">{shared.columns.picture}</span>
      ),
      width: selection ? '76px' : '40px',
      place: 'picture',
      cell: (row) => (
        <span class={row.isVariant ? 'product-picture product-picture-variant' : 'product-picture'}>
          {selection && <SelectBox selection={selection} products={productsOf(row)} label={t.select(toName(row))} />}
          <Picture url={row.product.image} alt="" seed={row.product.id} class="picture-row" />
        </span>
      ),
    },
    {
      id: 'name',
      head: fields.name,
      width: 'minmax(160px, 3fr)',
      place: 'top-left',
      cell: (row) => <Name row={row} onToggle={onToggle} />,
    },
    {
      id: 'sku',
      head: fields.sku,
      width: 'minmax(110px, 1.2fr)',
      from: 'tablet',
      place: 'bottom-left',
      cell: ({ product, variants }) => variants === null && <span class="mono truncate">{product.sku}</span>,
    },
    {
      id: 'type',
      head: fields.type,
      width: 'minmax(80px, 0.8fr)',
      from: 'desktop',
      cell: ({ product }) => <span class="muted">{texts.types[product.type]}</span>,
    },
    {
      id: 'collections',
      head: fields.collections,
      width: 'minmax(120px, 1.6fr)',
      from: 'wide',
      cell: ({ product }) => <span class="muted truncate">{product.collections.join(', ')}</span>,
    },
    {
      id: 'stock',
      head: fields.inventory,
      width: 'minmax(128px, 1fr)',
      isNumber: true,
      place: 'bottom-right',
      cell: (row) => <Stock row={row} session={session} isEditable={scopes.has('inventory:write')} />,
    },
    {
      id: 'price',
      head: fields.price,
      width: 'minmax(112px, 1fr)',
      isNumber: true,
      place: 'top-right',
      cell: (row) => <Price row={row} session={session} isEditable={scopes.has('products:write')} />,
    },
    {
      id: 'created',
      head: t.created,
      width: 'minmax(72px, 0.6fr)',
      isNumber: true,
      from: 'tablet',
      cell: ({ product }) => <Time at={product.createdAt} />,
    },
  ];
}

/** The name of what the row shows, for screen readers too. */
function toName({ product, variants }: ProductRow): string {
  return variants === null ? product.name : nameOfGroup(variants);
}

function Name({ row, onToggle }: { row: ProductRow; onToggle: (groupId: string) => void }) {
  const { product, variants, isOpen, isVariant } = row;
  const { groupId } = product;
  return (
    <span class={isVariant ? 'product-name product-name-variant' : 'product-name'}>
      <span class="truncate">
        <RowLink href={variants === null || groupId === null ? productPath(product.id) : groupPath(groupId)}>
          {isVariant && product.options.length > 0 ? optionsText(product) : toName(row)}
        </RowLink>
      </span>
      {variants !== null && groupId !== null && (
        <button
          type="button"
          class="badge badge-button inner-link"
          data-toggle
          aria-expanded={isOpen}
          aria-label={t.variantsOf(variants.length, toName(row))}
          onClick={() => onToggle(groupId)}
        >
          {t.variants(variants.length)}
          <ChevronIcon />
        </button>
      )}
      {variants === null && product.status !== 'active' && <span class="badge">{texts.statuses[product.status]}</span>}
    </span>
  );
}

type CellProps = { row: ProductRow; session: ShopSession; isEditable: boolean };

function Stock({ row: { product, variants }, session, isEditable }: CellProps) {
  if (variants !== null) {
    const counted = variants.filter((variant) => variant.trackInventory);
    const sum = counted.reduce((total, variant) => total + variant.inventory, 0);
    const soldOut = counted.filter((variant) => variant.inventory === 0).length;
    return (
      <span class="stock-level" data-tip={t.stockOfVariants}>
        {soldOut > 0 && sum > 0 && <span class="badge badge-bad">{t.soldOutVariants(soldOut)}</span>}
        <StockLevel inventory={sum} isTracked={counted.length > 0} />
      </span>
    );
  }
  return isEditable && product.trackInventory ? (
    <StockEdit session={session} product={product} />
  ) : (
    <StockLevel inventory={product.inventory} isTracked={product.trackInventory} />
  );
}

function Price({ row: { product, variants }, session, isEditable }: CellProps) {
  if (variants !== null) return <span class="truncate">{pricesOf(variants).join(' – ')}</span>;
  const price = <span class="truncate">{product.price}</span>;
  if (!isEditable) return price;
  return (
    <EditCell
      name="price"
      label={t.priceOf(product.name)}
      hint={t.priceHint}
      value={product.price}
      onSave={async (text) => {
        const { data } = await session.client.updateProduct({ productId: product.id, price: text });
        patchProducts(new Map([[product.id, data]]));
      }}
    >
      {price}
    </EditCell>
  );
}
