-- Evidence for judged listings: mirrored listings whose state is derived from the chain log. For these listings, the log also stores the cancels
-- of accounts that have held a token of a followed collection.

-- The orders, tokens and accounts whose events the reorganisation deleted. The listings that were judged by these events are judged again.
-- Null for a reorganisation that was stored before this column existed.
alter table main.chain_reorg add column affected jsonb;

-- With these two indexes a query finds out whether an account has ever held a token of a followed collection: the account holds such a token
-- now, or it has sent one.
create index holding_by_account on main.holding (holder, collection_id);
drop index main.holding_by_holder;
create index chain_event_by_sender on main.chain_event (chain, account, contract) where kind = 'transfer';
