-- For counting, by chain, the sales whose price cannot be stored as an amount in the native currency (`price_raw` is null).
create index sale_unpriced on indexer.sale (chain) where price_raw is null;
