-- The primary keys include the other columns, so that PostgreSQL reads the hours of a collection from the index and not from the table. In the
-- table, rows are in the order of time, over all collections. Therefore nearly every hour of one collection is on a different page.
alter table indexer.market_hour drop constraint market_hour_pkey;
alter table indexer.market_hour add constraint market_hour_pkey primary key (collection_id, hour)
  include (floor_high_raw, floor_low_raw, floor_close_raw, listed);
alter table indexer.sale_hour drop constraint sale_hour_pkey;
alter table indexer.sale_hour add constraint sale_hour_pkey primary key (collection_id, hour) include (volume_raw, sales);
-- PostgreSQL reads a row from the index alone only if a vacuum has visited the row's page since the page was last changed. By default a vacuum begins
-- only when the new rows are a fifth of the table.
alter table indexer.market_hour set (autovacuum_vacuum_insert_scale_factor = 0.02, autovacuum_vacuum_scale_factor = 0.02);
alter table indexer.sale_hour set (autovacuum_vacuum_insert_scale_factor = 0.02, autovacuum_vacuum_scale_factor = 0.02);
