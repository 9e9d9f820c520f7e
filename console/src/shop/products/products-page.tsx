// The products of the shop: a list with filters, which the heads of its columns sort, and a search that scanners can use.

import { useInfiniteQuery } from '@tanstack/preact-query';
import { useCallback, useEffect, useMemo, useState } from 'preact/hooks';
import { useLocation } from 'wouter-preact';
import type { ProductSort, ProductType, StockFilter } from '../../data/shop-queries.ts';
import { LOW_STOCK, productsQuery } from '../../data/shop-queries.ts';
import type { Column, SortOrder } from '../../parts/data-table.tsx';
import { DataTable } from '../../parts/data-table.tsx';
import { CloseIcon } from '../../parts/icons.tsx';
import { MoreRows } from '../../parts/more-rows.tsx';
import { Select } from '../../parts/select.tsx';
import { EmptyState, ErrorPanel } from '../../parts/states.tsx';
import type { UrlState } from '../../parts/url-state.ts';
import { useUrlState } from '../../parts/url-state.ts';
import { usePageTitle } from '../../shell/shell.tsx';
import { texts } from '../texts.ts';
import { useListKeys } from '../list-keys.ts';
import type { ShopSession } from '../session.ts';
import { Link } from '../../parts/link.tsx';
import { BulkBar } from './bulk-bar.tsx';
import { toProductColumns } from './product-columns.tsx';
import { ProductSearch } from './product-search.tsx';
import { Selection } from './selection.ts';
import type { ProductRow } from './variants.ts';
import { nameOfGroup, toProductRows } from './variants.ts';

const TYPES: readonly ProductType[] = ['physical', 'digital', 'nft'];
const STATUSES = ['active', 'draft', 'archived'] as const;
const STOCKS: readonly StockFilter[] = ['low', 'out'];
const STOCK_NAMES = { low: texts.stock.lowOnly(LOW_STOCK), out: texts.stock.soldOut };
const ORDERS: readonly SortOrder[] = ['asc', 'desc'];
const ALL = 'all';
const SKELETONS = 8;
const NONE: readonly never[] = [];

/** The columns by which the service sorts the list, with the order of the first click on their head. */
const SORTS: Readonly<Partial<Record<string, { sort: ProductSort; first: SortOrder }>>> = {
  name: { sort: 'name', first: 'asc' },
  stock: { sort: 'stock', first: 'asc' },
  price: { sort: 'price', first: 'asc' },
  created: { sort: 'created', first: 'desc' },
};

