// Reads bids for the explore interface: those of the service, and those that marketplaces have reported. Primary database.

import type { Queryable } from '../../../platform/database/port.ts';
import { queryHot } from '../../../platform/database/port.ts';
import {
  address,
  amount,
  assetId,
  column,
  hex,
  list,
  nullable,
  object,
  oneOf,
  rowDecoder,
  safeInteger,
  text,
  timestamp,
} from '../../../platform/database/rows.ts';
import { LISTING_STATUSES } from '../../orders/order-id.ts';
import { DORMANT_REASONS } from '../../orders/status.ts';

export const BID_KINDS = ['item', 'collection', 'trait'] as const;
/** `item`: a bid for one token. `collection`: for any token of the collection. `trait`: for any token of a set. */
export type BidKind = (typeof BID_KINDS)[number];

/** The columns that `decodeListedBid` reads. */
export const BID_COLUMNS = `id, collection_id, contract_address, token_id, root, price_raw, proceeds_raw, seller, status, dormant, created_at, starts_at,
  expires_at, ended_at, tx, coalesce(order_hash, reported_hash) as order_hash, quantity, filled_quantity, source, currency, (
    select json_build_object('tokens', named.tokens, 'traits', named.traits) from main.token_set as named
    where named.collection_id = book_order.collection_id and named.root = book_order.root) as tokens`;

/**
 * `source`: the marketplace that has reported the bid; null for a bid of the service. `currency`: the contract of its currency; null for the wrapped
 * native one. `tokens`: the number of tokens of the set, and the traits that name it; null if the bid names no set. Times in milliseconds.
 */
export const decodeListedBid = rowDecoder('book_order', {
  orderId: column('id', text),
  collectionId: column('collection_id', text),
  contractAddress: column('contract_address', address),
  source: nullable(text),
  currency: nullable(address),
  asset: column('token_id', nullable(assetId)),
  root: nullable(hex),
  raw: column('price_raw', amount),
  proceeds: column('proceeds_raw', amount),
  bidder: column('seller', address),
  status: oneOf(LISTING_STATUSES),
  dormant: nullable(oneOf(DORMANT_REASONS)),
  createdAt: column('created_at', timestamp),
  startsAt: column('starts_at', nullable(timestamp)),
  expiresAt: column('expires_at', nullable(timestamp)),
  endedAt: column('ended_at', nullable(timestamp)),
  tx: nullable(text),
  orderHash: column('order_hash', nullable(text)),
  quantity: amount,
  filled: column('filled_quantity', amount),
  tokens: nullable(object({ tokens: safeInteger, traits: nullable(list(object({ name: text, value: text }))) })),
});

export type ListedBid = ReturnType<typeof decodeListedBid>;

export async function findBid(db: Queryable, orderId: string): Promise<ListedBid | null> {
  const [row] = await db.query(`select ${BID_COLUMNS} from main.book_order where id = $1 and side = 'bid'`, [orderId]);
  return row ? decodeListedBid(row) : null;
}

/** The bid in the wrapped native currency whose seller keeps most. `source` as in `ListedBid`. `proceeds` and `raw`, the price, are for one unit. */
export type TopBid = {
  orderId: string;
  source: string | null;
  kind: BidKind;
  raw: bigint;
  proceeds: bigint;
  expiresAt: number | null;
};

/** A token, or a whole collection: then only bids for any of its tokens count. */
export type BidSubject = { collectionId: string; asset: string | null };

const decodeTopBid = rowDecoder('book_order', {
  position: safeInteger,
  orderId: column('id', text),
  source: nullable(text),
  kind: oneOf(BID_KINDS),
  raw: column('price_raw', amount),
  proceeds: column('proceeds_raw', amount),
  expiresAt: column('expires_at', nullable(timestamp)),
});

/** SQL for what the bids that the owner of a token can accept name: the token, the collection, and each set with the token. `token` is null for a collection. */
const namedSql = (collection: string, token: string) => `(
       select '' as name union all select ${token} where ${token} is not null
       union all select root from main.token_set_member as member
       where member.collection_id = ${collection} and member.token_id = ${token}) as named`;

/** SQL for the best bid of the collection, in the wrapped native currency, that names `named` and meets the condition. Each is one search in an index. */
const bestSql = (collection: string, now: string, condition = 'true') => `(
       select id, source, case when token_id is not null then 'item' when root is not null then 'trait' else 'collection' end as kind,
         price_raw, proceeds_raw, expires_at from main.book_order
       where side = 'bid' and status = 'active' and dormant is null and collection_id = ${collection}
         and coalesce(token_id, root, '') = named.name and coalesce(currency, '') = '' and (expires_at is null or expires_at > ${now})
         and (starts_at is null or starts_at <= ${now}) and ${condition}
       order by proceeds_raw desc, id limit 1) as best`;

const TOP_BIDS = `select distinct on (position) position::int, best.* from
       unnest($1::text[], $2::text[]) with ordinality as wanted (collection_id, asset, position)
     cross join lateral ${namedSql('wanted.collection_id', 'wanted.asset')}
     cross join lateral ${bestSql('wanted.collection_id', '$3')}
     order by position, proceeds_raw desc, id`;

