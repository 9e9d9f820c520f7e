-- The holders of a followed collection are those of its chain: a source may report an owner of a token that does not exist, and several
-- accounts may hold one token (ERC-1155).
alter table indexer.collection_figures rename column has_editions to has_chain_holders;
create index collection_figures_with_chain_holders on indexer.collection_figures (collection_id) where has_chain_holders;

-- Finds the sales of a transaction: a marketplace may report a sale that is read from the chain too.
create index sale_by_tx on indexer.sale (collection_id, tx) where tx is not null;
