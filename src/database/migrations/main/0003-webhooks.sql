-- Webhooks: who is told of what, and what became of telling them.

-- A subscription is disabled with a reason, never deleted but by its shop. The secret signs, so it is kept as it is; the previous one
-- signs too until its time is over.
create table main.webhook (
  id                    text collate "C" primary key,
  shop_id               text collate "C" not null references main.shop (id),
  url                   text not null,
  events                text[] not null,
  description           text,
  secret                text not null,
  previous_secret       text,
  previous_secret_until timestamptz,
  enabled               boolean not null default true,
  disabled_reason       text,
  disabled_at           timestamptz,
  failing_since         timestamptz,
  version               integer not null default 1,
  created_at            timestamptz not null,
  updated_at            timestamptz not null
);

create index webhook_by_shop on main.webhook (shop_id, id);

-- One event on its way to one subscription. A worker leases it, sends, and records what came of it; a lease that runs out makes it
-- due again. `claims` counts the leases: who holds an old one cannot record a failure any more.
create table main.delivery (
  id               bigint generated always as identity primary key,
  webhook_id       text collate "C" not null references main.webhook (id) on delete cascade,
  event_id         text collate "C" not null references main.event (id) on delete cascade,
  state            text not null default 'pending' check (state in ('pending', 'delivered', 'dead')),
  attempts         integer not null default 0,
  due_at           timestamptz not null,
  leased_until     timestamptz,
  claims           integer not null default 0,
  last_attempt_at  timestamptz,
  last_status      integer,
  last_error       text,
  last_duration_ms integer,
  delivered_at     timestamptz,
  created_at       timestamptz not null,
  unique (webhook_id, event_id)
);

-- Claims walk it from subscription to subscription, a few entries each: a long queue of one costs the others nothing.
create index delivery_due on main.delivery (webhook_id, due_at, id) where state = 'pending';
create index delivery_dead on main.delivery (webhook_id, id) where state = 'dead';
create index delivery_by_webhook on main.delivery (webhook_id, id desc);
create index delivery_by_event on main.delivery (event_id);
create index event_by_age on main.event (created_at);
