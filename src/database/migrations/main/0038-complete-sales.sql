-- True if all sales of the collection are imported, from the first one on. Null if the record does not say so.
alter table main.collection add column sales_complete boolean;
