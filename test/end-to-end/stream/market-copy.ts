// Makes a copy of the market as a consumer does: reads all rows once (`readSnapshot`), and then applies the events of the stream. Compares
// the copy with the rows that the interfaces serve.

import type {
  Activity,
  FloorResponse,
  ListedOrder,
  MarketItem,
  MarketReads,
  Price,
  StreamEvent,
  Token,
} from '../../../client/src/market.ts';

export type Snapshot = {
  tokens: Token[];
  listings: MarketItem[];
  orders: ListedOrder[];
  sales: MarketItem[];
  floors: FloorResponse[];
  /** The units that each wallet holds of each ERC-1155 token, by `balanceKey`. */
  balances: Map<string, bigint>;
};

/** Of ERC-1155 tokens the balances of the wallets are compared, because several wallets may hold units of such a token. */
export type CopiedCollection = { id: string; standard: 'erc721' | 'erc1155' };

const LIMIT = 100;

export async function readSnapshot(reads: MarketReads, collections: readonly CopiedCollection[]): Promise<Snapshot> {
  const snapshot: Snapshot = { tokens: [], listings: [], orders: [], sales: [], floors: [], balances: new Map() };
  for (const { id, standard } of collections) {
    for await (const row of reads.listOrders({ collection: id, limit: LIMIT })) snapshot.orders.push(row);
    for await (const row of reads.listTokens({ id, sort: 'id', limit: LIMIT })) snapshot.tokens.push(row);
    for await (const row of reads.listListings({ id, limit: LIMIT })) snapshot.listings.push(row);
    for await (const row of reads.listSales({ id, limit: LIMIT })) snapshot.sales.push(row);
    snapshot.floors.push((await reads.getFloor({ id })).data);
    if (standard === 'erc721') continue;
    for (const { chain, contractAddress, tokenId, collectionId } of snapshot.tokens) {
      if (collectionId !== id || contractAddress === null || tokenId === null) continue;
      for await (const { address, balance } of reads.listTokenOwners({ chain, address: contractAddress, tokenId }))
        snapshot.balances.set(balanceKey(collectionId, tokenId, address), BigInt(balance ?? 0));
    }
  }
  return snapshot;
}

const balanceKey = (collectionId: string, tokenId: string, holder: string | null) =>
  `${collectionId} ${tokenId} ${holder}`;

/** Rows as text, by the name of the list that serves them. */
export type Rows = Record<string, string[]>;

type Order = { orderId: string; collectionId: string; tokenId: string; raw: bigint; seller: string; units: string };

export class MarketCopy {
  readonly events: StreamEvent[] = [];
  readonly #collections: readonly CopiedCollection[];
  readonly #snapshot: Snapshot;
  readonly #orders = new Map<string, Order>();
  readonly #floors = new Map<string, bigint | null>();
  /** Maps the offset of each event that was taken back to the offset of the event that took it back. */
  readonly #voidedBy = new Map<string, string>();
  readonly #offsets = new Set<string>();
  /**
   * What a consumer cannot explain: an offset that arrives twice or out of order, or an event that takes back an event that was not received
   * or was already taken back.
   */
  readonly faults: string[] = [];

  constructor(snapshot: Snapshot, collections: readonly CopiedCollection[]) {
    this.#snapshot = snapshot;
    this.#collections = collections;
    for (const row of snapshot.orders) this.#setOrder({ ...row, from: row.seller, quantity: row.remaining });
    for (const { collectionId, askFloor } of snapshot.floors) this.#floors.set(collectionId, askFloor?.raw ?? null);
  }

  apply(event: StreamEvent): void {
    const last = this.events.at(-1)?.offset ?? '';
    if (event.offset <= last) this.faults.push(`${event.offset} arrived after ${last}`);
    this.events.push(event);
    this.#offsets.add(event.offset);
    if (event.kind === 'list' || event.kind === 'reprice' || event.kind === 'revalidate') this.#setOrder(event);
    else if (ENDS.has(event.kind)) this.#orders.delete(event.orderId ?? '');
    else if (event.kind === 'floor') this.#floors.set(event.collectionId ?? '', event.price?.raw ?? null);
    for (const offset of event.voids ?? []) this.#void(offset, event.offset);
  }

