// The market as plain maps, and what each record and each action of the operator does to them. A rule names its sentence: "records" is
// docs/records.md, "decisions N" the section of the project's decisions, "provenance" docs/provenance.md.

import type { Bid } from './bids.ts';
import type {
  AnalyticsRecord,
  CollectionRecord,
  EndStatus,
  ListingRecord,
  MarketRecord,
  OrderRecord,
  RateRecord,
  SaleRecord,
  StatsRecord,
  TokenRecord,
} from './records.ts';
import { CHAINS, isRejected, SERVICE_NAME, toAddress, toCollectionId } from './records.ts';

export type Collection = {
  id: string;
  chain: string;
  contractAddress: string;
  name: string;
  slug: string | null;
  image: string | null;
  description: string | null;
  royaltyBps: number | null;
  launched: boolean;
  tokensComplete: boolean;
  createdAt: number;
  snapshot: { floorRaw: bigint | null; volumeAllTime: number | null; supply: number | null; owners: number | null };
};

/** An own order (`source` null) or a mirrored listing. */
export type Listing = {
  /** Unique among all orders and listings. `orderId` is what responses show. */
  key: string;
  orderId: string;
  source: string | null;
  collectionId: string;
  asset: string;
  priceRaw: bigint;
  buyerTotalRaw: bigint | null;
  seller: string;
  orderHash: string | null;
  status: EndStatus;
  listedAt: number;
  expiresAt: number | null;
  tx: string | null;
};

export type Sale = {
  key: string;
  source: string;
  collectionId: string;
  /** Several for a bundle. */
  assets: string[];
  price: string;
  seller: string | null;
  buyer: string | null;
  soldAt: number;
  listingId: string | null;
  tx: string | null;
};

export type Token = {
  collectionId: string;
  asset: string;
  name: string | null;
  image: string | null;
  rarityRank: number | null;
  owner: string | null;
  traits: { name: string; value: string }[] | null;
};

type Windows = { allTime: number | null; sevenDay: number | null; twentyFourHour: number | null };
export type Stats = {
  at: number;
  owners: number | null;
  listedCount: number | null;
  supply: number | null;
  floorRaw: bigint | null;
};
export type Analytics = { at: number; floorRaw: bigint | null; volume: Windows; sales: Windows };
export type Rate = { at: number; usd: number };
const PARTS = ['sales', 'listings'] as const;
type Part = (typeof PARTS)[number];

type Tables = {
  collection: Map<string, Collection>;
  order: Map<string, Listing>;
  listing: Map<string, Listing>;
  sale: Map<string, Sale>;
  token: Map<string, Token>;
  stats: Map<string, Stats>;
  analytics: Map<string, Analytics>;
  rate: Map<string, Rate>;
};
type TableName = keyof Tables;
type Row = Collection | Listing | Sale | Token | Stats | Analytics | Rate;

type Change = { table: TableName; key: string; before: Row | undefined; after: Row };

/** `covered`: up to which time the import covers the sales and the listings of collections. */
type Import = { changes: Change[]; covered: Map<string, number> };

type Write = (table: TableName, key: string, row: Row) => Outcome;

export type Outcome = 'inserted' | 'updated' | 'unchanged' | 'conflict' | 'refused';

export type ImportOptions = { now: number; replace?: boolean; createCollections?: boolean };

export class Market {
  readonly tables: Tables = {
    collection: new Map(),
    order: new Map(),
    listing: new Map(),
    sale: new Map(),
    token: new Map(),
    stats: new Map(),
    analytics: new Map(),
    rate: new Map(),
  };
  /** Signed bids, by their id. */
  readonly bids = new Map<string, Bid>();
  readonly imports: Import[] = [];
  /** The ids of listings whose records have none, by what identifies them. */
  readonly #ids = new Map<string, string>();
  /** The keys of signed orders, by collection and hash. */
  readonly #signed = new Map<string, string>();

