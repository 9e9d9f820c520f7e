-- The names of followed collections at vendors that use names of their own, one row for each name. The table replaces the columns
-- `opensea_slug` and `magiceden_symbol` of `follow`.
create table main.follow_name (
  collection_id text collate "C" not null references main.follow on delete cascade,
  -- The identifier of the vendor in this program, such as `opensea` or `magic-eden`.
  vendor        text collate "C" not null,
  -- The name of the collection at the vendor, such as a slug at OpenSea or a symbol at Magic Eden.
  name          text not null,
  primary key (collection_id, vendor)
);

insert into main.follow_name (collection_id, vendor, name)
select collection_id, 'opensea', opensea_slug from main.follow where opensea_slug is not null
union all
select collection_id, 'magic-eden', magiceden_symbol from main.follow where magiceden_symbol is not null;

alter table main.follow drop column opensea_slug, drop column magiceden_symbol;