  #void(offset: string, by: string): void {
    if (!this.#offsets.has(offset)) this.faults.push(`${by} takes back ${offset}, which was not received`);
    if (this.#voidedBy.has(offset)) this.faults.push(`${by} takes back ${offset} again`);
    this.#voidedBy.set(offset, by);
  }

  #setOrder({
    orderId,
    collectionId,
    tokenId,
    price,
    from,
    quantity,
  }: Pick<Activity, 'orderId' | 'collectionId' | 'tokenId' | 'price' | 'from' | 'quantity'>) {
    if (orderId === null || collectionId === null || tokenId === null || !price) return;
    const units = quantity ?? 'unknown';
    this.#orders.set(orderId, { orderId, collectionId, tokenId, raw: price.raw, seller: from ?? '', units });
  }

  /** The events that were not taken back. */
  #validEvents(): StreamEvent[] {
    return this.events.filter(({ offset }) => !this.#voidedBy.has(offset));
  }

  /** The owners of all ERC-721 tokens. A wallet occurs once for each of its tokens. */
  wallets(): string[] {
    return this.#ownedTokens().flatMap(({ owner }) => owner ?? []);
  }

  rows(): Rows {
    const owned = this.#ownedTokens();
    const listed = cheapestOf(this.#orders.values(), ({ collectionId, tokenId }) => `${collectionId} ${tokenId}`);
    const ofSellers = cheapestOf(
      this.#orders.values(),
      (order) => `${order.seller} ${order.collectionId} ${order.tokenId}`,
    );
    // `/v1` leaves out sales without a price. It also leaves out sales of several tokens, which have no token id.
    const sold = this.#validEvents().filter(({ kind, price, tokenId }) => kind === 'sale' && price && tokenId !== null);
    return {
      owners: owned.map(({ token, owner }) => `${token} ${owner}`),
      'tokens of wallets': owned.map(({ token, owner }) => `${owner} ${token}`),
      orders: Array.from(this.#orders.values(), orderRow),
      balances: this.#balances(),
      'listed tokens': listed.map(listingRow),
      listings: listed.map(listingRow),
      'listings of wallets': ofSellers.map(listingRow),
      sales: [
        ...this.#snapshot.sales.map(saleRow),
        ...sold.map((event) => saleRow({ ...event, price: event.total, seller: event.from, buyer: event.to })),
      ],
      floors: [...this.#floors].map(([collectionId, raw]) => `${collectionId} ${raw}`),
      activity: this.events.map((event) =>
        activityRow({ ...event, voidedBy: this.#voidedBy.get(event.offset) ?? null }),
      ),
    };
  }

  /** Mints, transfers and burns move units, so each is applied once: the snapshot was read while no block was mined. */
  #balances(): string[] {
    const editions = new Set(this.#collections.filter(({ standard }) => standard === 'erc1155').map(({ id }) => id));
    const balances = new Map(this.#snapshot.balances);
    for (const { kind, collectionId, tokenId, from, to, quantity } of this.#validEvents()) {
      if (kind !== 'mint' && kind !== 'transfer' && kind !== 'burn') continue;
      if (collectionId === null || tokenId === null || !editions.has(collectionId)) continue;
      const add = (holder: string | null, units: bigint) => {
        if (holder === null) return;
        const key = balanceKey(collectionId, tokenId, holder);
        balances.set(key, (balances.get(key) ?? 0n) + units);
      };
      add(from, -BigInt(quantity ?? 1));
      add(to, BigInt(quantity ?? 1));
    }
    return toBalanceRows(balances);
  }

  #ownedTokens(): { token: string; owner: string | null }[] {
    const owners = new Map<string, string | null>();
    for (const { collectionId, tokenId, owner } of this.#snapshot.tokens)
      owners.set(`${collectionId} ${tokenId}`, owner.address);
    for (const { kind, collectionId, tokenId, to } of this.#validEvents()) {
      if (kind === 'mint' || kind === 'transfer') owners.set(`${collectionId} ${tokenId}`, to);
      else if (kind === 'burn') owners.delete(`${collectionId} ${tokenId}`);
    }
    const single = this.#collections.filter(({ standard }) => standard === 'erc721').map(({ id }) => id);
    return Array.from(owners, ([token, owner]) => ({ token, owner })).filter(({ token }) =>
      single.includes(token.split(' ', 1)[0] ?? ''),
    );
  }
}

const ENDS: ReadonlySet<Activity['kind']> = new Set(['fill', 'cancel', 'expire', 'invalidate'] as const);

/** One order for each key: the cheapest, and among equal prices the one with the lowest id. */
function cheapestOf(orders: Iterable<Order>, keyOf: (order: Order) => string): Order[] {
  const cheapest = new Map<string, Order>();
  for (const order of orders) {
    const other = cheapest.get(keyOf(order));
    if (!other || order.raw < other.raw || (order.raw === other.raw && order.orderId < other.orderId))
      cheapest.set(keyOf(order), order);
  }
  return [...cheapest.values()];
}

const toBalanceRows = (balances: ReadonlyMap<string, bigint>) =>
  [...balances].filter(([, units]) => units !== 0n).map(([key, units]) => `${key} ${units}`);

const orderRow = ({ collectionId, tokenId, orderId, raw, seller, units }: Order) =>
  [collectionId, tokenId, orderId, raw, seller, units].join(' ');

const listingRow = ({ collectionId, tokenId, orderId, raw, seller }: Order) =>
  [collectionId, tokenId, orderId, raw, seller].join(' ');

const saleRow = ({
  collectionId,
  tokenId,
  tx,
  price,
  seller,
  buyer,
}: Pick<MarketItem, 'tokenId' | 'tx' | 'seller' | 'buyer'> &
  Pick<Activity, 'collectionId'> & { price: Pick<Price, 'raw'> | null }) =>
  [collectionId, tokenId, tx, price?.raw, seller, buyer].join(' ');

const activityRow = ({ offset, kind, voidedBy }: { offset: string | null; kind: string; voidedBy: string | null }) =>
  `${offset} ${kind} ${voidedBy}`;

const itemRow = ({ collectionId, tokenId, orderId, price, seller }: MarketItem) =>
  [collectionId, tokenId, orderId, price.raw, seller].join(' ');

/**
 * Reads what the interfaces serve, and returns it in the form of the rows of the copy. Of the activity, only events after `offset` are
 * returned.
 */
export async function readRows(
  reads: MarketReads,
  {
    collections,
    wallets,
    offset,
  }: { collections: readonly CopiedCollection[]; wallets: ReadonlySet<string>; offset: string },
): Promise<Rows> {
  const snapshot = await readSnapshot(reads, collections);
  const single = singleIds(collections);
  const rows: Required<Record<'wallets' | 'sellers' | 'activity', string[]>> = {
    wallets: [],
    sellers: [],
    activity: [],
  };
  for (const address of wallets) {
    for await (const { collectionId, tokenId } of reads.listWalletTokens({ address, limit: LIMIT }))
      if (single.has(collectionId)) rows.wallets.push(`${address} ${collectionId} ${tokenId}`);
    for await (const row of reads.listWalletListings({ address, limit: LIMIT })) rows.sellers.push(itemRow(row));
  }
  // The list is sorted by time and not by offset, so the complete list is read. A sale that is not in the log has no offset.
  for await (const event of reads.listActivity({ limit: LIMIT }))
    if (event.offset !== null && event.offset > offset) rows.activity.push(activityRow(event));
  return {
    ...toRows(snapshot, collections),
    'tokens of wallets': rows.wallets,
    'listed tokens': snapshot.tokens.flatMap(({ listing }) => (listing ? [itemRow(listing)] : [])),
    listings: snapshot.listings.map(itemRow),
    'listings of wallets': rows.sellers,
    activity: rows.activity,
  };
}

/** The orders, owners, balances, sales and floors of a snapshot. */
export function toRows(
  { tokens, orders, sales, floors, balances }: Snapshot,
  collections: readonly CopiedCollection[],
): Rows {
  const single = singleIds(collections);
  return {
    owners: tokens
      .filter(({ collectionId }) => single.has(collectionId))
      .map(({ collectionId, tokenId, owner }) => `${collectionId} ${tokenId} ${owner.address}`),
    orders: orders.map(({ collectionId, tokenId, orderId, price, seller, remaining }) =>
      [collectionId, tokenId, orderId, price.raw, seller, remaining ?? 'unknown'].join(' '),
    ),
    balances: toBalanceRows(balances),
    sales: sales.map(saleRow),
    floors: floors.map(({ collectionId, askFloor }) => `${collectionId} ${askFloor?.raw ?? null}`),
  };
}

const singleIds = (collections: readonly CopiedCollection[]): ReadonlySet<string> =>
  new Set(collections.filter(({ standard }) => standard === 'erc721').map(({ id }) => id));

/** One line for each row that only one side has. */
export function findDifferences(copied: Rows, served: Rows): string[] {
  return Object.keys(served).flatMap((list) => {
    const left = new Map<string, number>();
    for (const row of copied[list] ?? []) left.set(row, (left.get(row) ?? 0) + 1);
    for (const row of served[list] ?? []) left.set(row, (left.get(row) ?? 0) - 1);
    return Array.from(left, ([row, count]) => ({ row, count }))
      .filter(({ count }) => count !== 0)
      .map(({ row, count }) => `${list}: ${count > 0 ? 'only in the copy' : 'only served'}: ${row}`);
  });
}