  /**
   * Records, "listing": without an `id`, the id is a digest. No text determines the digest, so the model learns it where it is served first. It must
   * be the same everywhere and stay the same.
   */
  learnId(identity: string, orderId: string): void {
    if (this.#ids.has(identity)) return;
    this.#ids.set(identity, orderId);
    this.#rename(identity, orderId);
  }

  #rename(identity: string, orderId: string): void {
    const rows = this.imports.flatMap(({ changes }) => changes.flatMap(({ before, after }) => [before, after]));
    for (const row of [...this.tables.listing.values(), ...rows])
      if (row && 'orderId' in row && row.orderId === identity) row.orderId = orderId;
  }

  /** Keeps the present state, as a backup does. Calling the result brings it back. */
  keep(): () => void {
    const maps = (): Map<string, unknown>[] => [...Object.values(this.tables), this.bids, this.#signed];
    const kept = maps().map((one) => [...one]);
    const imports = this.imports.map(({ changes, covered }) => ({
      changes: changes.map((change) => ({ ...change })),
      covered: new Map(covered),
    }));
    return () => {
      for (const [index, map] of maps().entries()) {
        map.clear();
        for (const [key, value] of kept[index] ?? []) map.set(key, value);
      }
      this.imports.splice(0, Infinity, ...imports);
      for (const [identity, orderId] of this.#ids) this.#rename(identity, orderId);
    };
  }

  /** Imports one file. Returns what each record did, in order. */
  import(records: readonly MarketRecord[], options: ImportOptions): Outcome[] {
    const one: Import = { changes: [], covered: new Map() };
    this.imports.push(one);
    const write: Write = (table, key, row) => this.#write(one, table, key, row);
    const outcomes = records.map((record) => {
      const outcome = this.#apply(record, options, write);
      if (outcome === 'refused') return outcome;
      if (record.kind === 'sale') {
        // Decisions 8, "What an import covers": "the time up to its newest row". A sale in the future says nothing about the time after the import.
        this.#cover(one, 'sales', toCollectionId(record), Math.min(toSale(record).soldAt, options.now));
      }
      // A listing of a signed order of the service is not stored, so it is no imported listing.
      if (record.kind === 'listing' && !this.#isSigned(toListing(record)))
        this.#cover(one, 'listings', toCollectionId(record), options.now);
      return outcome;
    });
    records.forEach((record, index) => {
      if (record.kind !== 'listing' || outcomes[index] === 'refused' || this.#isSigned(toListing(record))) return;
      this.#endOrder(record, options, write);
    });
    // Records: "--create-collections creates the missing collection records: one for each collection that an imported record names."
    if (options.createCollections) {
      records.forEach((record, index) => {
        if (record.kind === 'rate' || outcomes[index] === 'refused') return;
        if (this.tables.collection.has(toCollectionId(record))) return;
        const named: CollectionRecord = {
          kind: 'collection',
          chain: record.chain,
          contractAddress: record.contractAddress,
          name: toAddress(record.chain, record.contractAddress),
        };
        this.#apply(named, options, write);
      });
    }
    return outcomes;
  }

  /**
   * Takes an import back. Returns the number of rows that stay because they have changed since. Records, "Taking an import back": it "deletes the rows
   * that the import inserted, and restores the rows that the import changed"; "a row that has changed since the import is not changed back"; "a row
   * that does not exist any more is counted as gone".
   */
  undo(index: number): number {
    const one = this.imports[index];
    if (!one) throw new Error(`there is no import ${index}`);
    const kept: Change[] = [];
    for (const change of one.changes.toReversed()) {
      const table = this.tables[change.table] as Map<string, Row>;
      const present = table.get(change.key);
      if (!present) continue;
      if (!isSame(withoutExpiry(present), withoutExpiry(change.after)) || this.#isSlugTaken(change)) {
        kept.push(change);
        continue;
      }
      if (change.before) table.set(change.key, change.before);
      else table.delete(change.key);
    }
    one.changes = kept.toReversed();
    one.covered.clear();
    return kept.length;
  }

  /** Format of the command line, "collections remove ID --purge": deletes everything stored about the collection. */
  purge(collectionId: string): void {
    const { collection, stats, analytics, order, listing, sale, token } = this.tables;
    for (const table of [collection, stats, analytics]) table.delete(collectionId);
    for (const table of [order, listing, sale, token] as Map<string, Listing | Sale | Token>[]) {
      for (const [key, row] of table) if (row.collectionId === collectionId) table.delete(key);
    }
    for (const [id, bid] of this.bids) if (bid.collectionId === collectionId) this.bids.delete(id);
    for (const { covered } of this.imports) for (const part of PARTS) covered.delete(`${part} ${collectionId}`);
  }

  /** Up to which time the imports that are left cover a part of the collection; null if none has a record of it. */
  coveredUntil(part: Part, collectionId: string): number | null {
    const ends = this.imports.flatMap(({ covered }) => covered.get(`${part} ${collectionId}`) ?? []);
    return ends.length === 0 ? null : Math.max(...ends);
  }

  #cover({ covered }: Import, part: Part, collectionId: string, until: number): void {
    const key = `${part} ${collectionId}`;
    covered.set(key, Math.max(covered.get(key) ?? until, until));
  }

  #write(one: Import, table: TableName, key: string, row: Row): Outcome {
    const rows = this.tables[table] as Map<string, Row>;
    const before = rows.get(key);
    if (before && isSame(before, row)) return 'unchanged';
    rows.set(key, row);
    // Of several changes of one row in one import, the first has the row before and the last has the row after.
    const earlier = one.changes.find((change) => change.table === table && change.key === key);
    if (earlier) earlier.after = row;
    else one.changes.push({ table, key, before, after: row });
    return before ? 'updated' : 'inserted';
  }

  #isSlugTaken({ table, key, before }: Change): boolean {
    if (table !== 'collection' || !before) return false;
    const { slug } = before as Collection;
    return slug !== null && [...this.tables.collection.values()].some((one) => one.slug === slug && one.id !== key);
  }

  #apply(record: MarketRecord, options: ImportOptions, write: Write): Outcome {
    if (isRejected(record)) return 'refused';
    switch (record.kind) {
      case 'collection':
        return this.#applyCollection(record, options, write);
      case 'order':
        return this.#applyListing('order', toOrder(record), options, write);
      case 'listing':
        return this.#applyListing('listing', this.#named(toListing(record)), options, write);
      case 'sale':
        return this.#applySale(record, options, write);
      case 'token':
        return this.#applyToken(record, write);
      case 'stats':
      case 'analytics': {
        const row = record.kind === 'stats' ? toStats(record, options.now) : toAnalytics(record, options.now);
        const isImportTime = isUntimed(record.at, options.now);
        return this.#applyLatest(record.kind, toCollectionId(record), { row, isImportTime }, write);
      }
      case 'rate':
        return this.#applyLatest('rate', record.symbol, { row: toRate(record), isImportTime: false }, write);
    }
  }

