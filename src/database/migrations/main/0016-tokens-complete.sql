-- Whether the imported tokens of a collection are all of its tokens.
alter table main.collection add column tokens_complete boolean not null default false;
