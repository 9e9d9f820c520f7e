-- Random ids of adjustments and deliveries. The numbers in the column `id` would reveal how many rows other shops have. In rows that are older
-- than this migration, `public_id` is null. Their published id is still made of the number.
alter table main.adjustment add column public_id text collate "C";
alter table main.adjustment alter column public_id set default 'adj_' || replace(gen_random_uuid()::text, '-', '');
alter table main.delivery add column public_id text collate "C";
alter table main.delivery alter column public_id set default 'dlv_' || replace(gen_random_uuid()::text, '-', '');
create unique index delivery_public_id on main.delivery (public_id);

-- When a redelivery, a retry or a recovery last made the delivery due.
alter table main.delivery add column rescheduled_at timestamptz;