  /** Records: a later collection record "replaces the fields that it gives"; "a slug that another collection has" rejects the record. */
  #applyCollection(record: CollectionRecord, { now }: ImportOptions, write: Write): Outcome {
    const id = toCollectionId(record);
    const { collection } = this.tables;
    const stored = collection.get(id);
    const slug = record.slug ?? stored?.slug ?? null;
    if (slug !== null && [...collection.values()].some((one) => one.slug === slug && one.id !== id)) return 'refused';
    const { snapshot = {} } = record;
    return write('collection', id, {
      id,
      chain: record.chain,
      contractAddress: toAddress(record.chain, record.contractAddress),
      name: record.name,
      slug,
      image: record.image ?? stored?.image ?? null,
      description: record.description ?? stored?.description ?? null,
      royaltyBps: record.royaltyBps ?? stored?.royaltyBps ?? null,
      launched: record.launched ?? stored?.launched ?? false,
      tokensComplete: record.tokensComplete ?? stored?.tokensComplete ?? false,
      createdAt: toTime(record.createdAt) ?? stored?.createdAt ?? now,
      snapshot: {
        // Decisions 8: "A floor or ask of 0 from outside is unknown."
        floorRaw: toPrice(snapshot.floorRaw) ?? stored?.snapshot.floorRaw ?? null,
        volumeAllTime: snapshot.volumeAllTime ?? stored?.snapshot.volumeAllTime ?? null,
        supply: snapshot.supply ?? stored?.snapshot.supply ?? null,
        owners: snapshot.owners ?? stored?.snapshot.owners ?? null,
      },
    });
  }

  /** Operation, "One order, two marketplaces": "A listing whose order is in the own order book is not stored: the order is served from the own book." */
  addSigned(order: Listing, hash: string, now: number): void {
    this.tables.order.set(order.key, order);
    this.#signed.set(`${order.collectionId} ${hash}`, order.key);
    for (const [key, row] of this.tables.listing)
      if (row.collectionId === order.collectionId && row.orderHash === hash && statusAt(row, now) === 'active')
        this.tables.listing.set(key, { ...row, status: 'cancelled' });
  }

  #isSigned({ collectionId, orderHash }: Listing): boolean {
    return this.tables.order.has(this.#signed.get(`${collectionId} ${orderHash}`) ?? '');
  }

  #named(row: Listing): Listing {
    return { ...row, orderId: this.#ids.get(row.orderId) ?? row.orderId };
  }

  /**
   * Records: an order "replaces an active order; an order that has ended does not change"; a listing "replaces an active listing unless the later record
   * has an older timestamp; a listing that has ended does not change". Decisions 2, "Statuses": expiry is by the clock.
   */
  #applyListing(table: 'order' | 'listing', row: Listing, { now }: ImportOptions, write: Write): Outcome {
    if (table === 'listing' && this.#isSigned(row)) return 'unchanged';
    const stored = this.tables[table].get(row.key);
    // "A record with another token is a conflict, and changes nothing."
    if (stored && stored.asset !== row.asset) return 'conflict';
    if (stored && statusAt(stored, now) !== 'active') return 'unchanged';
    if (stored && row.listedAt < stored.listedAt) {
      // "A record with another status than active ends the listing, whatever its timestamp."
      return row.status === 'active'
        ? 'unchanged'
        : write(table, row.key, { ...stored, status: row.status, tx: row.tx });
    }
    return write(table, row.key, row);
  }

  /** Operation: "When one marketplace reports that an order was filled or cancelled, the listings of this order from all other marketplaces end too." */
  #endOrder({ orderHash, ...record }: ListingRecord, { now }: ImportOptions, write: Write): void {
    if (orderHash === undefined) return;
    const [id, asset] = [toCollectionId(record), toAsset(record)];
    const isOf = (row: Listing) => row.collectionId === id && row.asset === asset && row.orderHash === orderHash;
    const rows = [...this.tables.listing.values()].filter(isOf);
    const ended = ['filled', 'cancelled'].flatMap((status) => rows.filter((row) => row.status === status))[0];
    if (!ended) return;
    for (const row of rows) {
      if (statusAt(row, now) !== 'active') continue;
      write('listing', row.key, { ...row, status: ended.status, tx: row.tx ?? ended.tx });
    }
  }

  /** Records, "sale": a later record "changes nothing; if its other fields differ, it is reported as a conflict. With --replace it replaces the stored sale". */
  #applySale(record: SaleRecord, { replace = false }: ImportOptions, write: Write): Outcome {
    const row = toSale(record);
    const stored = this.tables.sale.get(row.key);
    if (!stored) return write('sale', row.key, row);
    const differs =
      stored.price !== row.price ||
      stored.soldAt !== row.soldAt ||
      (stored.seller !== row.seller && stored.seller !== null && row.seller !== null) ||
      (stored.buyer !== row.buyer && stored.buyer !== null && row.buyer !== null);
    if (!replace) return differs ? 'conflict' : 'unchanged';
    if (!differs) return 'unchanged';
    // "A seller or buyer that the later record leaves out keeps the stored value."
    return write('sale', row.key, { ...row, seller: row.seller ?? stored.seller, buyer: row.buyer ?? stored.buyer });
  }

  /** Records, "token": "replaces the fields that it gives; traits replaces all imported traits". */
  #applyToken(record: TokenRecord, write: Write): Outcome {
    // Records: a trait has a name and a value.
    if (record.traits?.some(({ name, value }) => name === '' || value === '')) return 'refused';
    const collectionId = toCollectionId(record);
    const asset = toAsset(record);
    const key = `${collectionId} ${asset}`;
    const stored = this.tables.token.get(key);
    return write('token', key, {
      collectionId,
      asset,
      name: record.name ?? stored?.name ?? null,
      image: record.image ?? stored?.image ?? null,
      rarityRank: record.rarityRank ?? stored?.rarityRank ?? null,
      owner: record.owner === undefined ? (stored?.owner ?? null) : toAddress(record.chain, record.owner),
      traits: record.traits ?? stored?.traits ?? null,
    });
  }

  /** Records, "stats, analytics, rate": "replaces the row unless the later record has an older at". */
  #applyLatest<T extends 'stats' | 'analytics' | 'rate'>(
    table: T,
    key: string,
    { row, isImportTime }: { row: Stats | Analytics | Rate; isImportTime: boolean },
    write: Write,
  ): Outcome {
    const stored = this.tables[table].get(key);
    if (stored && row.at < stored.at) return 'unchanged';
    // "The same record again counts as unchanged, and only moves the at to the time of its import."
    if (stored && isImportTime && isSame({ ...row, at: stored.at }, stored)) {
      write(table, key, row);
      return 'unchanged';
    }
    return write(table, key, row);
  }
}

