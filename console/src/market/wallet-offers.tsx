// The offers that a wallet has received: the top bid of others for each of its tokens, the highest proceeds first on each chain.

import { useInfiniteQuery } from '@tanstack/preact-query';
import type { Offer } from '../../../client/src/market.ts';
import { isNotFound } from '../data/client.ts';
import { walletOffersQuery } from '../data/market-queries.ts';
import { ChainMark } from '../parts/chain-mark.tsx';
import type { Column } from '../parts/data-table.tsx';
import { DataTable } from '../parts/data-table.tsx';
import { Link } from '../parts/link.tsx';
import { MoreRows } from '../parts/more-rows.tsx';
import { Price } from '../parts/price.tsx';
import { EmptyState, ErrorPanel } from '../parts/states.tsx';
import { NotFoundPage } from '../shell/not-found-page.tsx';
import { orderPath, tokenPath } from './paths.ts';
import { tokenColumns } from './token-columns.tsx';
import { texts } from './texts.ts';

const SKELETONS = 8;

export function WalletOffers({ address }: { address: string }) {
  const query = useInfiniteQuery(walletOffersQuery(address));
  const offers = query.data?.pages.flatMap(({ data }) => data) ?? [];
  if (query.isError && isNotFound(query.error)) return <NotFoundPage reason={texts.wallet.invalid} />;
  if (query.isError && offers.length === 0)
    return <ErrorPanel error={query.error} onRetry={() => void query.refetch()} />;
  if (query.isSuccess && offers.length === 0 && !query.hasNextPage)
    return <EmptyState title={texts.wallet.emptyOffers} />;
  return (
    <section class="tab">
      <p class="muted">{texts.wallet.offersNote}</p>
      <DataTable
        label={texts.wallet.offers}
        columns={COLUMNS}
        rows={offers}
        keyOf={tokenPath}
        isDense
        skeletons={query.isPending || query.isFetchingNextPage ? SKELETONS : 0}
      />
      <MoreRows query={query} />
    </section>
  );
}

const COLUMNS: readonly Column<Offer>[] = [
  ...tokenColumns<Offer>({ isOfMany: true }),
  {
    id: 'chain',
    head: texts.token.chain,
    width: 'minmax(110px, 0.8fr)',
    place: 'bottom-left',
    cell: ({ chain }) => <ChainMark chain={chain} />,
  },
  {
    id: 'proceeds',
    head: <span data-tip={texts.order.proceedsWhy}>{texts.order.proceeds}</span>,
    width: 'minmax(110px, 1fr)',
    isNumber: true,
    place: 'top-right',
    cell: ({ topBid }) => <Price price={topBid.proceeds} />,
  },
  {
    id: 'bid',
    head: texts.order.bidderPays,
    width: 'minmax(90px, 0.8fr)',
    isNumber: true,
    from: 'tablet',
    cell: ({ topBid }) => <Price price={topBid.price} isNativeOnly />,
  },
  {
    id: 'order',
    head: texts.order.wanted,
    width: 'minmax(110px, 1fr)',
    place: 'bottom-right',
    cell: ({ topBid }) => (
      <Link class="link inner-link" href={orderPath(topBid.orderId)}>
        {texts.wallet.bestFor[topBid.kind]}
      </Link>
    ),
  },
];
