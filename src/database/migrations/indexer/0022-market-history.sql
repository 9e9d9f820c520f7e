-- The history of the floor and of the number of listed assets of each collection. Each change of one of these figures adds a point. A point is
-- deleted when it is so old that no reorganisation can take it back. The rows of market_hour are kept permanently.
create table indexer.market_point (
  collection_id text collate "C" not null,
  at            timestamptz not null,
  seq           bigint not null generated always as identity,
  -- The floor in base units; null if there is none, or if it is not known.
  floor_raw     numeric(78, 0),
  -- The number of listed assets. Null if it is not known.
  listed        bigint,
  -- Identifies the point in the activity log.
  key           uuid not null default gen_random_uuid(),
  primary key (collection_id, at, seq)
);
create index market_point_by_time on indexer.market_point (at);

-- One row for each hour that has points. `hour`: the start of the hour in UTC. `floor_high_raw` and `floor_low_raw`: the highest and the lowest
-- floor of the hour's points, null if none of them has a floor. `floor_close_raw` and `listed`: the floor and the number of listed assets of the
-- hour's last point, null if this point lacks the figure. Floors are in base units.
create table indexer.market_hour (
  collection_id   text collate "C" not null,
  hour            timestamptz not null,
  floor_high_raw  numeric(78, 0),
  floor_low_raw   numeric(78, 0),
  floor_close_raw numeric(78, 0),
  listed          bigint,
  primary key (collection_id, hour)
);

-- The time, the floor and the number of listed assets of the collection's last point. All are null before the first point.
alter table indexer.collection_figures add column point_at timestamptz, add column point_floor_raw numeric(78, 0),
  add column point_listed bigint;

-- Adds a first point for each recorded collection that is on a chain and has a known floor. The number of listed assets is null in this point.
update indexer.collection_figures set point_at = date_trunc('milliseconds', now()), point_floor_raw = nullif(floor_rank, '-Infinity')
where recorded and chain <> '' and floor_rank <> '-Infinity';
insert into indexer.market_point (collection_id, at, floor_raw)
select collection_id, point_at, point_floor_raw from indexer.collection_figures where point_at is not null;
insert into indexer.market_hour (collection_id, hour, floor_high_raw, floor_low_raw, floor_close_raw)
select collection_id, date_trunc('hour', point_at, 'UTC'), point_floor_raw, point_floor_raw, point_floor_raw
from indexer.collection_figures where point_at is not null;
