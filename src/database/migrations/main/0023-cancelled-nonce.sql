-- Finds one cancelled nonce of an account that has cancelled many.
create index chain_event_by_cancelled_nonce on main.chain_event (chain, contract, account, ((details ->> 'nonce')::numeric))
  where kind = 'nonce-cancelled';
