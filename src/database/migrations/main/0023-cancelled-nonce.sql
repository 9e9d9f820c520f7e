-- Finds the cancel of one nonce without reading all cancels of an account, which may have cancelled many nonces.
create index chain_event_by_cancelled_nonce on main.chain_event (chain, contract, account, ((details ->> 'nonce')::numeric))
  where kind = 'nonce-cancelled';
