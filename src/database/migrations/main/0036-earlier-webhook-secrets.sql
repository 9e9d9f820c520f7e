-- The secrets that were replaced before `previous_secret`, and until when deliveries are also signed with each of them.
alter table main.webhook
  add column earlier_secrets text[] not null default '{}',
  add column earlier_secrets_until timestamptz[] not null default '{}';
