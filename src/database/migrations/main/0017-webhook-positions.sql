-- The sequence numbers of events decide which events a webhook receives. Times cannot decide this, because the clocks of two processes may
-- differ, and a clock may be set back.

-- The position in the sequence of events at which the webhook was created. The webhook receives only events with a larger sequence number. The
-- default takes the next number of the sequence, so that processes of an earlier version, which do not know the column, write it too.
alter table main.webhook add column created_sequence bigint not null default nextval('main.event_sequence_seq');
-- The position in the sequence of events at which the webhook was disabled; null while it is enabled. A disabled webhook still receives
-- the events with a smaller sequence number.
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
