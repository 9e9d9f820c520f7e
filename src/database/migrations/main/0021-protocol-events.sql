-- Events of further settlement protocols: an account cancels the orders of one nonce, and bids whose price the sale does not repeat.
create index chain_event_by_nonce on main.chain_event (chain, contract, account) where kind = 'nonce-cancelled';
create index chain_event_by_bid on main.chain_event (chain, contract, token_id, block_number, log_index) where kind = 'token-bid';
