-- Renames the column that says who cancelled an order off the chain: the offerer, by a signature, or the operator of the service.
alter table main.order_cancel rename column word to cancelled_by;
alter table main.order_cancel rename constraint order_cancel_word_check to order_cancel_cancelled_by_check;
