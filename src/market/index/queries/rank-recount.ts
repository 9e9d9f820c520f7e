// Computes the ranking keys again from the rows of the indexer, for `mercat audit` and for tests. The rule (docs/provenance.md) is written
// here a second time, in SQL, to find a fault in market/index/ranks.ts. Indexer database.

import type { Chains } from '../../../platform/core/chains.ts';
import type { Queryable } from '../../../platform/database/port.ts';
import type { FigureDifference, RecountScope } from './figure-recount.ts';
import { decodeFigureDifference } from './figure-recount.ts';
import { LISTED } from './figures.ts';
import { IS_COUNTED, saleSumsSql } from './sale-rule.ts';

/** The ranking keys whose stored value is wrong at the time `now`. */
export async function listRankDifferences(
  db: Queryable,
  { prefix, now, limit }: RecountScope,
  chains: Chains,
): Promise<FigureDifference[]> {
  const rows = await db.query(
    `with configured as (
       select * from unnest($4::text[], $5::integer[]) as configured (chain, decimals)
     ), covered as (
       select collection_id, subject, bool_or(kind = 'scan') as scanned,
         max(until) filter (where kind = 'chain' and from_time is null) as chain_until,
         max(until) filter (where kind = 'imported' and from_time is null) as imported_until,
         case when bool_and(from_time is null) filter (where kind = 'scan') then min(until) filter (where kind = 'scan') end
           as scan_until
       from (
         select coverage.*, coalesce(covered_to, to_time) as until from indexer.coverage
         left join indexer.chain_cursor as cursor on kind = 'chain' and cursor.chain = source
         where starts_with(collection_id, $1)
       ) as coverage group by collection_id, subject
     ), mirrored as (
       select collection_id, min(price_raw) as floor_raw from indexer.listing
       where starts_with(collection_id, $1) and ${LISTED} and (expires_at is null or expires_at > $2) and not exists (
         select from indexer.own_asset as own where own.collection_id = listing.collection_id and own.asset = listing.asset)
       group by collection_id
     ), sold as (
       select collection_id, ${saleSumsSql()} from indexer.sale
       where starts_with(collection_id, $1) and ${IS_COUNTED} group by collection_id
     ), facts as (
       select figures.*, decimals, least(own_floor_raw, mirrored.floor_raw) as listed_floor_raw,
         case when coalesce(sold.unread, 0) = 0 then (coalesce(sold.volume_raw, 0)::text || 'e-' || decimals)::float8 end as volume,
         sales.chain_until > day.start or sales.scan_until > day.start as is_read, sales.imported_until is not null as is_imported,
         case when listings.scanned then listings.scan_until > half_hour.start
           else listings.chain_until > half_hour.start or listings.imported_until is not null end as is_empty,
         case when analytics.at > day.start then analytics.volume_all_time end as reported_volume,
         case when not sales_complete then greatest(snapshot_volume, analytics.volume_all_time) end as stated_volume,
         coalesce(case when analytics.at > half_hour.start then nullif(analytics.floor_raw, 0) end,
           case when stats.at > half_hour.start then nullif(stats.floor_raw, 0) end) as reported_floor_raw,
         case when analytics.at > half_hour.start and analytics.floor_raw > 0 then analytics.at else stats.at end as reported_at,
         case when listings.scanned and listings.scan_until > day.start then listings.scan_until
           when listings.scanned is not true and listings.chain_until > day.start then listings.chain_until
           when stats.at > day.start and stats.listed_count is not null then case when stats.listed_count = 0 then stats.at end
           when listings.scanned is not true and own_known and stats.listed_count is null
             and coalesce(nullif(analytics.floor_raw, 0), nullif(stats.floor_raw, 0)) is null then $2::timestamptz
         end as none_listed_at
       from indexer.collection_figures as figures
       cross join (select $2::timestamptz - interval '24 hours') as day (start)
       cross join (select $2::timestamptz - interval '30 minutes') as half_hour (start)
       left join configured using (chain)
       left join covered as sales on sales.collection_id = figures.collection_id and sales.subject = 'sales'
       left join covered as listings on listings.collection_id = figures.collection_id and listings.subject = 'listings'
       left join mirrored on mirrored.collection_id = figures.collection_id
       left join sold on sold.collection_id = figures.collection_id
       left join indexer.collection_analytics as analytics on analytics.collection_id = figures.collection_id
       left join indexer.collection_stats as stats on stats.collection_id = figures.collection_id
       where recorded and starts_with(figures.collection_id, $1)
     ), differences as (
       select collection_id, 'volume key' as figure, null as row, volume_rank::text as stored, coalesce(
           case when is_read then volume end, reported_volume,
           case when is_imported and stated_volume > volume is not true then volume end,
           case when stated_volume > volume and snapshot_volume < volume then null else snapshot_volume end,
           '-Infinity')::text as counted
       from facts
       union all
       select collection_id, 'floor key', null, floor_rank::text, coalesce(
           case when decimals is null then null when listed_floor_raw is not null then listed_floor_raw when is_empty then null
             when none_listed_at is not null and (reported_floor_raw is null or reported_at <= none_listed_at) then null
             else coalesce(reported_floor_raw, nullif(snapshot_floor_raw, 0)) end, '-Infinity')::text
       from facts
     )
     select * from differences where stored is distinct from counted order by collection_id, figure limit $3`,
    [prefix, new Date(now), limit, [...chains.keys()], [...chains.values()].map(({ decimals }) => decimals)],
  );
  return rows.map(decodeFigureDifference);
}
