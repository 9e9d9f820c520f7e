-- Adds API keys without a shop, for the intake interface, and the end of a key that a rotation has replaced.

alter table main.api_key alter column shop_id drop not null;

-- A key without a shop may have only scopes of the intake interface. The constraint makes sure that no code can store another scope.
alter table main.api_key add constraint api_key_without_shop
  check (shop_id is not null or scopes <@ array['orders:write', 'intake:write']);

-- A rotation replaces a key by a new key. Until `replaced_at` both keys are valid, and after this time only the new key. Null if the key was
-- never rotated. A rotation does not change `expires_at` of the old key. The new key has the same `expires_at`.
alter table main.api_key add column replaced_at timestamptz;

-- An import can change stock. `source` is then `import`. `key_id` is null if the change was made without an API key.
alter table main.adjustment alter column key_id drop not null;
alter table main.adjustment drop constraint adjustment_source_check;
alter table main.adjustment add constraint adjustment_source_check check (source in ('inventory', 'product', 'import'));
