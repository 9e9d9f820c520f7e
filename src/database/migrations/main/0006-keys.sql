-- Keys that belong to no shop, for what comes in through the intake; and keys that keep their own end while they are being replaced.

alter table main.api_key alter column shop_id drop not null;

-- What a key without a shop may do, whatever code makes it: nothing in a shop.
alter table main.api_key add constraint api_key_without_shop
  check (shop_id is not null or scopes <@ array['orders:write', 'intake:write']);

-- Set by a rotation: the secret that replaces this key goes on alone from here. `expires_at` stays what the key was given, so
-- that the one that replaces it inherits that.
alter table main.api_key add column replaced_at timestamptz;

-- A change of stock that came in with an import: no key of the store made it.
alter table main.adjustment alter column key_id drop not null;
alter table main.adjustment drop constraint adjustment_source_check;
alter table main.adjustment add constraint adjustment_source_check check (source in ('inventory', 'product', 'import'));