/** Whether several of the records are of one row. */
export function hasRepeatedRows(records: readonly MarketRecord[]): boolean {
  const stored = records.filter((record) => !isRejected(record));
  return new Set(stored.map(toKey)).size < stored.length;
}

/** Records, "fields that identify the stored row". */
function toKey(record: MarketRecord): string {
  if (record.kind === 'rate') return `rate ${record.symbol}`;
  if (record.kind === 'order') return `order ${toOrder(record).key}`;
  if (record.kind === 'listing') return `listing ${toListing(record).key}`;
  if (record.kind === 'sale') return `sale ${toSale(record).key}`;
  const asset = record.kind === 'token' ? toAsset(record) : '';
  return `${record.kind} ${toCollectionId(record)} ${asset}`;
}

/** Decisions 2, "Statuses": "Expiry is by the clock at read time." */
export function statusAt({ status, expiresAt }: Pick<Listing, 'status' | 'expiresAt'>, now: number): EndStatus {
  return status === 'active' && expiresAt !== null && expiresAt <= now ? 'expired' : status;
}

function toAsset(record: { tokenId?: string; mint?: string }): string {
  return record.tokenId ?? record.mint ?? '';
}

/** Specification, "orderId formats by source": `<chain>_<contract>_<tokenId>_<epochMillis>`. */
function toOrder(record: OrderRecord): Listing {
  const listedAt = Date.parse(record.createdAt);
  const orderId = `${toCollectionId(record)}_${toAsset(record)}_${listedAt}`;
  return {
    key: orderId,
    orderId,
    source: null,
    collectionId: toCollectionId(record),
    asset: toAsset(record),
    priceRaw: BigInt(record.priceRaw),
    buyerTotalRaw: null,
    seller: toAddress(record.chain, record.seller),
    orderHash: null,
    status: record.status ?? 'active',
    listedAt,
    expiresAt: toTime(record.expiresAt),
    tx: record.tx ?? null,
  };
}

