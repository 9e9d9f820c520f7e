-- Search of collections by name. Each word of a name gets two spaces before it and one space after it. Every three successive characters of
-- the result are a trigram. src/explore/trigrams.ts computes the same trigrams. The C collation converts only ASCII letters to lower case. So both
-- database engines return the same trigrams in every locale.
create function main.trigrams(text) returns text[] language sql immutable strict parallel safe as $$
  select coalesce(array_agg(distinct substr(padded.word, place, 3)), '{}')
  from (
    select '  ' || word || ' ' as word from regexp_split_to_table(lower($1 collate "C"), '[ -/:-@\[-`{-~]+') as word where word <> ''
  ) as padded cross join lateral generate_series(1, length(padded.word) - 2) as place
$$;

create index collection_by_name on main.collection (left(lower(name collate "C"), 100), id);
create index collection_by_trigrams on main.collection using gin (main.trigrams(left(name, 200)));
create index collection_metadata_by_name on main.collection_metadata (left(lower(name collate "C"), 100), collection_id) where name is not null;
create index collection_metadata_by_trigrams on main.collection_metadata using gin (main.trigrams(left(name, 200))) where name is not null;
