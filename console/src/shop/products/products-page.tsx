// The products of the shop, newest first.

import { useInfiniteQuery } from '@tanstack/preact-query';
import { useState } from 'preact/hooks';
import { useLocation } from 'wouter-preact';
import type { ProductSummary } from '../../../../client/src/store.ts';
import type { ProductType } from '../../data/shop-queries.ts';
import { productsQuery } from '../../data/shop-queries.ts';
import type { Column } from '../../parts/data-table.tsx';
import { DataTable, RowLink } from '../../parts/data-table.tsx';
import { CloseIcon } from '../../parts/icons.tsx';
import { MoreRows } from '../../parts/more-rows.tsx';
import { Picture } from '../../parts/picture.tsx';
import { Segments } from '../../parts/segments.tsx';
import { EmptyState, ErrorPanel } from '../../parts/states.tsx';
import { Time } from '../../parts/time.tsx';
import { useUrlState } from '../../parts/url-state.ts';
import { texts } from '../../texts.ts';
import { productPath } from '../paths.ts';
import type { ShopSession } from '../session.ts';
import { StockLevel } from '../stock/stock-level.tsx';
import { Link } from '../../parts/link.tsx';

const TYPES: readonly ProductType[] = ['physical', 'digital', 'nft'];
const ALL = 'all';
const SKELETONS = 8;

export function ProductsPage({ session }: { session: ShopSession }) {
  const url = useUrlState();
  const type = TYPES.find((one) => one === url.get('type')) ?? null;
  const collection = url.get('collection');
  const query = useInfiniteQuery(productsQuery(session, { type, collection }));
  const products = query.data?.pages.flatMap(({ data }) => data) ?? [];
  const isFiltered = type !== null || collection !== null;
  const isEmpty = query.isSuccess && products.length === 0 && !query.hasNextPage;
  return (
    <section class="tab" aria-label={texts.shop.tabs.products}>
      <div class="toolbar">
        <div class="toolbar-group">
          <Segments
            label={texts.shop.product.fields.type}
            value={type ?? ALL}
            segments={[
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
          columns={COLUMNS}
          rows={products}
          keyOf={({ id }) => id}
          skeletons={query.isPending || query.isFetchingNextPage ? SKELETONS : 0}
        />
      )}
      <MoreRows query={query} />
    </section>
  );
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
    head: texts.market.columns.picture,
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
    cell: ({ id, name }) => (
      <span class="truncate">
        <RowLink href={productPath(id)}>{name}</RowLink>
      </span>
    ),
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
    place: 'bottom-left',
    cell: ({ createdAt }) => <Time at={createdAt} />,
  },
];
