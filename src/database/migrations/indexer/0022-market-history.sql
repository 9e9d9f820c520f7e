-- The history of the floor and of the number of listed assets. Every change of them is a point. The points are kept for the time in which a
-- reorganisation may take them back; the rows of the hours are kept for good.
create table indexer.market_point (
  collection_id text collate "C" not null,
  at            timestamptz not null,
  seq           bigint not null generated always as identity,
  -- The floor in base units; null if there is none, or if it is not known.
  floor_raw     numeric(78, 0),
  listed        bigint,
  -- The identity of the point in the activity log.
  key           uuid not null default gen_random_uuid(),
  primary key (collection_id, at, seq)
);
create index market_point_by_time on indexer.market_point (at);

-- One row for each hour with a change. `floor_high_raw` and `floor_low_raw` are those of the points of the hour; the floor and the number of
-- listed assets at its end are those of its last point.
create table indexer.market_hour (
  collection_id   text collate "C" not null,
  hour            timestamptz not null,
  floor_high_raw  numeric(78, 0),
  floor_low_raw   numeric(78, 0),
  floor_close_raw numeric(78, 0),
  listed          bigint,
  primary key (collection_id, hour)
);

-- The last point of each collection.
alter table indexer.collection_figures add column point_at timestamptz, add column point_floor_raw numeric(78, 0),
  add column point_listed bigint;

-- The history begins with the present floors.
update indexer.collection_figures set point_at = date_trunc('milliseconds', now()), point_floor_raw = nullif(floor_rank, '-Infinity')
where recorded and chain <> '' and floor_rank <> '-Infinity';
insert into indexer.market_point (collection_id, at, floor_raw)
select collection_id, point_at, point_floor_raw from indexer.collection_figures where point_at is not null;
insert into indexer.market_hour (collection_id, hour, floor_high_raw, floor_low_raw, floor_close_raw)
select collection_id, date_trunc('hour', point_at, 'UTC'), point_floor_raw, point_floor_raw, point_floor_raw
from indexer.collection_figures where point_at is not null;
