// Lists orders of any status, of the own order book (primary database) and of the mirror (indexer database). A statement reads the rows of a page in
// the order of an index, except where the comments name a limit.

import type { Queryable, Row } from '../../../platform/database/port.ts';
import { column, nullable, oneOf, rowDecoder, timestamp } from '../../../platform/database/rows.ts';
import type { ListingDormancy } from '../../index/listing-judgement.ts';
import { LISTING_DORMANCIES } from '../../index/listing-judgement.ts';
import type { MirroredListing } from '../../index/queries/listings.ts';
import { LISTING_COLUMNS, decodeMirroredListing } from '../../index/queries/listings.ts';
import type { ListingStatus } from '../../orders/order-id.ts';
import { LISTING_STATUSES } from '../../orders/order-id.ts';
import type { FillableOrder } from '../../orders/queries/fillable-orders.ts';
import { ORDER_COLUMNS, decodeFillableOrder } from '../../orders/queries/fillable-orders.ts';
import type { DormantReason } from '../../orders/status.ts';
import type { BidKind, ListedBid } from './bids.ts';
import { BID_COLUMNS, decodeListedBid } from './bids.ts';
import { DORMANT_REASONS } from '../../orders/status.ts';

/** `active`: can be filled now. `dormant`: has not ended, and cannot be filled at present. The others: how an order has ended. */
export const ORDER_LIST_STATUSES = ['active', 'dormant', 'filled', 'cancelled', 'expired'] as const;
export type OrderListStatus = (typeof ORDER_LIST_STATUSES)[number];

/** `price` and `expires` begin with the lowest value, `created` with the newest order. `expires` leaves out orders that do not expire. */
export const ORDER_SORTS = ['price', 'created', 'expires'] as const;
export type OrderSort = (typeof ORDER_SORTS)[number];

/**
 * A filter that is null selects all orders. `asset` needs `collectionId`. The sorts `price` and `expires` are for the state `active` and the
 * orders of one collection. The other states need a collection or an account. `now` in milliseconds.
 */
export type OrderFilter = {
  collectionId: string | null;
  asset: string | null;
  account: string | null;
  state: OrderListStatus;
  sort: OrderSort;
  now: number;
};

/** Where a page begins: after the given row, or at or after all rows with the given value of the sort. Times as ISO texts. */
export type OrderStart =
  | { kind: 'after-row'; value: string; ties: readonly string[] }
  | { kind: 'at-value' | 'after-value'; value: string };

export type OrderPageQuery = { start: OrderStart | null; limit: number };

export type OrderOfMirror = { listing: MirroredListing; status: ListingStatus; dormant: ListingDormancy | null };
/** `startsAt` in milliseconds. Null for an order that was stored without its signed terms. */
export type OrderOfBook = {
  order: FillableOrder;
  status: ListingStatus;
  dormant: DormantReason | null;
  startsAt: number | null;
};

/** `sorts`: the columns that a list is sorted by, with their types. The columns after the first one make the order of the rows unique. */
type OrderTable = {
  name: string;
  columns: string;
  sorts: Readonly<Record<OrderSort, readonly (readonly [name: string, type: string])[]>>;
  /** Whether an order can have a time before which it cannot be filled. */
  hasStart: boolean;
  /** SQL that finds the orders that start later by an index. `now` is the parameter that holds the time. */
  isPlanned?: (now: string) => string;
  /** The condition for the rows of the list that is part of every index; null if the table has no other rows. */
  condition: string | null;
  /** The sorts that begin with the highest value. */
  descending: ReadonlySet<OrderSort>;
  /** SQL for the source of a row: a marketplace. `OWN_SOURCE` for the rows of the service, if the table has them. */
  source: string;
  /** The condition for the rows whose prices can be compared, if not all can. */
  isComparable?: string;
  /** SQL for the rows of a token. `param` is the parameter that holds the token. */
  ofToken: (param: string) => string;
};

/** The source of the orders of the service. */
export const OWN_SOURCE = '';

const MIRROR: OrderTable = {
  name: 'indexer.listing',
  columns: `${LISTING_COLUMNS}, status, dormant`,
  sorts: {
    price: [
      ['price_raw', 'numeric'],
      ['id', 'text'],
      ['key', 'uuid'],
    ],
    created: [
      ['listed_at', 'timestamptz'],
      ['key', 'uuid'],
      ['collection_id', 'text'],
    ],
    expires: [
      ['expires_at', 'timestamptz'],
      ['key', 'uuid'],
      ['collection_id', 'text'],
    ],
  },
  hasStart: false,
  condition: null,
  descending: new Set(['created']),
  source: 'source',
  ofToken: (param) => `asset = ${param}`,
};

