-- The primary database: what the service itself is the authority for.
-- Every cursor order and every id comparison is in the C collation, so that both engines and every node agree on it.

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

-- The own order book. The id is `<chain>_<contract>_<tokenId>_<epochMillis>`, opaque to everyone but its maker.
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

-- A window walks the book in this order; a floor is its first entry that has not expired.
create index book_order_active_by_price on main.book_order (collection_id, price_raw, id)
  where status = 'active' and price_raw > 0;
create index book_order_active_by_token on main.book_order (collection_id, token_id)
  where status = 'active' and price_raw > 0;
create index book_order_active_by_expiry on main.book_order (expires_at)
  where status = 'active' and expires_at is not null;

-- The newest dollar rate of each native currency.
create table main.rate (
  symbol text collate "C" primary key,
  usd    double precision not null check (usd > 0),
  at     timestamptz not null
);

-- The last buyer floor that could be resolved, kept for the chains that the specification names.
create table main.last_buyer_floor (
  collection_id text collate "C" primary key,
  floor_raw     numeric(78, 0) not null,
  observed_at   timestamptz not null
);

-- Secrets that all nodes share, such as the key that authenticates cursors.
create table main.secret (
  name       text collate "C" primary key,
  value      bytea not null,
  created_at timestamptz not null default now()
);
