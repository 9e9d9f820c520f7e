-- Counts the sales without a native price by chain.
create index sale_unpriced on indexer.sale (chain) where price_raw is null;