const BOOK: OrderTable = {
  name: 'main.book_order',
  columns: `${ORDER_COLUMNS}, status, dormant, starts_at`,
  sorts: {
    price: [
      ['price_raw', 'numeric'],
      ['id', 'text'],
    ],
    created: [
      ['created_at', 'timestamptz'],
      ['id', 'text'],
    ],
    expires: [
      ['expires_at', 'timestamptz'],
      ['id', 'text'],
    ],
  },
  hasStart: true,
  // `book_start` has the assets of the asks that start later.
  isPlanned: (now) =>
    `(collection_id, token_id) in (select collection_id, asset from main.book_start where starts_at > ${now})`,
  condition: `side = 'ask'`,
  descending: new Set(['created']),
  source: `'${OWN_SOURCE}'`,
  ofToken: (param) => `token_id = ${param}`,
};

/** The best bid comes first. A list by price has the bids in the wrapped native currency. The bids of a token are those that the owner of the token can accept. */
const BIDS: OrderTable = {
  name: 'main.book_order',
  columns: BID_COLUMNS,
  sorts: {
    ...BOOK.sorts,
    price: [
      ['proceeds_raw', 'numeric'],
      ['id', 'text'],
    ],
  },
  hasStart: true,
  condition: `side = 'bid'`,
  descending: new Set(['created', 'price']),
  isComparable: 'currency is null',
  source: `coalesce(source, '${OWN_SOURCE}')`,
  ofToken: (param) => `coalesce(token_id, root, '') = any(array[${param}, ''] || array(
      select member.root from main.token_set_member as member
      where member.collection_id = book_order.collection_id and member.token_id = ${param}))`,
};

/** `source` null: listings of all sources. */
export async function listMirroredOrders(
  db: Queryable,
  filter: OrderFilter & { source: string | null },
  page: OrderPageQuery,
): Promise<OrderOfMirror[]> {
  const { sql, params } = toStatement(MIRROR, filter, page);
  return (await db.query(sql, params)).map((row) => ({
    listing: decodeMirroredListing(row),
    ...decodeMirrorState(row),
  }));
}

export async function listBookOrders(db: Queryable, filter: OrderFilter, page: OrderPageQuery): Promise<OrderOfBook[]> {
  const { sql, params } = toStatement(BOOK, { ...filter, source: null }, page);
  return (await db.query(sql, params)).map((row) => ({ order: decodeFillableOrder(row), ...decodeBookState(row) }));
}

/** `source` null: bids of all sources. `OWN_SOURCE`: those of the service. */
export async function listBids(
  db: Queryable,
  filter: OrderFilter & { kind: BidKind | null; source: string | null },
  page: OrderPageQuery,
): Promise<ListedBid[]> {
  const { sql, params } = toStatement(BIDS, filter, page);
  return (await db.query(sql, params)).map(decodeListedBid);
}

const BID_KIND_CONDITIONS: Readonly<Record<BidKind, string>> = {
  item: 'token_id is not null',
  collection: `coalesce(token_id, root, '') = ''`,
  trait: 'root is not null',
};

const decodeMirrorState: (row: Row) => Omit<OrderOfMirror, 'listing'> = rowDecoder('listing', {
  status: oneOf(LISTING_STATUSES),
  dormant: nullable(oneOf(LISTING_DORMANCIES)),
});

const decodeBookState: (row: Row) => Omit<OrderOfBook, 'order'> = rowDecoder('book_order', {
  status: oneOf(LISTING_STATUSES),
  dormant: nullable(oneOf(DORMANT_REASONS)),
  startsAt: column('starts_at', nullable(timestamp)),
});

/**
 * The rows of one stored status that belong to a state. `isSmall`: these rows are few, and no index has them in the order of the list, so they are
 * found by `conditions` and then sorted.
 */
type Part = { status: ListingStatus; conditions: readonly string[]; isSmall?: true };

/**
 * A sorted read of one index begins with the columns that are the same in all rows. The account and the status are given as a range, together with
 * the time, and are part of the order. Otherwise the planner could choose an index that begins with another column, and read the rows of all
 * accounts, or read and sort all rows of the account. The collection is compared for equality, so that a Citus cluster reads one node.
 *
 * Two lists are sorted after their rows were read: the orders of one token, and the orders of an account in a collection. `offset 0`
 * makes PostgreSQL find these rows by the token or by the account.
 */
