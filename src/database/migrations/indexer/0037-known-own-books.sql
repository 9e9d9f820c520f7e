-- Whether the own order book has an order of the collection, of any status. Only then the book is known to be empty when it has none.
alter table indexer.collection_figures add column own_known boolean not null default false;

-- Zero is no floor. These ranking keys are computed again.
update indexer.collection_figures set ranks_valid_until = 'epoch' where floor_rank = 0;
