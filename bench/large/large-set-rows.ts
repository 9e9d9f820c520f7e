// Returns the statements that make the rows of the large set (large-set.ts). Sales and listings are made in the order of their times, each of a random
// collection. So the rows of a collection are spread over the table, as they are when a service follows a market.

/** The rows at share 1. */
const ROWS = { collections: 20_000, sales: 20_000_000, listings: 5_000_000, tokens: 10_000_000 };

export type LargeSize = typeof ROWS;

/** `share`: above 0, at most 1. `sales`: the number of sales. Default: the share of 20 million. */
export function sizeOf(share: number, { sales }: { sales?: number } = {}): LargeSize {
  const part = (rows: number) => Math.max(1, Math.round(rows * share));
  return {
    collections: part(ROWS.collections),
    sales: sales ?? part(ROWS.sales),
    listings: part(ROWS.listings),
    tokens: part(ROWS.tokens),
  };
}

/** The expected number of rows of a collection is in proportion to `1 / rank ^ SKEW`. The largest collection has rank 1. */
const SKEW = 0.82;
const CHAINS = ['ethereum', 'ethereum', 'ethereum', 'polygon', 'base', 'solana', 'apechain', 'abstract', 'ink'];
/** The tokens of a collection have traits if its rank modulo `every` is `place`. */
const TRAITED = { every: 50, place: 7 };
/** An EVM collection has up to `orders` own orders if its rank modulo `every` is `place`. Other collections have none. */
const OWN_ORDERS = { every: 10, place: 1, orders: 250 };
const TOKENS_PER_WALLET = 20;
const WALLETS_MIN = 50;
/** The age of the oldest sale and of the oldest listing, in days. */
const DAYS = { sales: 730, listings: 180 };
/** With a value above 1, sales and listings become denser towards the present. */
const DENSITY = 1.3;
const EXPIRY_DAYS = 60;

export type RowsSql = {
  collections: string[];
  token: string;
  listing: string;
  sale: string;
  /** Figures that follow from the other tables. */
  figures: string[];
};

