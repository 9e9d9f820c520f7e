// The columns of the list of collections. Volume, sales and the change of the floor are those of the chosen period.

import type { ComponentChildren } from 'preact';
import type { MarketCollection } from '../../../client/src/market.ts';
import type { CollectionOrder, CollectionSort, Period } from '../data/market-queries.ts';
import { changePeriod } from '../data/market-queries.ts';
import { formatAmount, formatChange, formatCount, formatShare } from '../format/amount.ts';
import { ChainMark } from '../parts/chain-mark.tsx';
import { Change } from '../parts/change.tsx';
import type { Column } from '../parts/data-table.tsx';
import { RowLink } from '../parts/data-table.tsx';
import { Flash } from '../parts/flash.tsx';
import { ClockIcon, LaunchedIcon } from '../parts/icons.tsx';
import { Picture } from '../parts/picture.tsx';
import { Price, Volume } from '../parts/price.tsx';
import { Sparkline } from '../parts/sparkline.tsx';
import { Unknown } from '../parts/unknown.tsx';
import { texts as shared } from '../texts.ts';
import { BuyerFloor } from './buyer-floor.tsx';
import { collectionName } from './collection-name.tsx';
import { currencyOf } from './currency.ts';
import { collectionPath } from './paths.ts';
import { texts } from './texts.ts';

/** The names of the periods in the figures of a collection. */
const STATS = { '1h': 'oneHour', '24h': 'twentyFourHour', '7d': 'sevenDay', '30d': 'thirtyDay' } as const;
const PERIOD_STATS = { ...STATS, all: 'allTime' } as const;

/** The columns by which the service sorts the list. */
const SORTED_COLUMNS: Readonly<Partial<Record<string, CollectionSort>>> = {
  floor: 'floor',
  change: 'change',
  volume: 'volume',
  sales: 'sales',
  listed: 'listed',
};

/** `sort`: null if the list is not sorted by a figure alone. `hrefOf`: the link to the list in another order. */
export function collectionColumns(
  { sort, period, order }: Omit<CollectionOrder, 'sort'> & { sort: CollectionSort | null },
  hrefOf: (sort: CollectionSort, order: CollectionOrder['order']) => string,
): readonly Column<MarketCollection>[] {
  return toColumns(period).map((column) => {
    const own = SORTED_COLUMNS[column.id];
    if (own === undefined) return column;
    const shown = own === sort ? order : null;
    return { ...column, sort: { href: hrefOf(own, shown === 'desc' ? 'asc' : 'desc'), order: shown } };
  });
}

const toColumns = (period: Period): readonly Column<MarketCollection>[] => [
  {
    id: 'picture',
    head: texts.market.columns.picture,
    isHeadHidden: true,
    width: '28px',
    place: 'picture',
    cell: ({ id, image }) => <Picture url={image} alt="" seed={id} class="picture-row" />,
  },
  {
    id: 'name',
    head: texts.market.columns.name,
    width: 'minmax(148px, 2.4fr)',
    place: 'top-left',
    cell: (collection) => (
      <div class="name-cell">
        <span class="truncate">
          <RowLink href={collectionPath(collection)}>{collectionName(collection)}</RowLink>
        </span>
        {collection.launched && <LaunchedMark />}
        <span class="name-chain">{collection.chain !== null && <ChainMark chain={collection.chain} isShort />}</span>
      </div>
    ),
  },
  {
    id: 'chain',
    head: texts.market.columns.chain,
    width: '0',
    isCardOnly: true,
    place: 'bottom-left',
    cell: ({ chain }) => (chain === null ? null : <ChainMark chain={chain} />),
  },
  {
    id: 'floor',
    head: texts.market.columns.floor,
    width: 'minmax(96px, 1.2fr)',
    isNumber: true,
    place: 'top-right',
    cell: ({ stats, stale }) => (
      <>
        {stale && <StaleMark reason={texts.stale.collection} />}
        <Price price={stats.floor} reason={shared.unknown.floor} isStacked />
      </>
    ),
  },
  {
    id: 'change',
    head: texts.market.columns.change[changePeriod(period)],
    width: 'minmax(56px, 0.6fr)',
    isNumber: true,
    cell: ({ stats }) => (
      <Change ratio={stats.floorChange[STATS[changePeriod(period)]]} reason={shared.unknown.change} />
    ),
  },
  {
    id: 'buyer',
    head: texts.market.columns.buyer,
    width: 'minmax(92px, 1.1fr)',
    isNumber: true,
    from: 'desktop',
    cell: (collection) => <BuyerFloor collection={collection} />,
  },
  {
    id: 'bid',
    head: texts.collection.topBid,
    width: 'minmax(92px, 1.1fr)',
    isNumber: true,
    from: 'wide',
    cell: ({ stats }) => <Price price={stats.topBid?.proceeds ?? null} reason={texts.collection.noTopBid} isStacked />,
  },
  {
    id: 'volume',
    head: texts.market.columns.volume[period],
    width: 'minmax(96px, 1.1fr)',
    isNumber: true,
    cell: (collection) => <VolumeWithChange collection={collection} period={period} />,
  },
  {
    id: 'sales',
    head: texts.market.columns.sales[period],
    width: 'minmax(64px, 0.7fr)',
    isNumber: true,
    from: 'desktop',
    cell: ({ stats }) => <Count value={stats.sales[PERIOD_STATS[period]]} />,
  },
  {
    id: 'listed',
    head: texts.market.columns.listed,
    width: 'minmax(60px, 0.7fr)',
    isNumber: true,
    from: 'desktop',
    cell: (collection) => <Listed collection={collection} />,
  },
  {
    id: 'owners',
    head: texts.market.columns.owners,
    width: 'minmax(60px, 0.7fr)',
    isNumber: true,
    from: 'wide',
    cell: ({ stats }) => <Count value={stats.owners} />,
  },
  {
    id: 'card-figures',
    head: texts.market.columns.volume[period],
    width: '0',
    isCardOnly: true,
    place: 'bottom-right',
    cell: (collection) => <CardFigures collection={collection} period={period} />,
  },
  {
    id: 'sparkline',
    head: texts.market.columns.sparkline,
    width: '96px',
    isNumber: true,
    cell: (collection) => <FloorLine collection={collection} />,
  },
];

