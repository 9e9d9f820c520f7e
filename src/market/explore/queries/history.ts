// Reads the history of a collection by intervals from the indexer database. Floors, listed counts and top bids come from `indexer.market_hour`,
// volumes from `indexer.sale_hour`.

import type { Queryable } from '../../../platform/database/port.ts';
import { KNOWN_FLOORS } from '../../index/queries/past-floors.ts';
import {
  amount,
  column,
  nullable,
  rowDecoder,
  safeInteger,
  textList,
  textListSql,
} from '../../../platform/database/rows.ts';

export const INTERVALS = ['hour', 'day'] as const;
export type Interval = (typeof INTERVALS)[number];

/** The floor, the number of listed assets and the top bid at the end of an interval. Null for what is not known. */
export type IntervalEnd = { closeRaw: bigint | null; listed: number | null; topBidRaw: bigint | null };

/** The highest and the lowest floor of an interval, and its end. */
export type MarketFigures = IntervalEnd & { highRaw: bigint | null; lowRaw: bigint | null };

/** `volumeRaw` is null if a sale of the interval cannot be read. */
export type SaleFigures = { volumeRaw: bigint | null; sales: number };

/**
 * `before`: the floor, the number of listed assets and the top bid just before the range. The keys of `market` and `sold` are the beginnings of
 * intervals, in milliseconds. `market` has the intervals in which one of the three changed. `sold` has the
 * intervals with sales.
 */
export type RangeFigures = {
  before: IntervalEnd;
  market: ReadonlyMap<number, MarketFigures>;
  sold: ReadonlyMap<number, SaleFigures>;
};

/**
 * SQL that computes the figures of an interval from the rows of its hours. For the interval `hour`, each row is an interval, so the rows
 * are not grouped.
 */
const INTERVAL_SQL = {
  hour: {
    changed: {
      columns: `hour as at, ${KNOWN_FLOORS.high} as high_raw, ${KNOWN_FLOORS.low} as low_raw, ${KNOWN_FLOORS.close} as close_raw, listed, top_bid_raw`,
      groups: '',
    },
    sold: { columns: 'hour as at, volume_raw, sales', groups: '' },
    unread: 'hour',
  },
  day: {
    changed: {
      columns: `date_trunc('day', hour, 'UTC') as at, max(${KNOWN_FLOORS.high}) as high_raw, min(${KNOWN_FLOORS.low}) as low_raw,
        (array_agg(${KNOWN_FLOORS.close} order by hour desc))[1] as close_raw, (array_agg(listed order by hour desc))[1] as listed,
        (array_agg(top_bid_raw order by hour desc))[1] as top_bid_raw`,
      groups: 'group by 1',
    },
    sold: {
      columns: `date_trunc('day', hour, 'UTC') as at, sum(volume_raw) as volume_raw, sum(sales)::bigint as sales`,
      groups: 'group by 1',
    },
    unread: `date_trunc('day', hour, 'UTC')`,
  },
} as const satisfies Record<Interval, unknown>;

const amounts = textList(nullable(amount));
const integers = textList(safeInteger);

const decodeRange = rowDecoder('market_hour', {
  changedAt: column('changed_at', integers),
  highs: amounts,
  lows: amounts,
  closes: amounts,
  listed: textList(nullable(safeInteger)),
  topBids: column('top_bids', amounts),
  soldAt: column('sold_at', integers),
  volumes: textList(amount),
  sales: integers,
  unreadAt: column('unread_at', integers),
  closeBefore: column('close_before', nullable(amount)),
  listedBefore: column('listed_before', nullable(safeInteger)),
  topBidBefore: column('top_bid_before', nullable(amount)),
});

/**
 * The figures of the intervals from `from` to before `to`. Both are beginnings of intervals, in milliseconds. Each column is read as one
 * list, because the driver and the decoders would need several times as long for thousands of rows. The values of all lists are in the same
 * order.
 */
export async function readRangeFigures(
  db: Queryable,
  collectionId: string,
  { interval, from, to }: { interval: Interval; from: number; to: number },
): Promise<RangeFigures> {
  const { changed, sold, unread } = INTERVAL_SQL[interval];
  const ofRange = 'where collection_id = $1 and hour >= $2 and hour < $3';
  const [row = {}] = await db.query(
    `select * from (
       select ${textListSql('extract(epoch from at)::bigint')} as changed_at, ${textListSql('high_raw')} as highs,
         ${textListSql('low_raw')} as lows, ${textListSql('close_raw')} as closes, ${textListSql('listed')} as listed,
         ${textListSql('top_bid_raw')} as top_bids
       from (select ${changed.columns} from indexer.market_hour ${ofRange} ${changed.groups}) as intervals
     ) as changed cross join (
       select ${textListSql('extract(epoch from at)::bigint')} as sold_at, ${textListSql('volume_raw')} as volumes,
         ${textListSql('sales')} as sales
       from (select ${sold.columns} from indexer.sale_hour ${ofRange} ${sold.groups}) as intervals
     ) as sold cross join (
       select ${textListSql('extract(epoch from at)::bigint')} as unread_at
       from (select distinct ${unread} as at from indexer.sale_hour ${ofRange} and unread > 0) as intervals
     ) as unread left join (
       select ${KNOWN_FLOORS.close} as close_before, listed as listed_before, top_bid_raw as top_bid_before from indexer.market_hour
       where collection_id = $1 and hour < $2 order by hour desc limit 1
     ) as before on true`,
    [collectionId, new Date(from), new Date(to)],
  );
  const { changedAt, highs, lows, closes, listed, topBids, soldAt, volumes, sales, unreadAt, ...before } =
    decodeRange(row);
  const market = new Map<number, MarketFigures>();
  for (const [index, seconds] of changedAt.entries()) {
    market.set(seconds * 1_000, {
      highRaw: highs[index] ?? null,
      lowRaw: lows[index] ?? null,
      closeRaw: closes[index] ?? null,
      listed: listed[index] ?? null,
      topBidRaw: topBids[index] ?? null,
    });
  }
  const soldByTime = new Map<number, SaleFigures>();
  const unreadTimes = new Set(unreadAt);
  for (const [index, seconds] of soldAt.entries()) {
    const volumeRaw = unreadTimes.has(seconds) ? null : (volumes[index] ?? 0n);
    soldByTime.set(seconds * 1_000, { volumeRaw, sales: sales[index] ?? 0 });
  }
  const { closeBefore: closeRaw, listedBefore, topBidBefore: topBidRaw } = before;
  return { before: { closeRaw, listed: listedBefore, topBidRaw }, market, sold: soldByTime };
}
