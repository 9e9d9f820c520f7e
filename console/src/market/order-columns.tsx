// The columns of lists of asks and of lists of bids.

import type { ListedOrder } from '../../../client/src/market.ts';
import type { Amount } from '../format/amount.ts';
import { formatChange, formatCount } from '../format/amount.ts';
import { Account } from '../parts/account.tsx';
import { ChainMark } from '../parts/chain-mark.tsx';
import type { Column } from '../parts/data-table.tsx';
import { RowLink } from '../parts/data-table.tsx';
import { Price } from '../parts/price.tsx';
import { Expiry, Time } from '../parts/time.tsx';
import { Unknown } from '../parts/unknown.tsx';
import { texts as shared } from '../texts.ts';
import { CollectionName } from './collection-name.tsx';
import { marketplaceName } from './outside-links.ts';
import { orderPath } from './paths.ts';
import { tokenColumns } from './token-columns.tsx';
import { texts } from './texts.ts';
import { Wanted, WantedPicture } from './wanted.tsx';

type Shown = {
  isOfWallet: boolean;
  /** Whether one of the orders is for several units. */
  hasUnits: boolean;
};

/** `least`: the lowest total of a buyer, if the asks are compared with it. */
export function toAskColumns({
  isOfWallet,
  hasUnits,
  least,
}: Shown & { least: Amount | null }): readonly Column<ListedOrder>[] {
  return [
    ...tokenColumns<ListedOrder>({ isOfMany: isOfWallet }),
    ...(isOfWallet ? [chain] : []),
    ...askPrices,
    ...(least ? [toDifference(least)] : []),
    ...(hasUnits ? [units] : []),
    ...(isOfWallet ? [] : [toMaker(texts.sales.columns.seller)]),
    marketplace,
    expires,
    createdAt,
  ];
}

export function toBidColumns({ isOfWallet, hasUnits }: Shown): readonly Column<ListedOrder>[] {
  return [
    wantedPicture,
    toWanted(isOfWallet),
    ...(isOfWallet ? [chain] : []),
    ...bidPrices,
    ...(hasUnits ? [units] : []),
    ...(isOfWallet ? [] : [toMaker(texts.order.bidder)]),
    bidState,
    createdAt,
  ];
}

const chain: Column<ListedOrder> = {
  id: 'chain',
  head: texts.token.chain,
  width: 'minmax(110px, 0.8fr)',
  place: 'bottom-left',
  cell: (order) => <ChainMark chain={order.chain} />,
};

const toMaker = (head: string): Column<ListedOrder> => ({
  id: 'maker',
  head,
  width: 'minmax(110px, 1fr)',
  place: 'bottom-left',
  cell: (order) => <Account address={order.maker} />,
});

const askPrices: readonly Column<ListedOrder>[] = [
  {
    id: 'total',
    head: texts.listings.columns.total,
    width: 'minmax(110px, 1fr)',
    isNumber: true,
    place: 'top-right',
    cell: ({ buyerTotal }) => <Price price={buyerTotal} reason={shared.unknown.buyerTotal} />,
  },
  {
    id: 'ask',
    head: texts.listings.columns.price,
    width: 'minmax(90px, 0.8fr)',
    isNumber: true,
    from: 'tablet',
    cell: ({ price }) => <Price price={price} isNativeOnly />,
  },
];

const bidPrices: readonly Column<ListedOrder>[] = [
  {
    id: 'proceeds',
    head: <span data-tip={texts.order.proceedsWhy}>{texts.order.proceeds}</span>,
    width: 'minmax(110px, 1fr)',
    isNumber: true,
    place: 'top-right',
    cell: ({ proceeds }) => <Price price={proceeds} />,
  },
  {
    id: 'bid',
    head: texts.order.bidderPays,
    width: 'minmax(90px, 0.8fr)',
    isNumber: true,
    from: 'tablet',
    cell: ({ price }) => <Price price={price} isNativeOnly />,
  },
];

