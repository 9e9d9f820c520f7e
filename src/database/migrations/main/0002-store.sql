-- The store: shops, keys, products, stock with its log, events, and answers kept for idempotency keys.

create table main.shop (
  id         text collate "C" primary key,
  name       text not null unique,
  created_at timestamptz not null
);

-- A key is known by the SHA-256 of its secret. The prefix is for people.
create table main.api_key (
  id           text collate "C" primary key,
  shop_id      text collate "C" not null references main.shop (id),
  name         text,
  prefix       text not null,
  hash         bytea not null unique,
  scopes       text[] not null,
  created_at   timestamptz not null,
  expires_at   timestamptz,
  revoked_at   timestamptz,
  last_used_at timestamptz
);

create index api_key_by_shop on main.api_key (shop_id, created_at);

-- The id is time-ordered: the list is paged by it, newest first. The price is text, exactly as it was given.
create table main.product (
  id                text collate "C" primary key,
  shop_id           text collate "C" not null references main.shop (id),
  name              text not null,
  slug              text collate "C" not null,
  price             text not null,
  type              text not null check (type in ('physical', 'digital', 'nft')),
  description       text,
  image             text,
  more_images       text[] not null,
  inventory         integer not null check (inventory >= 0),
  track_inventory   boolean not null,
  requires_shipping boolean not null,
  weight_grams      double precision not null check (weight_grams >= 0),
  collections       text[] not null,
  version           integer not null default 1,
  created_at        timestamptz not null,
  updated_at        timestamptz not null,
  unique (shop_id, slug)
);

create index product_by_shop on main.product (shop_id, id desc);

-- Every change of stock, append-only, kept after its product is gone. Written by the statement that changes the stock.
create table main.adjustment (
  id         bigint generated always as identity primary key,
  shop_id    text collate "C" not null,
  product_id text collate "C" not null,
  previous   integer not null,
  next       integer not null,
  requested  bigint not null,
  mode       text not null check (mode in ('adjustment', 'set')),
  reason     text not null,
  source     text not null check (source in ('inventory', 'product')),
  key_id     text collate "C" not null,
  created_at timestamptz not null
);

create index adjustment_by_shop on main.adjustment (shop_id, id desc);
create index adjustment_by_product on main.adjustment (shop_id, product_id, id desc);

-- What happened, recorded in the transaction of the change that caused it. `data` is frozen text. Deliveries are made of it
-- afterwards.
create table main.event (
  id         text collate "C" primary key,
  sequence   bigint generated always as identity unique,
  shop_id    text collate "C" not null,
  type       text not null,
  data       text not null,
  created_at timestamptz not null,
  fanned_out boolean not null default false
);

create index event_to_fan_out on main.event (sequence) where not fanned_out;
create index event_by_shop on main.event (shop_id, created_at);

-- The first answer to an idempotency key, stored in the transaction of its effect.
create table main.idempotency (
  key_id         text collate "C" not null,
  idempotency_key text collate "C" not null,
  request_digest bytea not null,
  status         integer not null,
  headers        text not null,
  body           text not null,
  created_at     timestamptz not null,
  primary key (key_id, idempotency_key)
);

create index idempotency_by_age on main.idempotency (created_at);
