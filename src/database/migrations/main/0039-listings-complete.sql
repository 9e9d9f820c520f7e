-- True if the imported listings are all listings of the collection, also those that have ended. Null if the record does not say so.
alter table main.collection add column listings_complete boolean;
