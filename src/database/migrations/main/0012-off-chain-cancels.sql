-- Who cancelled an order without a transaction: its offerer by a signature, or the operator.
alter table main.order_cancel rename column word to cancelled_by;
alter table main.order_cancel rename constraint order_cancel_word_check to order_cancel_cancelled_by_check;