/** `now` in ISO 8601. The statements must run in the order of the fields. */
export function rowsSql({ now, seed, ...size }: LargeSize & { now: string; seed: number }): RowsSql {
  const present = `timestamptz '${now}'`;
  const wallets = Math.max(WALLETS_MIN, Math.round(size.tokens / TOKENS_PER_WALLET));
  let purposes = 0;
  /**
   * Returns a function that makes SQL expressions: they map `number` to a pseudorandom number from 0 to 1. Each returned function maps
   * differently.
   */
  const newRandom = () => {
    const purpose = seed * 1_000 + (purposes += 1);
    return (number: string) =>
      `((hashint8extended(${number}, ${purpose}) & 9007199254740991) / 9007199254740992.0::float8)`;
  };
  const inverse = 1 - SKEW;
  const range = `(power(${size.collections} + 1, ${inverse}) - 1)`;
  /** The rank of a collection, drawn with a probability in proportion to its expected number of rows. */
  const rankAt = (random: string) =>
    `least(${size.collections}, greatest(1, floor(power(${random} * ${range} + 1, ${1 / inverse}))))::int`;
  const timeOf = (rows: number, days: number) =>
    `date_trunc('milliseconds', ${present} - interval '${days} days' * power(1 - n / ${rows}.0::float8, ${DENSITY}))`;

  const base58 = (text: string) => `translate(${text}, '0', 'g')`;
  const account = (number: string) => `case when on_solana
    then 'C' || left(${base58(`md5('owner ' || ${number}) || md5('wallet ' || ${number})`)}, 43)
    else '0x' || md5('wallet ' || ${number}) || lpad(to_hex(${number}), 8, '0') end`;
  const assetOf = (number: string) => `case when on_solana
    then 'C' || left(${base58(`md5('mint ' || rank || ' ' || ${number}) || md5('asset ' || rank || ' ' || ${number})`)}, 43)
    else (${number})::text end`;
  const transactionOf = (kind: string) => `case when on_solana
    then 'C' || left(${base58(['one', 'two', 'three'].map((part) => `md5('${kind} ${part} ' || n)`).join(' || '))}, 86)
    else '0x' || md5('${kind} one ' || n) || md5('${kind} two ' || n) end`;
  const walletAt = (random: string) => `floor(${wallets} * power(${random}, 2))::int`;
  const ownerRandom = newRandom();
  /** The owner of a token depends only on its collection and its number, so the seller of a listing is the owner of the listed token. */
  const ownerOf = (number: string) => account(walletAt(ownerRandom(`(rank::bigint << 32) + ${number}`)));
  const priceAt = (random: string) =>
    `(level * (900 + floor(400 * power(${random}, 3)))::int)::numeric * case when on_solana then 10000 else 10000000000000 end`;
  const digest = (json: string) => `left(encode(sha256(convert_to(${json}, 'UTF8')), 'hex'), 32)::uuid`;
  /** A table expression with `rows` rows in the order of their number `n`. Each row has the columns of a random collection of public.large. */
  const drawn = (rows: number) => {
    const random = newRandom();
    return `(select generate_series(1, ${rows})::bigint as n) as numbered join public.large on rank = ${rankAt(random('n'))}`;
  };

  const [levelRandom, rankRandom, traitRandom] = [newRandom(), newRandom(), newRandom()];
  const [assetRandom, priceRandom, statusRandom, expiryRandom] = [newRandom(), newRandom(), newRandom(), newRandom()];
  const [soldRandom, soldPriceRandom, sellerRandom, buyerRandom] = [newRandom(), newRandom(), newRandom(), newRandom()];
  const traitSql = `jsonb_build_array(${['Hat', 'Eyes', 'Coat', 'Fur', 'Tool']
    .map(
      (name, place) =>
        `jsonb_build_object('kind', 'text', 'name', '${name}', 'value',
          '${name} ' || floor(20 * power(${traitRandom(`(rank::bigint << 36) + n * 8 + ${place}`)}, 2)))`,
    )
    .join(', ')})`;
  const isTraited = `rank % ${TRAITED.every} = ${TRAITED.place}`;
  return {
    collections: [
      `create table public.large as
       select rank, chain, on_solana, address, chain || '_' || lower(address) as id,
         ceil(${size.tokens} * power(rank, -${SKEW}) / sum(power(rank, -${SKEW})) over ())::int as tokens,
         (1 + floor(900 * power(${levelRandom('rank')}, 3)))::int as level
       from (
         select rank, chain, chain = 'solana' as on_solana, case when chain = 'solana'
           then 'C' || left(${base58(`md5('mint ' || rank) || md5('collection ' || rank)`)}, 43)
           else '0x' || md5('contract ' || rank) || lpad(to_hex(rank), 8, '0') end as address
         from (
           select rank::bigint, (array[${CHAINS.map((chain) => `'${chain}'`).join(', ')}])[1 + rank * 7 % ${CHAINS.length}] as chain
           from generate_series(1, ${size.collections}) as rank
         ) as ranked
       ) as located`,
      'alter table public.large add primary key (rank)',
      'analyze public.large',
      `insert into main.collection (id, chain, contract_address, slug, name, royalty_bps, launched, created_at)
       select id, chain, address, 'large-' || rank, 'Collection ' || rank, 500, rank % 500 = 0, ${present} - rank * interval '1 hour' from public.large`,
      `insert into main.catalog_change (collection_id) select id from public.large order by rank`,
      `insert into main.book_order (id, collection_id, chain, contract_address, token_id, price_raw, seller, status, created_at)
       select id || '_' || n || '_' || round(extract(epoch from created_at) * 1000)::bigint, id, chain, address, n::text,
         ${priceAt(priceRandom('(rank << 32) - n'))}, ${ownerOf('n')}, 'active', created_at
       from (
         select *, ${present} - n * interval '1 minute' as created_at
         from public.large cross join lateral generate_series(1, least(tokens, ${OWN_ORDERS.orders})) as n
         where rank % ${OWN_ORDERS.every} = ${OWN_ORDERS.place} and not on_solana
       ) as ordered`,
      `insert into main.collection_book (collection_id) select distinct collection_id from main.book_order`,
    ],
    token: `insert into indexer.token (collection_id, asset, chain, name, image, rarity_rank, rarity_source, owner, traits)
      select id, ${assetOf('n')}, chain, 'Token #' || n, 'ipfs://bafybei' || md5('images ' || rank) || '/' || n || '.png',
        case when ${isTraited} then null when rank % 2 = 1 then 1 + floor(tokens * ${rankRandom('(rank << 32) + n')})::bigint end,
        case when not ${isTraited} and rank % 2 = 1 then 'import' end,
        ${ownerOf('n')}, case when ${isTraited} then ${traitSql} end
      from public.large cross join lateral generate_series(1, tokens) as n`,
    listing: `insert into indexer.listing (key, id, source, chain, collection_id, asset, price_raw, buyer_total_raw, seller, order_hash, status,
        listed_at, expires_at, tx)
      select ${digest(`'["listing","' || source || '","l-' || n || '"]'`)}, 'l-' || n, source, chain, id, ${assetOf('number')}, price_raw,
        case when source = 'magic-eden' then price_raw * 102 / 100 end, ${ownerOf('number')},
        case when source = 'opensea' and not on_solana then '0x' || md5('order one ' || n) || md5('order two ' || n) end, status, listed_at,
        date_trunc('milliseconds', case when status = 'expired' then listed_at + (${present} - listed_at) * ${expiryRandom('n')}
          when n % 10 > 0 then ${present} + interval '1 second' + interval '${EXPIRY_DAYS} days' * ${expiryRandom('n')} end),
        case when status = 'filled' then ${transactionOf('fill')} end
      from (
        select large.*, n, case n % 3 when 0 then 'magic-eden' else 'opensea' end as source, ${timeOf(size.listings, DAYS.listings)} as listed_at,
          1 + floor(tokens * ${assetRandom('n')})::int as number, ${priceAt(priceRandom('n'))} as price_raw,
          (array['filled', 'cancelled', 'expired', 'active', 'active', 'active', 'active', 'active', 'active', 'active'])
            [1 + floor(10 * ${statusRandom('n')})::int] as status
        from ${drawn(size.listings)}
      ) as made`,
    sale: `insert into indexer.sale (key, source, chain, collection_id, asset, price, price_raw, seller, buyer, sold_at, tx, log_index)
      select ${digest(`'["sale of tx","' || chain || '","' || tx || '","' || id || '","' || asset || '",' || log_index || ']'`)}, source, chain, id,
        asset, price_raw::text, price_raw, seller, buyer, sold_at, tx, log_index
      from (
        select chain, id, n, case n % 3 when 0 then 'magic-eden' else 'opensea' end as source, ${timeOf(size.sales, DAYS.sales)} as sold_at,
          ${assetOf(`(1 + floor(tokens * power(${soldRandom('n')}, 1.5))::int)`)} as asset, ${priceAt(soldPriceRandom('n'))} as price_raw,
          case when n % 50 > 0 or on_solana then ${account(walletAt(sellerRandom('n')))} end as seller,
          ${account(walletAt(buyerRandom('n')))} as buyer, ${transactionOf('sale')} as tx, (n % 500)::int as log_index
        from ${drawn(size.sales)}
      ) as made`,
    figures: [
      `insert into indexer.sale_total (collection_id, volume_raw, sales)
       select collection_id, sum(volume_raw), sum(sales) from indexer.sale_hour group by collection_id`,
      `insert into indexer.coverage (collection_id, subject, source, kind, to_time)
       select distinct collection_id, 'listings', 'import', 'imported', ${present} from indexer.listing
       union all select collection_id, 'sales', 'import', 'imported', max(sold_at) from indexer.sale group by collection_id`,
      `insert into indexer.collection_figures (collection_id, listed_assets, mirror_floor_raw, tokens, holders)
       select id, coalesce(assets, 0), floor_raw, coalesce(counted.tokens, 0), coalesce(holders, 0) from public.large
       left join (
         select collection_id, count(*) as assets, min(price_raw) as floor_raw from indexer.listed_asset group by 1
       ) as listed on listed.collection_id = id
       left join (select collection_id, count(*) as tokens from indexer.token group by 1) as counted on counted.collection_id = id
       left join (select collection_id, count(*) as holders from indexer.holder group by 1) as held on held.collection_id = id`,
    ],
  };
}

/**
 * Returns the statements that fill further tables from the rows, by table. `listed` and `counted` are SQL conditions: only the listings
 * that meet `listed`, and the sales that meet `counted`, count.
 */
export function deriveSql({ listed, counted }: { listed: string; counted: string }): Record<string, string> {
  return {
    listed_asset: `insert into indexer.listed_asset (collection_id, asset, listing_key, price_raw, expires_at)
      select distinct on (collection_id, asset) collection_id, asset, key, price_raw, expires_at
      from indexer.listing where ${listed} order by collection_id, asset, price_raw, id, key`,
    holder: `insert into indexer.holder (collection_id, owner, tokens)
      select collection_id, owner, count(*) from indexer.token group by collection_id, owner`,
    sale_hour: `insert into indexer.sale_hour (collection_id, hour, volume_raw, sales)
      select collection_id, date_trunc('hour', sold_at, 'UTC') as hour, sum(price_raw), count(*)
      from indexer.sale where ${counted} group by 1, 2 order by hour`,
  };
}