function toStatement(
  table: OrderTable,
  filter: OrderFilter & { source: string | null; kind?: BidKind | null },
  { start, limit }: OrderPageQuery,
): { sql: string; params: unknown[] } {
  const { collectionId, asset, account, source, kind = null, state, sort, now } = filter;
  const params: unknown[] = [];
  const param = (value: unknown, type: string) => `$${params.push(value)}::${type}`;
  const columns = table.sorts[sort];
  const names = columns.map(([name]) => name);
  const [time = ''] = names;
  const isDescending = table.descending.has(sort);
  const [direction, further] = isDescending ? ['desc', '<'] : ['asc', '>'];
  const [first, last] = isDescending ? [`'infinity'`, `'-infinity'`] : [`'-infinity'`, `'infinity'`];
  const seller = account === null ? null : param(account, 'text');
  const filters = [
    ...(table.condition === null ? [] : [table.condition]),
    ...(collectionId === null ? [] : [`collection_id = ${param(collectionId, 'text')}`]),
    ...(asset === null ? [] : [table.ofToken(param(asset, 'text'))]),
    ...(kind === null ? [] : [BID_KIND_CONDITIONS[kind]]),
    ...(source === null ? [] : [`${table.source} = ${param(source, 'text')}`]),
    ...(sort === 'expires' ? ['expires_at is not null'] : []),
    ...(sort === 'price' && table.isComparable !== undefined ? [table.isComparable] : []),
  ];
  const started = start === null ? [] : [start.value, ...(start.kind === 'after-row' ? start.ties : [])];
  const values = started.map((value, index) => param(value, columns[index]?.[1] ?? 'text'));
  const startSign = start?.kind === 'at-value' ? `${further}=` : further;
  const limitText = param(limit, 'bigint');
  const orderOf = (columnNames: readonly string[]) => columnNames.map((name) => `${name} ${direction}`).join(', ');

  const toSql = ({ status, conditions, isSmall }: Part): string => {
    const isSorted = isSmall === true || asset !== null || (account !== null && collectionId !== null);
    // The indexes of the other lists have only active orders.
    const isOfStatus = sort === 'created' && !isSorted && (collectionId !== null || account !== null);
    const same = [
      ...(seller === null || isSorted ? [] : [['seller', seller] as const]),
      ...(isOfStatus ? [['status', `'${status}'`] as const] : []),
    ];
    const sameNames = same.map(([name]) => name);
    const sameValues = same.map(([, value]) => value);
    const compare = (sign: string, compared: readonly string[], to: readonly string[]) =>
      `(${[...sameNames, ...compared].join(', ')}) ${sign} (${[...sameValues, ...to].join(', ')})`;
    const where = [
      ...filters,
      ...(isOfStatus ? [] : [`status = '${status}'`]),
      ...(seller !== null && isSorted ? [`seller = ${seller}`] : []),
      ...conditions,
      ...(values.length > 0 ? [compare(startSign, names.slice(0, values.length), values)] : []),
      // With two conditions on one end of the range, PostgreSQL would begin at either of them.
      ...(same.length > 0 && values.length === 0 ? [compare(`${further}=`, [time], [first])] : []),
      ...(same.length > 0 ? [compare(isDescending ? '>=' : '<=', [time], [last])] : []),
    ].join(' and ');
    const rows = `select ${table.columns} from ${table.name} where ${where}`;
    return isSorted
      ? `(select * from (${rows} offset 0) as found order by ${orderOf(names)} limit ${limitText})`
      : `(${rows} order by ${orderOf([...sameNames, ...names])} limit ${limitText})`;
  };

  let nowParam: string | null = null;
  const parts = partsOf(table, state, () => (nowParam ??= param(new Date(now), 'timestamptz'))).map(toSql);
  const [only = ''] = parts;
  if (parts.length === 1) return { sql: only, params };
  const sql = `select * from (${parts.join(' union all ')}) as part order by ${orderOf(names)} limit ${limitText}`;
  return { sql, params };
}

/** The parts of a state. An active row whose expiry time has come is expired, even before the expiry sweep has changed its status. */
function partsOf({ hasStart, isPlanned }: OrderTable, state: OrderListStatus, now: () => string): Part[] {
  if (state === 'expired') {
    return [
      { status: 'expired', conditions: [] },
      { status: 'active', conditions: ['expires_at is not null', `expires_at <= ${now()}`], isSmall: true },
    ];
  }
  if (state !== 'active' && state !== 'dormant') return [{ status: state, conditions: [] }];
  const open = ['price_raw > 0', `(expires_at is null or expires_at > ${now()})`];
  if (state === 'active') {
    const started = hasStart ? [`(starts_at is null or starts_at <= ${now()})`] : [];
    return [{ status: 'active', conditions: [...open, 'dormant is null', ...started] }];
  }
  const withReason: Part = { status: 'active', conditions: [...open, 'dormant is not null'] };
  if (!hasStart) return [withReason];
  const isLater = [`starts_at > ${now()}`, ...(isPlanned ? [isPlanned(now())] : [])];
  return [withReason, { status: 'active', conditions: [...open, 'dormant is null', ...isLater], isSmall: true }];
}