function hasLine(values: readonly (number | null)[]): boolean {
  return values.filter((value) => value !== null).length > 1;
}

function VolumeWithChange({ collection, period }: { collection: MarketCollection; period: Period }) {
  const { volume, volumeChange } = collection.stats;
  const value = volume[PERIOD_STATS[period]];
  const change = period === 'all' ? null : volumeChange[STATS[period]];
  return (
    <span class="stacked">
      <Volume value={value} currency={currencyOf(collection)} reason={shared.unknown.figure} />
      {value !== null && change !== null && (
        <span class="stacked-note">
          <Change ratio={change} reason={shared.unknown.change} />
        </span>
      )}
    </span>
  );
}

/** The change of the floor and the volume, on the card of a phone. */
function CardFigures({ collection, period }: { collection: MarketCollection; period: Period }) {
  const { volume, floorChange } = collection.stats;
  const change = floorChange[STATS[changePeriod(period)]];
  return (
    <span class="card-figures">
      {change !== null && <Change ratio={change} reason={shared.unknown.change} />}
      <span>
        {texts.market.volumeShort[period]}{' '}
        <Volume value={volume[PERIOD_STATS[period]]} currency={currencyOf(collection)} reason={shared.unknown.figure} />
      </span>
    </span>
  );
}

function FloorLine({ collection }: { collection: MarketCollection }) {
  const { sparkline, stats } = collection;
  const known = sparkline.filter((value) => value !== null);
  const [first] = known;
  const last = known.at(-1);
  if (first === undefined || last === undefined || !hasLine(sparkline))
    return <Unknown reason={shared.unknown.history} />;
  const change = stats.floorChange.sevenDay;
  const label = texts.market.floorLine(
    formatAmount(first),
    `${formatAmount(last)} ${currencyOf(collection)}`,
    change === null ? null : formatChange(change),
  );
  return (
    <span class="sparkline-box" data-tip={label}>
      <Sparkline values={sparkline} label={label} change={change} />
    </span>
  );
}

/** Marks a collection that was launched on the service. */
function LaunchedMark() {
  return (
    <span class="launched" data-tip={texts.market.launched}>
      <LaunchedIcon />
      <span class="visually-hidden">{texts.market.launched}</span>
    </span>
  );
}

function StaleMark({ reason }: { reason: string }) {
  return (
    <span class="stale stale-inline" data-tip={reason}>
      <ClockIcon />
      <span class="visually-hidden">{reason}</span>
    </span>
  );
}

function Count({ value }: { value: number | null }) {
  if (value === null) return <Unknown reason={shared.unknown.figure} />;
  return <Flash value={value}>{formatCount(value)}</Flash>;
}

function Listed({ collection: { stats } }: { collection: MarketCollection }): ComponentChildren {
  const { listedCount, supply } = stats;
  if (listedCount === null) return <Unknown reason={shared.unknown.figure} />;
  if (supply === null || supply === 0) {
    return (
      <>
        <Count value={listedCount} /> <span class="muted">{texts.market.listedTokens}</span>
      </>
    );
  }
  return (
    <span data-tip={texts.market.listedOf(formatCount(listedCount), formatCount(supply))}>
      <Flash value={listedCount}>{formatShare(listedCount / supply)}</Flash>
    </span>
  );
}
