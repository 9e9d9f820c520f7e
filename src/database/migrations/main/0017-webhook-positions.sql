-- Which events a webhook receives is decided by the sequence of events. Times are no measure: the clocks of two processes may differ, and
-- a clock may be set back.

-- A webhook receives the events with a larger sequence. The default draws a number, so that older processes write the column too.
alter table main.webhook add column created_sequence bigint not null default nextval('main.event_sequence_seq');
-- Null while the webhook is enabled. A disabled webhook receives the events with a smaller sequence.
alter table main.webhook add column disabled_sequence bigint;

update main.webhook set created_sequence = coalesce(
  (select min(event.sequence) - 1 from main.event
   where event.shop_id = webhook.shop_id and event.created_at >= webhook.created_at),
  (select max(sequence) from main.event),
  0);

update main.webhook set disabled_sequence = coalesce(
  (select max(event.sequence) + 1 from main.event
   where event.shop_id = webhook.shop_id and event.created_at < webhook.disabled_at),
  0)
where not enabled;
