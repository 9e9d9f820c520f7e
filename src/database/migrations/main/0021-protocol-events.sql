-- Indexes for two kinds of events of further settlement protocols. `nonce-cancelled`: an account has cancelled the orders that were signed with
-- one nonce. `token-bid`: a bid for a token, stored for protocols whose event of the later sale does not contain the price.
create index chain_event_by_nonce on main.chain_event (chain, contract, account) where kind = 'nonce-cancelled';
create index chain_event_by_bid on main.chain_event (chain, contract, token_id, block_number, log_index) where kind = 'token-bid';
