// The bids that the owner of a token can accept: those for this token, and those for any of several tokens of which it is one.

import { useInfiniteQuery } from '@tanstack/preact-query';
import { useMemo } from 'preact/hooks';
import type { ListedOrder, Token } from '../../../client/src/market.ts';
import type { OrderFilter } from '../data/market-queries.ts';
import { ordersQuery } from '../data/market-queries.ts';
import { DataTable } from '../parts/data-table.tsx';
import { Link } from '../parts/link.tsx';
import { MoreRows } from '../parts/more-rows.tsx';
import { Price } from '../parts/price.tsx';
import { toBidColumns } from './order-columns.tsx';
import { orderPath } from './paths.ts';
import { texts } from './texts.ts';
import { Wanted } from './wanted.tsx';

/** The highest proceeds that the owner can have now. */
export function TopBid({ token }: { token: Token }) {
  const [best] = useTokenBids(token).bids;
  if (!best) return null;
  return (
    <p class="token-last-sale">
      <span class="muted" data-tip={texts.token.topBidWhy}>
        {texts.token.topBid}
      </span>
      <span>
        <Price price={best.proceeds} /> <span class="muted">·</span>{' '}
        <Link class="link" href={orderPath(best.orderId)}>
          <Wanted order={best} />
        </Link>
      </span>
    </p>
  );
}

/** All of them, the highest proceeds first. */
export function TokenBids({ token }: { token: Token }) {
  const { bids, query } = useTokenBids(token);
  const hasUnits = bids.some(({ quantity }) => quantity !== '1');
  const columns = useMemo(() => toBidColumns({ isOfWallet: false, hasUnits }), [hasUnits]);
  if (bids.length === 0) return null;
  return (
    <section class="token-wide">
      <h2 class="section-title">{texts.token.bids}</h2>
      <DataTable label={texts.token.bids} columns={columns} rows={bids} keyOf={({ orderId }) => orderId} isDense />
      <MoreRows query={query} />
    </section>
  );
}

/** The active bids that the owner can accept, the highest proceeds first. */
export function useTokenBids(token: Token) {
  return useBids(bidsFor(token), 'active');
}

/** The bids of an account that are for the token, also those that the account cannot pay at present. */
export function useOwnBids(token: Token, maker: string): ListedOrder[] {
  const filter = { ...bidsFor(token), maker };
  const [active, dormant] = [useBids(filter, 'active'), useBids(filter, 'dormant')];
  // Between the reads of the two lists, a bid can move from one to the other.
  return [...new Map([...dormant.bids, ...active.bids].map((bid) => [bid.orderId, bid])).values()];
}

const bidsFor = ({ collectionId, mint, tokenId }: Token) =>
  ({ side: 'bid', collection: collectionId, token: mint ?? tokenId ?? '' }) as const;

function useBids(filter: OrderFilter, status: 'active' | 'dormant') {
  const query = useInfiniteQuery(ordersQuery(filter, status));
  return { bids: query.data?.pages.flatMap(({ data }) => data) ?? [], query };
}
