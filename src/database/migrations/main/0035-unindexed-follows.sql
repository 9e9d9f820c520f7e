-- Contracts that are older than ERC-721 emit transfers whose arguments are not or only partly indexed.
alter table main.follow add column unindexed boolean not null default false;
