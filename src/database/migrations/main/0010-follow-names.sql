-- What a followed collection is called at each vendor that has a name of its own for it: one row a name instead of one column a
-- vendor.
create table main.follow_name (
  collection_id text collate "C" not null references main.follow on delete cascade,
  -- The vendor's name in the program: `opensea`, `magic-eden`.
  vendor        text collate "C" not null,
  -- An OpenSea slug, a Magic Eden symbol.
  name          text not null,
  primary key (collection_id, vendor)
);

insert into main.follow_name (collection_id, vendor, name)
select collection_id, 'opensea', opensea_slug from main.follow where opensea_slug is not null
union all
select collection_id, 'magic-eden', magiceden_symbol from main.follow where magiceden_symbol is not null;

alter table main.follow drop column opensea_slug, drop column magiceden_symbol;
