// Displays the stock of all tracked products. A dialog changes the stock of one product.

import { useQuery } from '@tanstack/preact-query';
import { useMemo, useState } from 'preact/hooks';
import type { InventoryItem } from '../../../../client/src/store.ts';
import { LOW_STOCK, stockQuery } from '../../data/shop-queries.ts';
import type { Column } from '../../parts/data-table.tsx';
import { DataTable, RowLink } from '../../parts/data-table.tsx';
import { Segments } from '../../parts/segments.tsx';
import { EmptyState, ErrorPanel } from '../../parts/states.tsx';
import { oneOf, useUrlState } from '../../parts/url-state.ts';
import { usePageTitle } from '../../shell/shell.tsx';
import { texts } from '../../texts.ts';
import { logPath, productPath } from '../paths.ts';
import type { ShopSession } from '../session.ts';
import { StockDialog } from './stock-dialog.tsx';
import { StockLevel } from './stock-level.tsx';
import { Link } from '../../parts/link.tsx';

const SHOWN: readonly ['all', 'low'] = ['all', 'low'];
const SKELETONS = 8;

export function StockPage({ session }: { session: ShopSession }) {
  usePageTitle(texts.shop.tabs.stock, texts.shop.title);
  const url = useUrlState();
  const shown = oneOf(SHOWN, url.get('show'));
  const query = useQuery(stockQuery(session, shown === 'low'));
  const [changed, setChanged] = useState<InventoryItem | null>(null);
  const columns = useMemo(() => toColumns(session, setChanged), [session]);
  const rows = query.data?.data ?? [];
  return (
    <section class="tab" aria-label={texts.shop.tabs.stock}>
      <div class="toolbar">
        <Segments
          label={texts.shop.stock.shown}
          value={shown}
          segments={[
            { value: 'all', name: texts.shop.stock.all },
            { value: 'low', name: texts.shop.stock.lowOnly(LOW_STOCK) },
          ]}
          hrefOf={(value) => url.href({ show: value === SHOWN[0] ? null : value })}
        />
      </div>
      {query.isError && !query.data && <ErrorPanel error={query.error} onRetry={() => void query.refetch()} />}
      {query.isSuccess && rows.length === 0 && (
        <EmptyState title={shown === 'low' ? texts.shop.stock.noneLow : texts.shop.stock.none}>
          {shown === 'all' && <p class="muted">{texts.shop.stock.noneHint}</p>}
        </EmptyState>
      )}
      {(query.isPending || rows.length > 0) && (
        <DataTable
          label={texts.shop.tabs.stock}
          columns={columns}
          rows={rows}
          keyOf={({ productId }) => productId}
          skeletons={query.isPending ? SKELETONS : 0}
        />
      )}
      {changed && (
        <StockDialog key={changed.productId} session={session} item={changed} onClose={() => setChanged(null)} />
      )}
    </section>
  );
}

function toColumns(
  { scopes }: ShopSession,
  openDialog: (item: InventoryItem) => void,
): readonly Column<InventoryItem>[] {
  const isWritable = scopes.has('inventory:write');
  return [
    {
      id: 'name',
      head: texts.shop.stock.product,
      width: 'minmax(160px, 3fr)',
      place: 'top-left',
      cell: ({ productId, name }) => (
        <span class="truncate block">
          {scopes.has('products:read') ? <RowLink href={productPath(productId)}>{name}</RowLink> : name}
        </span>
      ),
    },
    {
      id: 'stock',
      head: texts.shop.product.fields.inventory,
      width: 'minmax(120px, 1fr)',
      isNumber: true,
      place: 'top-right',
      cell: ({ inventory }) => <StockLevel inventory={inventory} isTracked />,
    },
    {
      id: 'log',
      head: texts.shop.tabs.log,
      isHeadHidden: true,
      width: 'minmax(56px, 0.4fr)',
      isNumber: true,
      place: 'bottom-left',
      cell: ({ productId, name }) => (
        <Link class="link inner-link" href={logPath(productId)} aria-label={texts.shop.stock.logOf(name)}>
          {texts.shop.tabs.log}
        </Link>
      ),
    },
    ...(isWritable
      ? [
          {
            id: 'change',
            head: texts.shop.stock.change,
            isHeadHidden: true,
            width: '96px',
            isNumber: true,
            place: 'bottom-right' as const,
            cell: (item: InventoryItem) => (
              <button
                type="button"
                class="button button-small inner-link"
                aria-label={texts.shop.stock.changeOf(item.name)}
                onClick={(event) => {
                  event.stopPropagation();
                  openDialog(item);
                }}
              >
                {texts.shop.stock.change}
              </button>
            ),
          },
        ]
      : []),
  ];
}
