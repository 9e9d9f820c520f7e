-- Webhooks, and the deliveries of events to webhooks.

-- `events` lists the event types to which the webhook subscribes. `disabled_reason` and `disabled_at` say why and when the webhook was
-- disabled; null while it is enabled. The service may disable a webhook, but only the shop can delete it. The secret itself is stored, and
-- not its hash, because the secret signs the deliveries. Until `previous_secret_until`, deliveries are also signed with `previous_secret`.
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
  -- The time of the first failure since the last success; null while the webhook is not failing.
  failing_since         timestamptz,
  version               integer not null default 1,
  created_at            timestamptz not null,
  updated_at            timestamptz not null
);

create index webhook_by_shop on main.webhook (shop_id, id);

-- The delivery of one event to one webhook. A worker leases the delivery, sends the event, and records the result. If the lease ends without
-- a result, the delivery is due again. `claims` is incremented by each lease, so it identifies the lease. A worker whose lease was followed by
-- another lease cannot record a failure any more.
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

-- The statement that leases deliveries reads a few entries of each webhook from this index. So the long queue of one webhook does not slow
-- the deliveries of the others.
create index delivery_due on main.delivery (webhook_id, due_at, id) where state = 'pending';
create index delivery_dead on main.delivery (webhook_id, id) where state = 'dead';
create index delivery_by_webhook on main.delivery (webhook_id, id desc);
create index delivery_by_event on main.delivery (event_id);
create index event_by_age on main.event (created_at);
