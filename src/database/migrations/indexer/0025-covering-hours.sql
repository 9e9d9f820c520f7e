-- The hours of a collection are read from the primary keys alone. The tables have the hours of all collections in the order of time, so the
-- hours of one collection are on as many pages as there are hours.
alter table indexer.market_hour drop constraint market_hour_pkey;
alter table indexer.market_hour add constraint market_hour_pkey primary key (collection_id, hour)
  include (floor_high_raw, floor_low_raw, floor_close_raw, listed);
alter table indexer.sale_hour drop constraint sale_hour_pkey;
alter table indexer.sale_hour add constraint sale_hour_pkey primary key (collection_id, hour) include (volume_raw, sales);
-- Only of pages that a vacuum has seen are rows read from the index alone. By default a fifth of a table may be new before a vacuum begins.
alter table indexer.market_hour set (autovacuum_vacuum_insert_scale_factor = 0.02, autovacuum_vacuum_scale_factor = 0.02);
alter table indexer.sale_hour set (autovacuum_vacuum_insert_scale_factor = 0.02, autovacuum_vacuum_scale_factor = 0.02);