/** Records, "listing": identified by `source` and `id`, or by source, token, seller, price and time. */
function toListing(record: ListingRecord): Listing {
  const collectionId = toCollectionId(record);
  const seller = toAddress(record.chain, record.seller);
  const listedAt = Date.parse(record.timestamp);
  const asset = toAsset(record);
  const { source, priceRaw } = record;
  const orderId =
    record.id === undefined
      ? toIdentity({ source, collectionId, asset, seller, priceRaw, listedAt })
      : toListingId(record, record.id);
  return {
    key: `${source} ${orderId}`,
    orderId,
    source,
    collectionId,
    asset,
    priceRaw: BigInt(priceRaw),
    buyerTotalRaw: toBuyerTotal(record),
    seller,
    orderHash: record.orderHash ?? null,
    status: record.status ?? 'active',
    listedAt,
    expiresAt: toTime(record.expiresAt),
    tx: record.tx ?? null,
  };
}

/** What identifies a listing without an id: "source, token, seller, price and time". It stands for the id until the id is known. */
export function toIdentity(
  row: Pick<Listing, 'collectionId' | 'asset' | 'seller' | 'listedAt'> & { source: string; priceRaw: string },
): string {
  return `${row.source}_ ${[row.collectionId, row.asset, row.seller, row.priceRaw, row.listedAt].join(' ')}`;
}