export function ProductsPage({ session }: { session: ShopSession }) {
  usePageTitle(texts.tabs.products, texts.title);
  const url = useUrlState();
  const filter = toFilter(url);
  const { q, status, type, collection, stock, group } = filter;
  const query = useInfiniteQuery(productsQuery(session, filter));
  const products = query.data ?? NONE;
  const isWritable = session.scopes.has('products:write');
  const canSelect = isWritable || session.scopes.has('inventory:write');
  const selection = useMemo(() => (canSelect ? new Selection() : null), [session]);
  // A selection that is not visible could be changed by mistake.
  useEffect(() => selection?.clear(), [selection, url.parameters.toString()]);
  const [open, setOpen] = useState<ReadonlySet<string>>(new Set());
  const toggle = useCallback((id: string) => setOpen((before) => before.symmetricDifference(new Set([id]))), []);
  // A search or a list of low stock is about single variants.
  const isGrouped = q === null && stock === null && group === null;
  const rows = useMemo(() => toProductRows(products, isGrouped ? open : null), [products, isGrouped, open]);
  const keys = useListKeys(selection);
  // The functions of the columns change only with the list, so the rows are not rendered again for another reason.
  const columns = useMemo(
    () => withSorts(toProductColumns({ session, selection, products, onToggle: toggle }), filter, url.href),
    [session, selection, products, url.parameters.toString()],
  );
  const isFiltered = [q, status, type, collection, stock, group].some((value) => value !== null);
  const isEmpty = query.isSuccess && products.length === 0 && !query.hasNextPage;
  return (
    <section class="tab" aria-label={texts.tabs.products} onKeyDown={keys}>
      <div class="toolbar product-tools">
        <div class="toolbar-group">
          <ProductSearch session={session} q={q} hrefOf={(text) => url.href({ q: text })} />
          <Select
            label={texts.product.fields.status}
            value={status ?? ALL}
            options={[
              { value: ALL, name: texts.products.notArchived },
              ...STATUSES.map((value) => ({ value, name: texts.statuses[value] })),
            ]}
            hrefOf={(value) => url.href({ status: value === ALL ? null : value })}
          />
          <Select
            label={texts.product.fields.inventory}
            value={stock ?? ALL}
            options={[
              { value: ALL, name: texts.products.anyStock },
              ...STOCKS.map((value) => ({ value, name: STOCK_NAMES[value] })),
            ]}
            hrefOf={(value) => url.href({ stock: value === ALL ? null : value, sort: null, order: null })}
          />
          <Select
            label={texts.product.fields.type}
            value={type ?? ALL}
            options={[
              { value: ALL, name: texts.products.allTypes },
              ...TYPES.map((value) => ({ value, name: texts.types[value] })),
            ]}
            hrefOf={(value) => url.href({ type: value === ALL ? null : value })}
          />
          <CollectionFilter collection={collection} hrefOf={(value) => url.href({ collection: value })} />
          {group !== null && (
            <Link
              class="chip"
              href={url.href({ group: null })}
              aria-label={texts.products.removeFilter(nameOfGroup(products) || group)}
            >
              {texts.products.inGroup(nameOfGroup(products) || group)}
              <CloseIcon />
            </Link>
          )}
        </div>
        <div class="button-row">
          {isWritable && (
            <>
              <Link class="button" href="/shop/files">
                {texts.files.title}
              </Link>
              <Link class="button button-primary" href="/shop/products/new">
                {texts.products.add}
              </Link>
            </>
          )}
        </div>
      </div>
      {query.isError && products.length === 0 && (
        <ErrorPanel error={query.error} onRetry={() => void query.refetch()} />
      )}
      {isEmpty && (
        <EmptyState title={isFiltered ? texts.products.noneFound : texts.products.none}>
          {isFiltered ? (
            <Link class="button" href="/shop/products">
              {texts.products.clear}
            </Link>
          ) : (
            <p class="muted">{texts.products.noneHint}</p>
          )}
        </EmptyState>
      )}
      {!isEmpty && !(query.isError && products.length === 0) && (
        <div class="product-list">
          <DataTable
            label={texts.tabs.products}
            columns={columns}
            rows={rows}
            keyOf={({ key }) => key}
            skeletons={query.isPending || query.isFetchingNextPage ? SKELETONS : 0}
          />
        </div>
      )}
      <MoreRows query={query} />
      {selection && <BulkBar session={session} selection={selection} products={products} />}
    </section>
  );
}

function toFilter(url: UrlState) {
  return {
    q: url.get('q'),
    status: STATUSES.find((one) => one === url.get('status')) ?? null,
    type: TYPES.find((one) => one === url.get('type')) ?? null,
    collection: url.get('collection'),
    stock: STOCKS.find((one) => one === url.get('stock')) ?? null,
    group: url.get('group'),
    sort: Object.values(SORTS).find((one) => one?.sort === url.get('sort'))?.sort ?? null,
    order: ORDERS.find((one) => one === url.get('order')) ?? null,
  };
}

/** A list with a filter of the stock can have one order only, so its heads are no links. */
function withSorts(
  columns: readonly Column<ProductRow>[],
  { q, stock, sort, order }: ReturnType<typeof toFilter>,
  hrefOf: UrlState['href'],
): readonly Column<ProductRow>[] {
  if (stock !== null) return columns;
  // A search lists the best matches first, unless the user sorts its results.
  const current = sort ?? (q === null ? 'created' : null);
  return columns.map((column) => {
    const sortable = SORTS[column.id];
    if (!sortable) return column;
    const { sort: own, first } = sortable;
    const shown = own === current ? (order ?? first) : null;
    const next = shown === null ? first : shown === 'asc' ? 'desc' : 'asc';
    return { ...column, sort: { href: hrefOf({ sort: own, order: next === first ? null : next }), order: shown } };
  });
}

function CollectionFilter({
  collection,
  hrefOf,
}: {
  collection: string | null;
  hrefOf: (collection: string | null) => string;
}) {
  const [text, setText] = useState('');
  const [, navigate] = useLocation();
  if (collection !== null) {
    return (
      <Link class="chip" href={hrefOf(null)} aria-label={texts.products.removeFilter(collection)}>
        {texts.products.inCollection(collection)}
        <CloseIcon />
      </Link>
    );
  }
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        if (text.trim() !== '') navigate(hrefOf(text.trim()));
        setText('');
      }}
    >
      <input
        class="input input-small"
        name="collection"
        value={text}
        placeholder={texts.products.collection}
        aria-label={texts.products.collection}
        autocomplete="off"
        spellcheck={false}
        onInput={(event) => setText(event.currentTarget.value)}
      />
    </form>
  );
}
