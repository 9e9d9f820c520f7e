// Displays the stock of all tracked products. A dialog changes the stock of one product.

import { useQuery } from '@tanstack/preact-query';
import { useMemo, useState } from 'preact/hooks';
import type { InventoryItem } from '../../../../client/src/store.ts';
import { LOW_STOCK, stockQuery } from '../../data/shop-queries.ts';
import type { Column } from '../../parts/data-table.tsx';
import { DataTable, RowLink } from '../../parts/data-table.tsx';
import { MoreRows } from '../../parts/more-rows.tsx';
import { Segments } from '../../parts/segments.tsx';
import { EmptyState, ErrorPanel } from '../../parts/states.tsx';
import { oneOf, useUrlState } from '../../parts/url-state.ts';
import { formatCount } from '../../format/amount.ts';
import { moveRow } from '../../shell/keyboard.ts';
import { usePageTitle } from '../../shell/shell.tsx';
import { texts } from '../texts.ts';
import { logPath, productPath } from '../paths.ts';
import { SearchBox } from '../search-box.tsx';
import type { ShopSession } from '../session.ts';
import { useListKeys } from '../list-keys.ts';
import { StockDialog } from './stock-dialog.tsx';
import { StockEdit } from './stock-edit.tsx';
import { StockLevel } from './stock-level.tsx';
import { Link } from '../../parts/link.tsx';

const SHOWN: readonly ['all', 'low'] = ['all', 'low'];
const SKELETONS = 8;
const NONE: readonly never[] = [];
/** All rows are there, but the browser is slow to create thousands of them. */
const ROWS_AT_ONCE = 200;

export function StockPage({ session }: { session: ShopSession }) {
  usePageTitle(texts.tabs.stock, texts.title);
  const url = useUrlState();
  const shown = oneOf(SHOWN, url.get('show'));
  const query = useQuery(stockQuery(session, shown === 'low'));
  const [changed, setChanged] = useState<InventoryItem | null>(null);
  const columns = useMemo(() => toColumns(session, setChanged), [session]);
  const [text, setText] = useState('');
  const keys = useListKeys(null);
  const all = query.data?.data ?? NONE;
  // The response has all rows, so the search needs no request.
  const rows = useMemo(() => filterRows(all, text), [all, text]);
  const [shownMax, setShownMax] = useState(ROWS_AT_ONCE);
  return (
    <section class="tab" aria-label={texts.tabs.stock} onKeyDown={keys}>
      <div class="toolbar">
        <SearchBox hint={texts.stock.search} text={text} onText={setText} onEnter={() => moveRow(1)} />
        <Segments
          label={texts.stock.shown}
          value={shown}
          segments={[
            { value: 'all', name: texts.stock.all },
            { value: 'low', name: texts.stock.lowOnly(LOW_STOCK) },
          ]}
          hrefOf={(value) => url.href({ show: value === SHOWN[0] ? null : value })}
        />
      </div>
      {query.isError && !query.data && <ErrorPanel error={query.error} onRetry={() => void query.refetch()} />}
      {query.isSuccess && rows.length === 0 && (
        <EmptyState
          title={all.length > 0 ? texts.stock.noneFound : shown === 'low' ? texts.stock.noneLow : texts.stock.none}
        >
          {all.length === 0 && shown === 'all' && <p class="muted">{texts.stock.noneHint}</p>}
        </EmptyState>
      )}
      {(query.isPending || rows.length > 0) && (
        <DataTable
          label={texts.tabs.stock}
          columns={columns}
          rows={rows.slice(0, shownMax)}
          keyOf={({ productId }) => productId}
          skeletons={query.isPending ? SKELETONS : 0}
        />
      )}
      <MoreRows
        query={{
          hasNextPage: rows.length > shownMax,
          isFetchingNextPage: false,
          isFetchNextPageError: false,
          error: null,
          fetchNextPage: () => Promise.resolve(setShownMax(shownMax + ROWS_AT_ONCE)),
        }}
      />
      {changed && (
        <StockDialog key={changed.productId} session={session} item={changed} onClose={() => setChanged(null)} />
      )}
    </section>
  );
}

/** The rows whose name or SKU has all words of the text. */
function filterRows(rows: readonly InventoryItem[], text: string): readonly InventoryItem[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return rows;
  return rows.filter(({ name, sku }) => {
    const searched = `${name} ${sku ?? ''}`.toLowerCase();
    return words.every((word) => searched.includes(word));
  });
}

function toColumns(session: ShopSession, openDialog: (item: InventoryItem) => void): readonly Column<InventoryItem>[] {
  const { scopes } = session;
  const isWritable = scopes.has('inventory:write');
  return [
    {
      id: 'name',
      head: texts.stock.product,
      width: 'minmax(160px, 3fr)',
      place: 'top-left',
      cell: ({ productId, name }) => (
        <span class="truncate">
          {scopes.has('products:read') ? <RowLink href={productPath(productId)}>{name}</RowLink> : name}
        </span>
      ),
    },
    {
      id: 'sku',
      head: texts.product.fields.sku,
      width: 'minmax(110px, 1.2fr)',
      from: 'tablet',
      cell: ({ sku }) => <span class="mono truncate">{sku}</span>,
    },
    {
      id: 'reserved',
      head: texts.stock.reserved,
      width: 'minmax(80px, 0.7fr)',
      isNumber: true,
      from: 'tablet',
      cell: ({ reserved }) => <span class={reserved === 0 ? 'muted' : undefined}>{formatCount(reserved)}</span>,
    },
    {
      id: 'stock',
      head: texts.product.fields.inventory,
      width: 'minmax(120px, 1fr)',
      isNumber: true,
      place: 'top-right',
      cell: ({ productId, name, inventory }) =>
        isWritable ? (
          <StockEdit session={session} product={{ id: productId, name, inventory }} />
        ) : (
          <StockLevel inventory={inventory} isTracked />
        ),
    },
    {
      id: 'log',
      head: texts.tabs.log,
      isHeadHidden: true,
      width: 'minmax(56px, 0.4fr)',
      isNumber: true,
      place: 'bottom-left',
      cell: ({ productId, name }) => (
        <Link class="link inner-link" href={logPath(productId)} aria-label={texts.stock.logOf(name)}>
          {texts.tabs.log}
        </Link>
      ),
    },
    ...(isWritable
      ? [
          {
            id: 'change',
            head: texts.stock.change,
            isHeadHidden: true,
            width: '96px',
            isNumber: true,
            place: 'bottom-right' as const,
            cell: (item: InventoryItem) => (
              <button
                type="button"
                class="button button-small inner-link"
                aria-label={texts.stock.changeOf(item.name)}
                onClick={(event) => {
                  event.stopPropagation();
                  openDialog(item);
                }}
              >
                {texts.stock.change}
              </button>
            ),
          },
        ]
      : []),
  ];
}
