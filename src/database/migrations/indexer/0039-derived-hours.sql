-- The first hour of market_hour with recorded figures. Earlier hours were derived from imported listings. Null if no hour was derived.
alter table indexer.collection_figures add column recorded_from timestamptz;

-- When a listing that has ended was filled or cancelled, as its record states.
alter table indexer.listing add column closed_at timestamptz;
