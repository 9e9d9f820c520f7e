// The page of one token.

import { useInfiniteQuery, useQuery } from '@tanstack/preact-query';
import { useParams } from 'wouter-preact';
import type { Activity, ActivityKind, MarketItem, Token } from '../../../client/src/market.ts';
import { isNotFound } from '../data/client.ts';
import { activityQuery, collectionQuery, orderQuery, tokenQuery, traitsQuery } from '../data/market-queries.ts';
import { useIsLocalChain } from '../data/use-local-chain.ts';
import { formatCount, formatShare } from '../format/amount.ts';
import { shortTokenId } from '../format/address.ts';
import { toVisible } from '../format/strangers-text.ts';
import { Account } from '../parts/account.tsx';
import { ChainMark } from '../parts/chain-mark.tsx';
import { CopyButton } from '../parts/copy-button.tsx';
import { ErrorBoundary } from '../parts/error-boundary.tsx';
import { Picture } from '../parts/picture.tsx';
import { Price } from '../parts/price.tsx';
import { OutsideLink } from '../parts/outside-link.tsx';
import { Row } from '../parts/row.tsx';
import { ErrorPanel, Skeleton } from '../parts/states.tsx';
import { Expiry, Time } from '../parts/time.tsx';
import { Unknown } from '../parts/unknown.tsx';
import { NotFoundPage } from '../shell/not-found-page.tsx';
import { usePageTitle } from '../shell/shell.tsx';
import { texts as shared } from '../texts.ts';
import { Trade } from '../trade/trade.tsx';
import { ActivityList } from './activity-list.tsx';
import { collectionName } from './collection-name.tsx';
import { OrderState, PriceSplit } from './order-state.tsx';
import { unitsOf } from './order-units.ts';
import { explorerUrl, marketplaceName, marketplaceUrl } from './outside-links.ts';
import { collectionPath } from './paths.ts';
import { TokenBids, TopBid } from './token-bids.tsx';
import { tokenName } from './token-name.ts';
import { Link } from '../parts/link.tsx';
import { texts } from './texts.ts';
import './token-page.css';

const ERC1155 = 'ERC-1155';

export function TokenPage() {
  const { chain, address, id } = useParams<{ chain: string; address: string; id: string }>();
  const query = useQuery(tokenQuery(chain, address, id));
  const token = query.data;
  usePageTitle(token ? tokenName(token) : null);
  const asset = token ? { collection: token.collectionId, token: token.mint ?? token.tokenId ?? '' } : null;
  const activity = useInfiniteQuery({
    ...activityQuery(asset ?? { collection: '' }),
    enabled: asset !== null,
  }).data?.pages[0];
  if (token === null || (query.isError && isNotFound(query.error)))
    return <NotFoundPage reason={texts.token.notFound} />;
  if (query.isError && !token) {
    return (
      <div class="page">
        <h1 class="visually-hidden">{id}</h1>
        <ErrorPanel error={query.error} onRetry={() => void query.refetch()} />
      </div>
    );
  }
  if (!token) return <TokenSkeleton />;
  const subject = `${chain} ${address} ${id}`;
  return (
    <article class="page token">
      <Picture url={token.image} alt={tokenName(token)} seed={token.collectionId} class="token-picture" isEager />
      <div class="token-facts">
        <TokenHead token={token} />
        <ErrorBoundary subject={subject}>
          <ListingPanel token={token} activity={activity?.data ?? []} />
        </ErrorBoundary>
        <ErrorBoundary subject={subject}>
          <Trade token={token} />
        </ErrorBoundary>
        <OwnerPanel token={token} />
        <ErrorBoundary subject={subject}>
          <Traits token={token} />
        </ErrorBoundary>
        <IdentityPanel token={token} />
      </div>
      <ErrorBoundary subject={subject}>
        <TokenBids token={token} />
      </ErrorBoundary>
      <section class="token-wide">
        <h2 class="section-title">{texts.token.history}</h2>
        <ErrorBoundary subject={subject}>
          <ActivityList whose={{ collection: token.collectionId, token: token.mint ?? token.tokenId ?? '' }} />
        </ErrorBoundary>
      </section>
    </article>
  );
}

