// The page of one order: what it is for, what is paid and received, and its state with the reasons. Orders for any of several tokens, which have no
// place on the page of a token, have only this page.

import { useQuery } from '@tanstack/preact-query';
import { useParams } from 'wouter-preact';
import type { Order } from '../../../client/src/market.ts';
import { isNotFound } from '../data/client.ts';
import { ALL_KINDS } from '../data/live.ts';
import { collectionNameQuery, orderQuery } from '../data/market-queries.ts';
import { useLive } from '../data/use-live.ts';
import { formatCount } from '../format/amount.ts';
import { Account } from '../parts/account.tsx';
import { ChainMark } from '../parts/chain-mark.tsx';
import { Link } from '../parts/link.tsx';
import { Price } from '../parts/price.tsx';
import { Row } from '../parts/row.tsx';
import { ErrorPanel, PageSkeleton } from '../parts/states.tsx';
import { Expiry, Time } from '../parts/time.tsx';
import { NotFoundPage } from '../shell/not-found-page.tsx';
import { usePageTitle } from '../shell/shell.tsx';
import { texts as shared } from '../texts.ts';
import { traitParameter } from './collection/trait-choice.ts';
import { CollectionName } from './collection-name.tsx';
import { OrderState, PriceSplit } from './order-state.tsx';
import { marketplaceName } from './outside-links.ts';
import { collectionPath, tokenPath } from './paths.ts';
import { texts } from './texts.ts';
import { Wanted, WantedPicture } from './wanted.tsx';
import './token-page.css';

export function OrderPage() {
  const { id } = useParams<{ id: string }>();
  const query = useQuery(orderQuery(id));
  const order = query.data?.data;
  useLive({ collection: order?.listing.collectionId ?? '', kinds: ALL_KINDS }, query.data?.meta.offset);
  usePageTitle(order ? texts.order.sides[order.side] : null);
  if (query.isError && isNotFound(query.error)) return <NotFoundPage reason={texts.order.notFound} />;
  if (query.isError && !order) {
    return (
      <div class="page">
        <h1 class="visually-hidden">{id}</h1>
        <ErrorPanel error={query.error} onRetry={() => void query.refetch()} />
      </div>
    );
  }
  if (!order) return <PageSkeleton />;
  const wanted = { ...order.listing, criteria: order.criteria };
  return (
    <article class="page token">
      <WantedPicture order={wanted} name="token-picture" />
      <div class="token-facts">
        <header class="token-head">
          <CollectionLink id={wanted.collectionId} />
          <h1 class="name-heading">
            {texts.order.sides[order.side]}: <Wanted order={wanted} />
          </h1>
          <ul class="facts">
            <li>
              <ChainMark chain={wanted.chain} />
            </li>
          </ul>
        </header>
        <section class="panel token-listing" aria-label={texts.order.terms}>
          {order.side === 'bid' ? <BidPrice order={order} /> : <AskPrice order={order} />}
          <OrderState order={order} />
          <Terms order={order} />
        </section>
      </div>
    </article>
  );
}

function CollectionLink({ id }: { id: string }) {
  const { data } = useQuery(collectionNameQuery(id));
  return (
    <Link class="link truncate" href={collectionPath({ id, slug: data?.slug ?? null })}>
      <CollectionName id={id} />
    </Link>
  );
}

function BidPrice({ order: { listing, proceeds } }: { order: Order }) {
  return (
    <>
      <p class="token-price">
        <span class="muted" data-tip={texts.order.proceedsWhy}>
          {listing.quantity === '1' ? texts.order.proceeds : texts.order.proceedsOfUnit}
        </span>
        <Price price={proceeds} />
      </p>
      <dl class="rows price-split">
        <Row name={texts.order.bidderPays}>
          <Price price={listing.price} />
        </Row>
      </dl>
    </>
  );
}

function AskPrice({ order: { listing, buyerPrice } }: { order: Order }) {
  return (
    <>
      <p class="token-price">
        <span class="muted">{listing.quantity === '1' ? texts.token.total : texts.token.totalOfUnit}</span>
        <Price price={listing.buyerTotal} reason={shared.unknown.buyerTotal} />
      </p>
      {buyerPrice && <PriceSplit price={buyerPrice} />}
    </>
  );
}

function Terms({ order }: { order: Order }) {
  const { side, maker, listing } = order;
  const { quantity, remaining, expiresAt, marketplace, timestamp } = listing;
  return (
    <dl class="rows">
      <Row name={texts.order.wanted}>
        <WantedLink order={order} />
      </Row>
      <Row name={side === 'bid' ? texts.order.bidder : texts.token.seller}>
        <Account address={maker} />
      </Row>
      {remaining !== null && quantity !== '1' && (
        <Row name={texts.orders.units}>{texts.orders.unitsOf(remaining, quantity)}</Row>
      )}
      <Row name={texts.token.marketplace}>
        <span class="badge">{marketplaceName(marketplace)}</span>
      </Row>
      <Row name={texts.order.createdAt}>
        <Time at={timestamp} />
      </Row>
      <Row name={texts.token.expires}>
        {expiresAt === null ? <span class="muted">{texts.token.noExpiry}</span> : <Expiry at={expiresAt} />}
      </Row>
    </dl>
  );
}

/** A link to the token, or to the tokens, that the order is for. The tokens of a list have no page of their own. */
function WantedLink({ order: { listing, criteria } }: { order: Order }) {
  const wanted = { ...listing, criteria };
  const href = hrefOf(wanted);
  const count = criteria?.count ?? null;
  return (
    <>
      {href === null ? (
        <Wanted order={wanted} />
      ) : (
        <Link class="link" href={href}>
          <Wanted order={wanted} />
        </Link>
      )}
      {criteria?.type === 'trait' && count !== null && (
        <span class="muted"> · {texts.order.tokens(formatCount(count))}</span>
      )}
    </>
  );
}

function hrefOf({ criteria, ...asset }: Order['listing'] & Pick<Order, 'criteria'>): string | null {
  if (criteria === null) return tokenPath(asset);
  const { type, traits } = criteria;
  if (type === 'tokens') return null;
  const filter = (traits ?? []).map(({ name, value }): [string, string] => [traitParameter(name), value]);
  const path = collectionPath({ id: asset.collectionId, slug: null });
  return `${path}?${new URLSearchParams([['show', 'all'], ...filter]).toString()}`;
}