/** Whether the id of a listing is not known yet. */
export function isUnnamed({ orderId }: Listing): boolean {
  return orderId.includes(' ');
}

/** Records, `lowBuyerTotal`: "a listing whose buyer total is below its price; the total is stored as unknown". */
function toBuyerTotal({ buyerTotalRaw, priceRaw }: ListingRecord): bigint | null {
  const total = toPrice(buyerTotalRaw);
  return total !== null && total < BigInt(priceRaw) ? null : total;
}

/** Specification, "orderId formats by source": "the service's own Solana rows carry the prefix `<service>_`". */
function toListingId({ source, chain }: { source: string; chain: string }, id: string): string {
  const isOwn = source === SERVICE_NAME && CHAINS[chain]?.family === 'solana';
  return isOwn && !id.startsWith(`${SERVICE_NAME}_`) ? `${SERVICE_NAME}_${id}` : id;
}

/** Records, "sale": identified by chain, `tx`, token and `logIndex`, or by all fields when there is no `tx`. */
function toSale(record: SaleRecord): Sale {
  const collectionId = toCollectionId(record);
  const assets = record.tokenIds ?? record.mints ?? [toAsset(record)];
  const account = (address: string | undefined) => toAccount(record.chain, address);
  const facts = {
    source: record.source,
    collectionId,
    assets,
    price: record.price,
    seller: account(record.seller),
    buyer: account(record.buyer),
    soldAt: Date.parse(record.timestamp),
    listingId: record.listingId === undefined ? null : toListingId(record, record.listingId),
    tx: record.tx ?? null,
  };
  const place = [collectionId, ...assets, record.tx, record.logIndex ?? null].join(' ');
  return { key: record.tx === undefined ? JSON.stringify(facts) : place, ...facts };
}

/** Decisions 8: "The zero address as a reported seller or buyer means unknown." */
function toAccount(chain: string, address: string | undefined): string | null {
  if (address === undefined || /^0x0+$|^1{32}$/.test(address)) return null;
  return toAddress(chain, address);
}

function toStats(record: StatsRecord, now: number): Stats {
  return {
    at: toObservation(record.at, now),
    owners: record.owners ?? null,
    listedCount: record.listedCount ?? null,
    supply: record.supply ?? null,
    floorRaw: toPrice(record.floorRaw),
  };
}

function toAnalytics(record: AnalyticsRecord, now: number): Analytics {
  const windows = (figures: AnalyticsRecord['volume'] = {}): Windows => ({
    allTime: figures.allTime ?? null,
    sevenDay: figures.sevenDay ?? null,
    twentyFourHour: figures.twentyFourHour ?? null,
  });
  return {
    at: toObservation(record.at, now),
    floorRaw: toPrice(record.floorRaw),
    volume: windows(record.volume),
    sales: windows(record.sales),
  };
}

function toRate(record: RateRecord): Rate {
  return { at: Date.parse(record.at), usd: record.usd };
}

/** Records: "without at, or with an at in the future, gets the time of its import as at". */
function toObservation(at: string | undefined, now: number): number {
  return Math.min(toTime(at) ?? now, now);
}

function isUntimed(at: string | undefined, now: number): boolean {
  return (toTime(at) ?? Infinity) > now;
}

function toTime(text: string | undefined): number | null {
  return text === undefined ? null : Date.parse(text);
}

/** Decisions 8: "Zero is no price." */
function toPrice(raw: string | undefined): bigint | null {
  return raw === undefined || BigInt(raw) === 0n ? null : BigInt(raw);
}

/** Records, "Taking an import back": "That an order or a listing with an `expiresAt` has expired is no change." */
function withoutExpiry(row: Row): Row {
  return 'expiresAt' in row && row.expiresAt !== null && row.status === 'expired' ? { ...row, status: 'active' } : row;
}

function isSame(a: unknown, b: unknown): boolean {
  const text = (value: unknown) =>
    JSON.stringify(value, (_, part: unknown) => (typeof part === 'bigint' ? part.toString() : part));
  return text(a) === text(b);
}

/** The decimals of the native currency of a chain. */
export function decimalsOf(chain: string): number {
  const facts = CHAINS[chain];
  if (!facts) throw new Error(`there is no chain ${chain}`);
  return facts.decimals;
}
