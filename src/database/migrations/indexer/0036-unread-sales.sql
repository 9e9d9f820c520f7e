-- The stored sums of sales follow a new rule. A sale whose seller is the zero address counts, because the source then does not know the seller. A sale
-- from an account to itself does not count. A sale without a price in base units has no part in `volume_raw`, and counts in `sales`.
-- `unread`: how many of the counted sales have a price or a currency that cannot be read. While it is above zero, the volume is not known.
alter table indexer.sale_total add column unread bigint not null default 0;
alter table indexer.sale_hour add column unread bigint not null default 0;
-- Through this index, reads find the few hours with unread sales. They read the other sums from the index of the primary key.
create index sale_hour_unread on indexer.sale_hour (collection_id, hour) where unread > 0;

-- Computes the sums again from the stored sales, by the rule of src/market/queries/sale-rule.ts.
truncate indexer.sale_total, indexer.sale_hour;

insert into indexer.sale_hour (collection_id, hour, volume_raw, sales, unread)
select collection_id, date_trunc('hour', sold_at, 'UTC') as hour, coalesce(sum(price_raw), 0), count(*),
  count(*) filter (where price_raw is null and price !~* '^(?:\d[\d.,]*(?:e[+-]?\d+)? (?:0x[0-9a-f]{40}|(?!(?:erc-?\d+|spl|token|unknown|undefined|null|none|nan|n[/]a)$)[a-z$€£¥][^ ()]{0,40})$|\d+(?: native and \d+)? of 0x[0-9a-f]{40})')
from indexer.sale
where price_raw is distinct from 0 and not coalesce(seller = buyer and seller !~ '^(?:0x0+|1{32})$', false)
  and not (price = 'unknown' and block_number is not null)
group by collection_id, hour order by hour, collection_id;

insert into indexer.sale_total (collection_id, volume_raw, sales, unread)
select collection_id, sum(volume_raw), sum(sales), sum(unread) from indexer.sale_hour group by collection_id;

-- The ranking by volume depends on the sums. The task that keeps the ranking computes these keys again.
update indexer.collection_figures set ranks_valid_until = '1970-01-01T00:00:00Z'
where recorded and collection_id in (select collection_id from indexer.sale);
