-- What a mirrored listing is judged by: the cancels of accounts that have held a token of a followed collection, and what a
-- reorganisation revoked.

-- The orders, tokens and accounts whose events a reorganisation deleted: the rows that were judged by these events are judged again.
-- Null for reorganisations before this column existed.
alter table main.chain_reorg add column affected jsonb;

-- Whether an account has ever held a token of a followed collection: it holds one, or it has transferred one.
create index holding_by_account on main.holding (holder, collection_id);
drop index main.holding_by_holder;
create index chain_event_by_sender on main.chain_event (chain, account, contract) where kind = 'transfer';