function TokenHead({ token }: { token: Token }) {
  const { data } = useQuery(collectionQuery(token.collectionId));
  const { rank } = token.rarity;
  return (
    <header class="token-head">
      {data ? (
        <Link class="link truncate" href={collectionPath(data.data)}>
          {collectionName(data.data)}
        </Link>
      ) : (
        <Skeleton width="160px" />
      )}
      <h1 class="name-heading">{tokenName(token)}</h1>
      <ul class="facts">
        <li>
          <ChainMark chain={token.chain} />
        </li>
        <li>
          {texts.token.rank}{' '}
          {rank === null ? (
            <Unknown reason={shared.unknown.rank} />
          ) : (
            <strong>
              {formatCount(rank)}
              {data?.data.stats.supply ? <span class="muted"> / {formatCount(data.data.stats.supply)}</span> : null}
            </strong>
          )}
        </li>
      </ul>
    </header>
  );
}

function ListingPanel({ token, activity }: { token: Token; activity: readonly Activity[] }) {
  const { listing, lastSale } = token;
  return (
    <section class="panel token-listing" aria-label={texts.token.listing}>
      {listing ? <Listing token={token} listing={listing} /> : <Unlisted activity={activity} />}
      <TopBid token={token} />
      {lastSale && (
        <p class="token-last-sale">
          <span class="muted">{texts.token.lastSale}</span>
          <span>
            <Price price={lastSale.price} /> <span class="muted">·</span> <Time at={lastSale.at} />{' '}
            <span class="badge">{marketplaceName(lastSale.marketplace)}</span>
          </span>
        </p>
      )}
    </section>
  );
}

function Listing({ token, listing }: { token: Token; listing: NonNullable<Token['listing']> }) {
  const order = useQuery({ ...orderQuery(listing.orderId ?? ''), enabled: listing.orderId !== null }).data?.data;
  const { data: collection } = useQuery(collectionQuery(token.collectionId));
  const price = order?.buyerPrice ?? null;
  const units = order ? unitsOf(order) : null;
  const isOfUnits = units !== null || collection?.data.tokenStandard === ERC1155;
  const total = price?.total ?? listing.buyerTotal;
  const totalName = isOfUnits ? texts.token.totalOfUnit : texts.token.total;
  const askName = isOfUnits ? texts.token.askOfUnit : texts.token.ask;
  return (
    <>
      <p class="token-price">
        <span class="muted">{total ? totalName : askName}</span>
        {/* The ask and the total are different figures. With different keys, the total does not flash when it replaces the ask. */}
        <Price key={total ? 'total' : 'ask'} price={total ?? listing.price} />
      </p>
      {price && <PriceSplit price={price} />}
      {order && <OrderState order={order} />}
      <dl class="rows">
        <Row name={texts.token.marketplace}>
          <MarketplaceLink listing={listing} />
        </Row>
        <Row name={texts.token.seller}>
          <Account address={listing.seller} />
        </Row>
        {units && (
          <Row name={texts.token.units}>
            {units.isPartlyFilled
              ? texts.token.unitsPartlyFilled(formatCount(units.offered))
              : formatCount(units.offered)}
          </Row>
        )}
        <Row name={texts.token.listedAt}>
          <Time at={listing.timestamp} />
        </Row>
        <Row name={texts.token.expires}>
          {listing.expiresAt === null ? (
            <span class="muted">{texts.token.noExpiry}</span>
          ) : (
            <Expiry at={listing.expiresAt} />
          )}
        </Row>
      </dl>
    </>
  );
}

/** The name of the marketplace, as a link to the token there if this page is known. */
function MarketplaceLink({ listing }: { listing: MarketItem }) {
  const isLocal = useIsLocalChain(listing.chain);
  const name = marketplaceName(listing.marketplace);
  const url = isLocal === false ? marketplaceUrl(listing.marketplace, listing) : null;
  if (url === null) return <span class="badge">{name}</span>;
  return (
    <OutsideLink href={url} label={texts.links.marketplace(name)}>
      {name}
    </OutsideLink>
  );
}

/** The kinds of activity that change the state of an order. */
const ORDER_KINDS = new Set<ActivityKind>(['list', 'reprice', 'fill', 'cancel', 'expire', 'invalidate', 'revalidate']);

