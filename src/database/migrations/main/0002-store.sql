-- The tables of the store: shops, API keys, products with their stock, the adjustment log, events, and the responses that are stored for
-- idempotency keys.

create table main.shop (
  id         text collate "C" primary key,
  name       text not null unique,
  created_at timestamptz not null
);

-- The secret of a key is not stored. `hash` is the SHA-256 of the secret. `prefix` is the beginning of the secret, by which people
-- recognise the key.
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

-- The ids sort by creation time, so the list of products is paged by id, newest first. The price is the decimal text that the client sent.
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

-- The adjustment log: one row for each change of a product's stock. The statement that changes the stock also writes the row. Rows are never
-- changed, and they are kept after their product is deleted. `key_id` is the API key that made the change.
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

-- The events of shops. The transaction that makes a change also records the event of the change. `data` is JSON text, which is never
-- changed. The webhook worker later creates the deliveries of the event and sets `fanned_out`.
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

-- The response to the first request with an idempotency key. The transaction that makes the change of the request also stores the response.
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