/** The top bid of each subject, in the order of the subjects. Null for a subject without a bid. */
export async function listTopBids(
  db: Queryable,
  subjects: readonly BidSubject[],
  now: number,
): Promise<(TopBid | null)[]> {
  if (subjects.length === 0) return [];
  const rows = await queryHot(db, TOP_BIDS, [
    subjects.map(({ collectionId }) => collectionId),
    subjects.map(({ asset }) => asset),
    new Date(now),
  ]);
  const found = new Map(rows.map(decodeTopBid).map(({ position, ...bid }) => [position, bid]));
  return subjects.map((_, index) => found.get(index + 1) ?? null);
}

const decodeTraitBid = rowDecoder('token_set', { name: text, value: text });

/** The top bids for sets that one trait names. Each trait has one element for each of its sets with a bid. */
export async function listTopBidsOfTraits(
  db: Queryable,
  collectionId: string,
  now: number,
): Promise<{ name: string; value: string; bid: TopBid }[]> {
  const rows = await db.query(
    `select traits -> 0 ->> 'name' as name, traits -> 0 ->> 'value' as value, 0 as position, best.* from main.token_set
     cross join lateral (select token_set.root as name) as named
     cross join lateral ${bestSql('token_set.collection_id', '$2')}
     where token_set.collection_id = $1 and jsonb_array_length(traits) = 1`,
    [collectionId, new Date(now)],
  );
  return rows.map((row) => {
    const { position: _position, ...bid } = decodeTopBid(row);
    return { ...decodeTraitBid(row), bid };
  });
}

/** The place of an offer in its list: by chain, then the highest proceeds first. */
export type OfferPosition = { chain: string; proceeds: string; collectionId: string; asset: string };

/** `most`: the highest proceeds of a bid for anything in the collection, in the wrapped native currency. The top bid of the token is at most this. */
const decodeHeld = rowDecoder('holding', {
  collectionId: column('collection_id', text),
  asset: column('token_id', assetId),
  most: column('proceeds_raw', amount),
});
type Held = ReturnType<typeof decodeHeld> & { chain: string };

export type Offer = Pick<Held, 'chain' | 'collectionId' | 'asset'> & { bid: TopBid };

const HELD_WITH_BIDS = `select holding.collection_id, token_id, proceeds_raw from main.holding
     cross join lateral (
       select proceeds_raw from main.book_order
       where side = 'bid' and status = 'active' and dormant is null and currency is null and collection_id = holding.collection_id
       order by proceeds_raw desc limit 1) as top
     where holder = $1 and quantity > 0`;

const OFFERED = `select distinct on (position) position::int, best.* from
       unnest($1::text[], $2::text[]) with ordinality as held (collection_id, token_id, position)
     cross join lateral (select from main.follow where follow.collection_id = held.collection_id and joined offset 0) as followed
     cross join lateral ${namedSql('held.collection_id', 'held.token_id')}
     cross join lateral ${bestSql('held.collection_id', '$3', 'seller <> $4')}
     order by position, proceeds_raw desc, id`;

/** The top bids of this many tokens are searched first, and then of twice as many each time. */
const FIRST_SEARCH = 100;

/**
 * The tokens that the account holds, by the logs of the followed chains, and for which somebody else has bid, each with its top bid, the best first. The tokens of
 * the collections with the highest bids are searched first, until no other token can come before the rows of the page.
 */
export async function listOffers(
  db: Queryable,
  query: { account: string; chains: readonly string[]; after: OfferPosition | null; limit: number; now: number },
): Promise<Offer[]> {
  const { account, chains, after, limit, now } = query;
  const held = (await queryHot(db, HELD_WITH_BIDS, [account]))
    .map(decodeHeld)
    .map((row): Held => ({ ...row, chain: row.collectionId.slice(0, row.collectionId.indexOf('_')) }))
    .filter(({ chain }) => chains.includes(chain) && (after === null || chain >= after.chain))
    .sort((a, b) => compareOffers(toBest(a), toBest(b)));
  let offers: Offer[] = [];
  for (let searched = 0, size = FIRST_SEARCH; searched < held.length; searched += size, size *= 2) {
    const part = held.slice(searched, searched + size);
    const rows = await queryHot(db, OFFERED, [
      part.map(({ collectionId }) => collectionId),
      part.map(({ asset }) => asset),
      new Date(now),
      account,
    ]);
    const found = rows.map(decodeTopBid).flatMap(({ position, ...bid }): Offer[] => {
      const token = part[position - 1];
      return token ? [{ chain: token.chain, collectionId: token.collectionId, asset: token.asset, bid }] : [];
    });
    offers = [...offers, ...found.filter((offer) => after === null || compareOffers(offer, toOffer(after)) > 0)].sort(
      compareOffers,
    );
    const [last, next] = [offers[limit - 1], held[searched + size]];
    if (last && next && compareOffers(last, toBest(next)) < 0) break;
  }
  return offers.slice(0, limit);
}

type Place = { chain: string; collectionId: string; asset: string; bid: { proceeds: bigint } };

/** The first place that the offer for a token can have. */
const toBest = ({ most, ...place }: Held): Place => ({ ...place, bid: { proceeds: most } });

const toOffer = ({ proceeds, ...place }: OfferPosition): Place => ({ ...place, bid: { proceeds: BigInt(proceeds) } });

function compareOffers(a: Place, b: Place): number {
  return (
    compare(a.chain, b.chain) ||
    compare(b.bid.proceeds, a.bid.proceeds) ||
    compare(a.collectionId, b.collectionId) ||
    compare(a.asset, b.asset)
  );
}

function compare<T extends string | bigint>(a: T, b: T): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