const wantedPicture: Column<ListedOrder> = {
  id: 'picture',
  head: shared.columns.picture,
  isHeadHidden: true,
  width: '28px',
  place: 'picture',
  cell: (order) => <WantedPicture order={order} name="picture-row" />,
};

/** `isOfMany`: whether the bids are for several collections, so that each row names its own. */
const toWanted = (isOfMany: boolean): Column<ListedOrder> => ({
  id: 'wanted',
  head: texts.order.wanted,
  width: 'minmax(120px, 1.6fr)',
  place: 'top-left',
  cell: (order) => (
    <span class="truncate">
      <RowLink href={orderPath(order.orderId)}>
        {isOfMany && (
          <>
            <CollectionName id={order.collectionId} />:{' '}
          </>
        )}
        <Wanted order={order} />
      </RowLink>
    </span>
  ),
});

const units: Column<ListedOrder> = {
  id: 'units',
  head: texts.orders.units,
  width: 'minmax(72px, 0.6fr)',
  isNumber: true,
  from: 'desktop',
  cell: ({ remaining, quantity }) =>
    remaining === null ? (
      <Unknown reason={texts.orders.unknownUnits} />
    ) : (
      <span {...(remaining !== quantity && { 'data-tip': texts.orders.unitsOf(remaining, quantity) })}>
        {formatCount(BigInt(remaining))}
      </span>
    ),
};

const marketplace: Column<ListedOrder> = {
  id: 'marketplace',
  head: texts.listings.columns.marketplace,
  width: 'minmax(120px, 1fr)',
  place: 'bottom-right',
  cell: (order) => (
    <span class="activity-kind">
      <span class="badge">{marketplaceName(order.marketplace)}</span>
      <Dormant order={order} />
    </span>
  ),
};

/** Why an active order cannot be filled at present, as badges. */
export function Dormant({ order: { dormant, side } }: { order: Pick<ListedOrder, 'dormant' | 'side'> }) {
  return dormant?.reasons.map((reason) => (
    <span key={reason} class="badge badge-warn" data-tip={texts.orders.dormantWhy[side][reason]}>
      {texts.orders.dormant[side][reason]}
    </span>
  ));
}

const expires: Column<ListedOrder> = {
  id: 'expires',
  head: texts.token.expires,
  width: 'minmax(88px, 0.6fr)',
  isNumber: true,
  from: 'desktop',
  cell: (order) => <OrderExpiry order={order} />,
};

/** All bids are those of this service, so there is no column for the marketplace. */
const bidState: Column<ListedOrder> = {
  id: 'expires',
  head: texts.token.expires,
  width: 'minmax(120px, 1fr)',
  isNumber: true,
  place: 'bottom-right',
  cell: (order) => (
    <span class="activity-kind">
      <Dormant order={order} />
      <OrderExpiry order={order} />
    </span>
  ),
};

function OrderExpiry({ order: { expiresAt } }: { order: ListedOrder }) {
  return expiresAt === null ? <span class="muted">{texts.orders.never}</span> : <Expiry at={expiresAt} />;
}

const createdAt: Column<ListedOrder> = {
  id: 'created-at',
  head: texts.order.createdAt,
  width: 'minmax(72px, 0.6fr)',
  isNumber: true,
  from: 'tablet',
  cell: ({ timestamp }) => <Time at={timestamp} />,
};

/** How much more a buyer pays than for the cheapest order. */
const toDifference = (least: Amount): Column<ListedOrder> => ({
  id: 'difference',
  head: texts.orders.difference,
  width: 'minmax(88px, 0.7fr)',
  isNumber: true,
  from: 'desktop',
  cell: ({ buyerTotal }) =>
    buyerTotal && least.decimal > 0 ? (
      <span class="muted">{formatChange(buyerTotal.decimal / least.decimal - 1)}</span>
    ) : (
      <Unknown reason={shared.unknown.buyerTotal} />
    ),
});
