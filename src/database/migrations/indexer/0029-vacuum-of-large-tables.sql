-- By default PostgreSQL vacuums a table when a fifth of its rows are dead, and analyzes it when a tenth has changed. In a table of millions of
-- listings, a few per cent of the rows die each day. Many of the dead rows are at the cheap end of the indexes by price, where reads begin. With the
-- default, the dead rows of several days would stay there.
alter table indexer.listing set (autovacuum_vacuum_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02);
alter table indexer.listed_asset set (autovacuum_vacuum_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02);
alter table indexer.token set (autovacuum_vacuum_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02);
alter table indexer.holder set (autovacuum_vacuum_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02);
alter table indexer.sale set (autovacuum_vacuum_insert_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02);
