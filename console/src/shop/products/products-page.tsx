// The products of the shop: a list with filters, which the heads of its columns sort, and a search that scanners can use.

import { useInfiniteQuery } from '@tanstack/preact-query';
import { useMemo, useState } from 'preact/hooks';
import { useLocation } from 'wouter-preact';
import type { ProductSummary } from '../../../../client/src/store.ts';
import type { ProductSort, ProductType, StockFilter } from '../../data/shop-queries.ts';
import { LOW_STOCK, productsQuery } from '../../data/shop-queries.ts';
import type { Column, SortOrder } from '../../parts/data-table.tsx';
import { DataTable, RowLink } from '../../parts/data-table.tsx';
import { CloseIcon } from '../../parts/icons.tsx';
import { MoreRows } from '../../parts/more-rows.tsx';
import { Picture } from '../../parts/picture.tsx';
import { Select } from '../../parts/select.tsx';
import { EmptyState, ErrorPanel } from '../../parts/states.tsx';
import { Time } from '../../parts/time.tsx';
import type { UrlState } from '../../parts/url-state.ts';
import { useUrlState } from '../../parts/url-state.ts';
import { usePageTitle } from '../../shell/shell.tsx';
import { texts } from '../../texts.ts';
import { productPath } from '../paths.ts';
import type { ShopSession } from '../session.ts';
import { StockLevel } from '../stock/stock-level.tsx';
import { Link } from '../../parts/link.tsx';
import { ProductSearch } from './product-search.tsx';

const TYPES: readonly ProductType[] = ['physical', 'digital', 'nft'];
const STATUSES = ['active', 'draft', 'archived'] as const;
const STOCKS: readonly StockFilter[] = ['low', 'out'];
const STOCK_NAMES = { low: texts.shop.stock.lowOnly(LOW_STOCK), out: texts.shop.stock.soldOut };
const ORDERS: readonly SortOrder[] = ['asc', 'desc'];
const ALL = 'all';
const SKELETONS = 8;

/** The columns by which the service sorts the list, with the order of the first click on their head. */
const SORTS: Readonly<Partial<Record<string, { sort: ProductSort; first: SortOrder }>>> = {
  name: { sort: 'name', first: 'asc' },
  stock: { sort: 'stock', first: 'asc' },
  price: { sort: 'price', first: 'asc' },
  created: { sort: 'created', first: 'desc' },
};

export function ProductsPage({ session }: { session: ShopSession }) {
  usePageTitle(texts.shop.tabs.products, texts.shop.title);
  const url = useUrlState();
  const filter = toFilter(url);
  const { q, status, type, collection, stock } = filter;
  const query = useInfiniteQuery(productsQuery(session, filter));
  const products = query.data ?? [];
  // The functions of the columns do not change, so the table is rendered again only for another order.
  const columns = useMemo(() => withSorts(filter, url.href), [url.parameters.toString()]);
  const isFiltered = [q, status, type, collection, stock].some((value) => value !== null);
  const isEmpty = query.isSuccess && products.length === 0 && !query.hasNextPage;
  return (
    <section class="tab" aria-label={texts.shop.tabs.products}>
      <div class="toolbar product-tools">
        <div class="toolbar-group">
          <ProductSearch session={session} q={q} hrefOf={(text) => url.href({ q: text })} />
          <Select
            label={texts.shop.product.fields.status}
            value={status ?? ALL}
            options={[
              { value: ALL, name: texts.shop.products.notArchived },
              ...STATUSES.map((value) => ({ value, name: texts.shop.statuses[value] })),
            ]}
            hrefOf={(value) => url.href({ status: value === ALL ? null : value })}
          />
          <Select
            label={texts.shop.product.fields.inventory}
            value={stock ?? ALL}
            options={[
              { value: ALL, name: texts.shop.products.anyStock },
              ...STOCKS.map((value) => ({ value, name: STOCK_NAMES[value] })),
            ]}
            hrefOf={(value) => url.href({ stock: value === ALL ? null : value, sort: null, order: null })}
          />
          <Select
            label={texts.shop.product.fields.type}
            value={type ?? ALL}
            options={[
              { value: ALL, name: texts.shop.products.allTypes },
              ...TYPES.map((value) => ({ value, name: texts.shop.types[value] })),
            ]}
            hrefOf={(value) => url.href({ type: value === ALL ? null : value })}
          />
          <CollectionFilter collection={collection} hrefOf={(value) => url.href({ collection: value })} />
        </div>
        {session.scopes.has('products:write') && (
          <Link class="button button-primary" href="/shop/products/new">
            {texts.shop.products.add}
          </Link>
        )}
      </div>
      {query.isError && products.length === 0 && (
        <ErrorPanel error={query.error} onRetry={() => void query.refetch()} />
      )}
      {isEmpty && (
        <EmptyState title={isFiltered ? texts.shop.products.noneFound : texts.shop.products.none}>
          {isFiltered ? (
            <Link class="button" href="/shop/products">
              {texts.shop.products.clear}
            </Link>
          ) : (
            <p class="muted">{texts.shop.products.noneHint}</p>
          )}
        </EmptyState>
      )}
      {!isEmpty && !(query.isError && products.length === 0) && (
        <DataTable
          label={texts.shop.tabs.products}
          columns={columns}
          rows={products}
          keyOf={({ id }) => id}
          skeletons={query.isPending || query.isFetchingNextPage ? SKELETONS : 0}
        />
      )}
      <MoreRows query={query} />
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
    sort: Object.values(SORTS).find((one) => one?.sort === url.get('sort'))?.sort ?? null,
    order: ORDERS.find((one) => one === url.get('order')) ?? null,
  };
}

