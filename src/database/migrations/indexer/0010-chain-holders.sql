-- `has_chain_holders`: true if the holders of the collection come from the log of its chain, which is the case for a followed collection. The
-- holders are then not counted from the owners of tokens: a source may report an owner of a token that does not exist, and several
-- accounts may hold one token (ERC-1155).
alter table indexer.collection_figures rename column has_editions to has_chain_holders;
create index collection_figures_with_chain_holders on indexer.collection_figures (collection_id) where has_chain_holders;

-- Finds the sales of a transaction. A marketplace may report a sale that the service also reads from the chain. The two records are recognised as
-- the same sale by their transaction.
create index sale_by_tx on indexer.sale (collection_id, tx) where tx is not null;