/** Shows that the token is not listed, and the state of its last order. */
function Unlisted({ activity }: { activity: readonly Activity[] }) {
  const last = activity.find(({ kind, orderId, voidedBy }) => ORDER_KINDS.has(kind) && orderId && voidedBy === null);
  const order = useQuery({ ...orderQuery(last?.orderId ?? ''), enabled: last !== undefined }).data?.data;
  return (
    <>
      <p class="token-unlisted muted">{texts.token.notListed}</p>
      {order && (
        <div class="last-order">
          <p class="token-last-order">
            <span class="muted">{texts.token.lastOrder}</span>
            <span>
              <Price price={order.listing.price} /> <span class="badge">{order.listing.marketplace}</span>
            </span>
          </p>
          <OrderState order={order} />
        </div>
      )}
    </>
  );
}

function OwnerPanel({ token: { owner } }: { token: Token }) {
  return (
    <section class="panel">
      <dl class="rows">
        <Row name={texts.token.owner}>
          {owner.kind === 'custody' ? (
            texts.token.custody(owner.label ?? '')
          ) : (
            <Account address={owner.address} reason={shared.unknown.owner} />
          )}
        </Row>
      </dl>
    </section>
  );
}

/** The traits of the token. Each has the share of the collection's tokens that have this trait, and the floor of these tokens. */
function Traits({ token: { traits, collectionId } }: { token: Token }) {
  const all = useInfiniteQuery({ ...traitsQuery(collectionId), enabled: traits.length > 0 });
  const { data } = useQuery(collectionQuery(collectionId));
  const supply = data?.data.stats.supply ?? null;
  const listed = all.data?.pages.flatMap((page) => page.data) ?? [];
  return (
    <section>
      <h2 class="section-title">{texts.token.traits}</h2>
      {traits.length === 0 ? (
        <p class="muted">{texts.token.noTraits}</p>
      ) : (
        <dl class="traits">
          {traits.map(({ name, value }) => {
            const figures = listed.find((one) => one.name === name)?.values.find((one) => one.value === value);
            return (
              <div key={`${name} ${value}`} class="trait">
                <dt>{toVisible(name)}</dt>
                <dd>{toVisible(value)}</dd>
                {figures && (
                  <dd class="trait-figures">
                    {figures.count !== null && supply !== null && supply > 0 && (
                      <span data-tip={texts.traits.shareOf(formatShare(figures.count / supply))}>
                        {formatShare(figures.count / supply)}
                      </span>
                    )}
                    {figures.floor && (
                      <span>
                        {texts.traits.floor} <Price price={figures.floor} isNativeOnly />
                      </span>
                    )}
                    {/* The top bid for any token of the collection would stand at each value. */}
                    {figures.topBid?.kind === 'trait' && (
                      <span data-tip={texts.traits.bidWhy}>
                        {texts.traits.bid} <Price price={figures.topBid.proceeds} isNativeOnly />
                      </span>
                    )}
                  </dd>
                )}
              </div>
            );
          })}
        </dl>
      )}
    </section>
  );
}

function IdentityPanel({ token }: { token: Token }) {
  const { contractAddress, tokenId, mint } = token;
  const isLocal = useIsLocalChain(token.chain);
  const explorer = isLocal === false ? explorerUrl(token) : null;
  return (
    <section>
      <h2 class="section-title">{texts.token.identity}</h2>
      <div class="panel">
        <dl class="rows">
          {contractAddress !== null && (
            <Row name={texts.token.contract}>
              <Copied text={contractAddress} label={texts.token.contract} />
            </Row>
          )}
          {tokenId !== null && (
            <Row name={texts.token.id}>
              <Copied text={tokenId} shown={shortTokenId(tokenId)} label={texts.token.id} />
            </Row>
          )}
          {mint !== null && (
            <Row name={texts.token.mint}>
              <Copied text={mint} label={texts.token.mint} />
            </Row>
          )}
          {explorer !== null && (
            <Row name={texts.links.outside}>
              <OutsideLink href={explorer}>{texts.links.explorer}</OutsideLink>
            </Row>
          )}
        </dl>
      </div>
    </section>
  );
}

function Copied({ text, shown = text, label }: { text: string; shown?: string; label: string }) {
  return (
    <span class="copied">
      <span class="mono truncate">{shown}</span>
      <CopyButton text={text} label={label} />
    </span>
  );
}

function TokenSkeleton() {
  return (
    <div class="page token" aria-busy="true">
      <span class="visually-hidden">{shared.states.loading}</span>
      <Picture url={null} alt="" seed="" class="token-picture" />
      <div class="token-facts">
        <Skeleton width="160px" />
        <Skeleton width="320px" height="36px" />
        <Skeleton width="100%" height="180px" />
      </div>
    </div>
  );
}