/** A list with a filter of the stock can have one order only, so its heads are no links. */
function withSorts({ q, stock, sort, order }: ReturnType<typeof toFilter>, hrefOf: UrlState['href']) {
  if (stock !== null) return COLUMNS;
  // A search lists the best matches first, unless the user sorts its results.
  const current = sort ?? (q === null ? 'created' : null);
  return COLUMNS.map((column) => {
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
      <Link class="chip" href={hrefOf(null)} aria-label={texts.shop.products.removeFilter(collection)}>
        {texts.shop.products.inCollection(collection)}
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
        placeholder={texts.shop.products.collection}
        aria-label={texts.shop.products.collection}
        autocomplete="off"
        spellcheck={false}
        onInput={(event) => setText(event.currentTarget.value)}
      />
    </form>
  );
}

const COLUMNS: readonly Column<ProductSummary>[] = [
  {
    id: 'picture',
    head: texts.columns.picture,
    isHeadHidden: true,
    width: '40px',
    place: 'picture',
    cell: ({ id, image }) => <Picture url={image} alt="" seed={id} class="picture-row" />,
  },
  {
    id: 'name',
    head: texts.shop.product.fields.name,
    width: 'minmax(160px, 3fr)',
    place: 'top-left',
    cell: ({ id, name, status }) => (
      <span class="product-name">
        <span class="truncate">
          <RowLink href={productPath(id)}>{name}</RowLink>
        </span>
        {status !== 'active' && <span class="badge">{texts.shop.statuses[status]}</span>}
      </span>
    ),
  },
  {
    id: 'sku',
    head: texts.shop.product.fields.sku,
    width: 'minmax(110px, 1.2fr)',
    from: 'tablet',
    place: 'bottom-left',
    cell: ({ sku }) => <span class="mono truncate block">{sku}</span>,
  },
  {
    id: 'type',
    head: texts.shop.product.fields.type,
    width: 'minmax(80px, 1fr)',
    from: 'tablet',
    cell: ({ type }) => <span class="badge">{texts.shop.types[type]}</span>,
  },
  {
    id: 'collections',
    head: texts.shop.product.fields.collections,
    width: 'minmax(120px, 2fr)',
    from: 'desktop',
    cell: ({ collections }) => <span class="muted truncate block">{collections.join(', ')}</span>,
  },
  {
    id: 'stock',
    head: texts.shop.product.fields.inventory,
    width: 'minmax(110px, 1fr)',
    isNumber: true,
    place: 'bottom-right',
    cell: ({ inventory, trackInventory }) => <StockLevel inventory={inventory} isTracked={trackInventory} />,
  },
  {
    id: 'price',
    head: texts.shop.product.fields.price,
    width: 'minmax(96px, 1fr)',
    isNumber: true,
    place: 'top-right',
    cell: ({ price }) => <span class="truncate">{price}</span>,
  },
  {
    id: 'created',
    head: texts.shop.products.created,
    width: 'minmax(72px, 0.6fr)',
    isNumber: true,
    from: 'tablet',
    cell: ({ createdAt }) => <Time at={createdAt} />,
  },
];
