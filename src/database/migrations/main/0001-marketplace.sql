-- The tables of the primary database. The service itself is the authority for their rows.
-- Ids and the other text keys by which pages are sorted use the C collation, so that both database engines sort and compare them in the
-- same way.

create table main.collection (
  id               text collate "C" primary key,
  chain            text collate "C",
  contract_address text collate "C",
  slug             text collate "C" unique,
  name             text not null,
  image            text,
  banner           text,
  description      text,
  token_standard   text,
  royalty_bps      integer check (royalty_bps between 0 and 10000),
  launched         boolean not null default false,
  created_at       timestamptz not null,
  snapshot_floor_raw  numeric(78, 0) check (snapshot_floor_raw >= 0),
  snapshot_volume     double precision,
  snapshot_supply     bigint check (snapshot_supply >= 0),
  snapshot_owners     bigint check (snapshot_owners >= 0)
);

create index collection_by_contract on main.collection (contract_address) where contract_address is not null;

-- The own order book. The id is `<chain>_<contract>_<tokenId>_<epochMillis>`, with the creation time in milliseconds. Clients must treat
-- the id as opaque.
create table main.book_order (
  id               text collate "C" primary key,
  collection_id    text collate "C" not null,
  chain            text collate "C" not null,
  contract_address text collate "C" not null,
  token_id         text collate "C" not null,
  price_raw        numeric(78, 0) not null check (price_raw >= 0),
  seller           text not null,
  status           text not null check (status in ('active', 'filled', 'cancelled', 'expired')),
  created_at       timestamptz not null,
  expires_at       timestamptz,
  tx               text,
  seaport          jsonb
);

-- A listing window reads the active orders of a collection in the order of this index. The ask floor is the price of the first entry that
-- has not expired.
create index book_order_active_by_price on main.book_order (collection_id, price_raw, id)
  where status = 'active' and price_raw > 0;
create index book_order_active_by_token on main.book_order (collection_id, token_id)
  where status = 'active' and price_raw > 0;
create index book_order_active_by_expiry on main.book_order (expires_at)
  where status = 'active' and expires_at is not null;

-- The newest dollar rate of each native currency: `usd` dollars for one unit of the currency.
create table main.rate (
  symbol text collate "C" primary key,
  usd    double precision not null check (usd > 0),
  at     timestamptz not null
);

-- For each collection, the last buyer floor that could be read, in base units. It is served as stale while the present buyer floor cannot be
-- read. It is stored only for the chains with `keepsBuyerFloor` (src/core/chains.ts).
create table main.last_buyer_floor (
  collection_id text collate "C" primary key,
  floor_raw     numeric(78, 0) not null,
  observed_at   timestamptz not null
);

-- Secrets that all nodes share, such as the key that authenticates page cursors.
create table main.secret (
  name       text collate "C" primary key,
  value      bytea not null,
  created_at timestamptz not null default now()
);
