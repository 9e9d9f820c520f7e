// Lists the tokens of a collection, sorted and filtered. A list has one or two phases: for example the listed tokens by price, and after
// them the other tokens by id. A position consists of a phase and the last token that a page has of this phase.

import type { Address, AssetId } from '../../platform/core/address.ts';
import type { CollectionLocation } from '../../platform/core/collection.ts';
import type { Queryable } from '../../platform/database/port.ts';
import { ServiceError } from '../../platform/core/errors.ts';
import { isStorable } from '../../platform/core/text.ts';
import { compareListings } from '../reads/sorted-rows.ts';
import type { Market } from '../reads/market.ts';
import { requireValue, valueOrNull } from '../reads/market-source.ts';
import { readTokens } from '../reads/token.ts';
import { listFillableAssetsAmong } from '../orders/queries/fillable-orders.ts';
import { listHeldUnitsIn } from './queries/holdings.ts';
import { listOwnAssetsByPrice, listOwnAssetsByTime, listOwnAssetsOfAccount } from './queries/own-assets.ts';
import type { Range } from '../index/queries/ranks.ts';
import type {
  ListedAsset,
  ListingFilter,
  PricePosition,
  RecentAsset,
  TimePosition,
  TokenFilter,
} from './queries/token-keys.ts';
import type { TraitFilter, UnknownTrait } from './queries/trait-keys.ts';
import {
  findTraitFilter,
  listAssetsWithTraits,
  listTraitAssetsById,
  listTraitAssetsByRank,
} from './queries/trait-keys.ts';
import { listTraitNames } from './queries/traits.ts';
import { listPricedAssets } from './priced-assets.ts';
import type { OwnedToken } from './wallets.ts';
import {
  LOWEST_KEY,
  listAssetsByLastSale,
  listAssetsByRank,
  listAssetsById,
  listAssetsLike,
  listAssetsOfAccount,
  listMirroredAssetsByPrice,
  listMirroredAssetsByTime,
} from './queries/token-keys.ts';

export const TOKEN_SORTS = ['price', 'rank', 'id', 'recent', 'lastSale'] as const;
export type TokenSort = (typeof TOKEN_SORTS)[number];

export type TokenPosition =
  | ({ phase: 'listed' } & PricePosition)
  /** The listed tokens of a list that is filtered by traits. */
  | { phase: 'priced'; raw: bigint; asset: string }
  | ({ phase: 'recent' } & TimePosition)
  | { phase: 'sold'; at: number; key: string }
  | { phase: 'ranked'; rank: number; asset: string }
  | { phase: 'others'; asset: string };
type Phase = TokenPosition['phase'];

export type TokenListQuery = ListingFilter & {
  sort: TokenSort;
  /** True: only listed tokens. False: only tokens that are not listed. Null: both. */
  listed: boolean | null;
  /** Null: any owner. */
  owner: Address | null;
  /** For each trait name, the accepted values: a token must have one of them. Empty: the list is not filtered by traits. */
  traits: ReadonlyMap<string, readonly string[]>;
  /** The parameter that an error about a trait names. Default: `traits`. */
  traitsParameter?: string;
  /** The beginning of a name or token id. Null: any. */
  text: string | null;
  rank: Range<number> | null;
  after: TokenPosition | null;
  limit: number;
};

export type TokenPage = {
  tokens: OwnedToken[];
  /** The position of the last token; null on the last page. */
  next: TokenPosition | null;
  /** True when the own order book could not be read. */
  degraded: boolean;
};

/** The most mirrored listings that one read returns. Exception: the first read returns at most as many as the page has room for. */
const CHUNK_SIZE = 300;
/** The most reads of mirrored listings for one page. This limit is reached only if the own book lists almost all of the cheapest assets. */
const CHUNKS_MAX = 20;
/** The most tokens that a filter may find, if the list is in an order that has no index of the tokens of this filter. */
const FOUND_MAX = 10_000;

/** The most traits that an error message names, and the most characters of each name. */
const NAMED_TRAITS_MAX = 20;
const NAMED_LENGTH_MAX = 60;

/** Throws `upstream_error` when the indexer cannot be read, and `bad_request` for a trait that the collection does not have. */
export async function listTokens(
  market: Market,
  location: CollectionLocation,
  query: TokenListQuery,
): Promise<TokenPage> {
  const reader = new TokenListReader(market, location, query);
  return reader.read();
}

type Found = { asset: AssetId; position: TokenPosition };

/** Which listed tokens are read. */
type ListingQuery = Omit<TokenFilter, 'listed'> & { limit: number };

type StopPosition = Extract<TokenPosition, { phase: 'listed' | 'recent' }>;

class TokenListReader {
  readonly #market: Market;
  readonly #location: CollectionLocation;
  readonly #query: TokenListQuery;
  readonly #now: number;
  readonly #readIndexer: Market['tokenLists']['read'];
  readonly #readBook: Market['orderBook']['read'];
  /** Null: the list is not filtered by traits. */
  #traits: TraitFilter | null = null;
  #isBookRead = true;
  /** The units of each token that the owner holds, if the list is filtered by an owner. */
  #balances: ReadonlyMap<string, bigint> = new Map();
  /** The last mirrored listing that was read, if the limit of reads was reached. */
  #stoppedAt: StopPosition | null = null;

  constructor(market: Market, location: CollectionLocation, query: TokenListQuery) {
    this.#market = market;
    this.#location = location;
    this.#query = query;
    this.#now = market.clock();
    this.#readIndexer = market.tokenLists.withinOneDeadline();
    this.#readBook = market.exploredOrders.withinOneDeadline();
  }

  async read(): Promise<TokenPage> {
    const { after, limit, owner, text, source } = this.#query;
    // No stored text has these characters.
    if (!isStorable(text ?? '') || !isStorable(source ?? '')) return { tokens: [], next: null, degraded: false };
    // The list of a custody wallet is empty, because the address of the wallet is never published. Even the cursor of a page would show
    // which tokens the wallet holds.
    if (owner !== null && this.#market.custodyWallets.has(owner)) return { tokens: [], next: null, degraded: false };
    const traits = await this.#findTraitFilter();
    const filter = { now: this.#now, assets: await this.#listCandidates(traits) };
    // Candidates are already filtered by traits. A phase that filters by traits would read all assets.
    if (filter.assets === null) this.#traits = traits;
    const found: Found[] = [];
    let position = after;
    const phases = toPhases(this.#query, this.#traits !== null);
    for (const phase of phases.slice(after === null ? 0 : phases.indexOf(after.phase))) {
      if (found.length > limit || this.#stoppedAt) break;
      const start = position?.phase === phase ? position : null;
      found.push(...(await this.#readPhase(phase, start, { ...filter, limit: limit + 1 - found.length })));
      position = null;
    }
    const page = found.slice(0, limit);
    const { chain, contractAddress } = this.#location;
    const read = await readTokens(
      this.#market,
      this.#market.tokenLists,
      page.map(({ asset }) => ({ chain, contractAddress, asset })),
    );
    requireValue(read.observation, 'upstream_error');
    return {
      tokens: read.tokens
        .map((token) => ({ ...token, balance: this.#balances.get(token.asset) ?? null }))
        .filter((token, index) => this.#belongs(token, page[index]?.position.phase ?? 'others')),
      next: found.length > limit ? (page.at(-1)?.position ?? null) : this.#stoppedAt,
      degraded: !read.complete || !this.#isBookRead,
    };
  }

  /**
   * Whether the token belongs to the list according to its newest data. A listing may have started or ended since the list of assets was read, and
   * the indexer's copy of the own book may be out of date.
   */
  #belongs(token: OwnedToken, phase: Phase): boolean {
    const { owner, sort, listed, price, rank } = this.#query;
    const mustBeListed = sort === 'price' || sort === 'recent' ? phase !== 'others' : listed;
    const { listing, rarityRank } = token;
    if (token.isBurned || (owner !== null && token.owner.address !== owner && token.balance === null)) return false;
    if (rank && (rarityRank === null || !isWithin(rarityRank, rank))) return false;
    if (price && (listing === null || !isWithin(listing.raw, price))) return false;
    if (this.#query.source !== null && !this.#isFrom(listing)) return false;
    return mustBeListed === null || mustBeListed === (listing !== null);
  }

  /** Whether the listing is of the marketplace that the list is filtered by. An own listing has no source. */
  #isFrom(listing: OwnedToken['listing']): boolean {
    return listing !== null && (listing.source ?? this.#market.serviceName) === this.#query.source;
  }

  /**
   * The assets that pass those filters for which the order of the list has no index. Null if there is no such filter. Whether a token belongs to the
   * list is checked again after it was read.
   */
  async #listCandidates(traits: TraitFilter | null): Promise<string[] | null> {
    const { owner, sort, source, price, rank, text, listed } = this.#query;
    const { collectionId } = this.#location;
    const limit = FOUND_MAX + 1;
    const lists: (readonly string[])[] = [];
    const add = (assets: readonly string[], hint: string) => {
      if (assets.length > FOUND_MAX) throw tooMany(hint);
      lists.push(assets);
    };
    if (owner !== null) add(await this.#listAssetsOf(owner, limit), 'use /explore/v1/wallets/{address}/tokens');
    if (text !== null) {
      const isNumbered = this.#location.chain.family === 'evm';
      add(
        await this.#readIndex((db) => listAssetsLike(db, collectionId, { text, limit, isNumbered })),
        'give more of the name or id in q',
      );
    }
    const isByListing = sort === 'price' || sort === 'recent';
    if ((source !== null || price) && (!isByListing || traits)) {
      const rows = await this.#listByPrice({ assets: null, now: this.#now, limit }, null);
      if (this.#stoppedAt) throw tooMany('give a smaller range of prices');
      add(
        rows.map(({ asset }) => asset),
        'give a smaller range of prices, or sort=price',
      );
    }
    if (rank && (sort !== 'rank' || traits)) {
      const query = { assets: null, now: this.#now, listed, ranks: rank, after: null, limit };
      const rows = await this.#readIndex((db) => listAssetsByRank(db, collectionId, query));
      add(
        rows.map(({ asset }) => asset),
        'give a smaller range of ranks, or sort=rank',
      );
    }
    const [first, ...others] = lists;
    if (!traits) return first ? others.reduce<string[]>(intersect, [...first]) : null;
    if (first) {
      const assets = others.reduce<string[]>(intersect, [...first]);
      return this.#readIndex((db) => listAssetsWithTraits(db, collectionId, { filter: traits, assets }));
    }
    if (sort !== 'recent' && sort !== 'lastSale') return null;
    const query = { filter: traits, listed, now: this.#now, after: null, unranked: false, limit };
    const assets = await this.#readIndex((db) => listTraitAssetsById(db, collectionId, query));
    if (assets.length > FOUND_MAX) throw tooMany('name more traits, or sort by price, rank or id');
    return assets;
  }

  /**
   * At most `limit` assets that the account may own. Whether the holder or the seller of a token counts as the owner depends on the token's
   * listing. So `#belongs` checks the owner again after the tokens were read.
   */
  async #listAssetsOf(account: Address, limit: number): Promise<string[]> {
    const { collectionId } = this.#location;
    const options = { account, now: this.#now, limit };
    const [held, sold, units] = await Promise.all([
      this.#readIndex((db) => listAssetsOfAccount(db, collectionId, options)),
      this.#readOwn((db) => listOwnAssetsOfAccount(db, collectionId, options)),
      this.#readOwn((db) => listHeldUnitsIn(db, collectionId, options)),
    ]);
    this.#balances = new Map(units.map((row) => [row.asset, row.units]));
    return [...new Set([...held, ...sold, ...this.#balances.keys()])];
  }

  async #readPhase(
    phase: Phase,
    start: TokenPosition | null,
    options: Omit<TokenFilter, 'listed'> & { limit: number },
  ): Promise<Found[]> {
    const { collectionId } = this.#location;
    const { sort, listed } = this.#query;
    const traits = this.#traits;
    if (traits) return this.#readTraitPhase(phase, start, { filter: traits, limit: options.limit });
    if (phase === 'listed') {
      const rows = await this.#listByPrice(options, start?.phase === 'listed' ? start : null);
      return rows.map(({ asset, ...position }) => ({ asset, position: { phase, ...position } }));
    }
    if (phase === 'recent') {
      const rows = await this.#listByTime(options, start?.phase === 'recent' ? start : null);
      return rows.map(({ asset, ...position }) => ({ asset, position: { phase, ...position } }));
    }
    if (phase === 'sold') {
      const after = start?.phase === 'sold' ? start : null;
      const rows = await this.#readIndex((db) => listAssetsByLastSale(db, collectionId, { ...options, listed, after }));
      return rows.map(({ asset, ...position }) => ({ asset, position: { phase, ...position } }));
    }
    if (phase === 'ranked') {
      const after = start?.phase === 'ranked' ? start : null;
      const query = { ...options, listed, after, ranks: this.#query.rank };
      const rows = await this.#readIndex((db) => listAssetsByRank(db, collectionId, query));
      return rows.map((row) => ({ asset: row.asset, position: { phase, ...row } }));
    }
    const others = {
      ...options,
      after: start?.phase === 'others' ? start.asset : null,
      listed: sort === 'price' || sort === 'recent' ? false : listed,
      unranked: sort === 'rank',
      unsold: sort === 'lastSale',
    };
    const assets = await this.#readIndex((db) => listAssetsById(db, collectionId, others));
    return assets.map((asset) => ({ asset, position: { phase: 'others', asset } }));
  }

  async #readTraitPhase(
    phase: Phase,
    start: TokenPosition | null,
    options: { filter: TraitFilter; limit: number },
  ): Promise<Found[]> {
    const { collectionId } = this.#location;
    const { sort, listed } = this.#query;
    if (phase === 'priced') {
      const after = start?.phase === 'priced' ? start : null;
      const rows = await listPricedAssets(this.#market, this.#location, {
        ...options,
        after,
        now: this.#now,
        read: (query) => this.#readIndex(query),
      });
      return rows.map((row) => ({ asset: row.asset, position: { phase, ...row } }));
    }
    const query = { ...options, now: this.#now };
    if (phase === 'ranked') {
      const after = start?.phase === 'ranked' ? start : null;
      const rows = await this.#readIndex((db) => listTraitAssetsByRank(db, collectionId, { ...query, listed, after }));
      return rows.map((row) => ({ asset: row.asset, position: { phase, ...row } }));
    }
    const after = start?.phase === 'others' ? start.asset : null;
    const others = { ...query, after, listed: sort === 'price' ? false : listed, unranked: sort === 'rank' };
    const assets = await this.#readIndex((db) => listTraitAssetsById(db, collectionId, others));
    return assets.map((asset) => ({ asset, position: { phase: 'others', asset } }));
  }

  /**
   * The listed assets of the own order book and of the mirror, the cheapest first. If the own book lists an asset, only the price of the own order
   * counts.
   */
  async #listByPrice(options: ListingQuery, after: PricePosition | null): Promise<ListedAsset[]> {
    const { collectionId } = this.#location;
    const { source, price } = this.#query;
    const query = { ...options, source, price };
    const [own, mirrored] = await Promise.all([
      this.#readOwnOf(source, (db) => listOwnAssetsByPrice(db, collectionId, { ...query, after })),
      this.#listMirrored<ListedAsset>(options.limit, after, {
        read: (db, range) => listMirroredAssetsByPrice(db, collectionId, { ...query, ...range }),
        stop: (last) => ({ phase: 'listed', ...last }),
      }),
    ]);
    const rows = [...own.map((row) => ({ ...row, key: LOWEST_KEY })), ...mirrored];
    const stopped = this.#stoppedAt?.phase === 'listed' ? { ...this.#stoppedAt, asset: '' } : null;
    return mergeListed(rows, { compare: compareListings, stopped, limit: options.limit });
  }

  /** The same, the newest listing first. */
  async #listByTime(options: ListingQuery, after: TimePosition | null): Promise<RecentAsset[]> {
    const { collectionId } = this.#location;
    const { source, price } = this.#query;
    const query = { ...options, source, price };
    const [own, mirrored] = await Promise.all([
      this.#readOwnOf(source, (db) => listOwnAssetsByTime(db, collectionId, { ...query, after })),
      this.#listMirrored<RecentAsset>(options.limit, after, {
        read: (db, range) => listMirroredAssetsByTime(db, collectionId, { ...query, ...range }),
        stop: (last) => ({ phase: 'recent', ...last }),
      }),
    ]);
    const stopped = this.#stoppedAt?.phase === 'recent' ? this.#stoppedAt : null;
    return mergeListed([...own, ...mirrored], { compare: compareTimes, stopped, limit: options.limit });
  }

  /** Rows of the mirror without the assets that the own order book lists. They are read in chunks, in the order of the list. */
  async #listMirrored<Row extends { asset: AssetId }>(
    wanted: number,
    start: Omit<Row, 'asset'> | null,
    {
      read,
      stop,
    }: {
      read: (db: Queryable, range: { after: Omit<Row, 'asset'> | null; limit: number }) => Promise<Row[]>;
      stop: (last: Omit<Row, 'asset'>) => StopPosition;
    },
  ): Promise<Row[]> {
    const { collectionId } = this.#location;
    const rows: Row[] = [];
    let [after, limit] = [start, wanted];
    for (let chunks = 0; rows.length < wanted; chunks += 1) {
      if (chunks === CHUNKS_MAX) {
        this.#stoppedAt = after && stop(after);
        break;
      }
      const chunk = await this.#readIndex((db) => read(db, { after, limit }));
      const assets = chunk.map((row) => row.asset);
      const own = new Set(
        assets.length === 0
          ? []
          : await this.#readOwn((db) => listFillableAssetsAmong(db, collectionId, assets, this.#now)),
      );
      rows.push(...chunk.filter((row) => !own.has(row.asset)));
      if (chunk.length < limit) break;
      after = chunk.at(-1) ?? null;
      limit = CHUNK_SIZE;
    }
    return rows;
  }

  /** Empty if the list is filtered by another marketplace. */
  #readOwnOf<T>(source: string | null, query: (db: Queryable) => Promise<T[]>): Promise<T[]> {
    return source === null || source === this.#market.serviceName ? this.#readOwn(query) : Promise.resolve([]);
  }

  /** Null if the list is not filtered by traits. Throws `bad_request` for a trait that the collection does not have. */
  async #findTraitFilter(): Promise<TraitFilter | null> {
    const { traits, traitsParameter = 'traits' } = this.#query;
    const { collectionId } = this.#location;
    if (traits.size === 0) return null;
    const filter = await this.#readIndex((db) => findTraitFilter(db, collectionId, traits));
    if (!('value' in filter)) return filter;
    const names = await this.#readIndex((db) => listTraitNames(db, collectionId, NAMED_TRAITS_MAX + 1));
    throw new ServiceError('bad_request', toUnknownTraitMessage(filter, names), { param: traitsParameter });
  }

  async #readIndex<T>(query: (db: Queryable) => Promise<T>): Promise<T> {
    return requireValue(await this.#readIndexer(query), 'upstream_error');
  }

  /** Reads the own order book. Empty on a chain without an own order book, or when it cannot be read. */
  async #readOwn<T>(query: (db: Queryable) => Promise<T[]>): Promise<T[]> {
    if (this.#location.chain.family !== 'evm') return [];
    const result = await this.#readBook(query);
    this.#isBookRead &&= result.ok;
    return valueOrNull(result) ?? [];
  }
}

/**
 * Merges the rows of the own order book and of the mirror. The own book may have changed between the two reads, so an asset may be in both. If the
 * mirror was not read to its end, rows after the last one that was read (`stopped`) are left out: an unread listing may belong before them.
 */
function mergeListed<Row extends { asset: AssetId }>(
  rows: readonly Row[],
  {
    compare,
    stopped,
    limit,
  }: { compare: (a: Row, b: Row) => number; stopped: Omit<Row, 'asset'> | null; limit: number },
): Row[] {
  const first = new Map<AssetId, Row>();
  for (const row of rows) if (!first.has(row.asset)) first.set(row.asset, row);
  const sorted = [...first.values()].sort(compare);
  const known = stopped ? sorted.filter((row) => compare(row, { ...row, ...stopped }) <= 0) : sorted;
  return known.slice(0, limit);
}

/** The newest first. Own orders come before mirrored listings of the same time. */
function compareTimes(a: TimePosition, b: TimePosition): number {
  return b.at - a.at || Number(b.own) - Number(a.own) || (a.id === b.id ? 0 : a.id > b.id ? -1 : 1);
}

function isWithin<T extends number | bigint>(value: T, { min, max }: Range<T>): boolean {
  return (min === null || value >= min) && (max === null || value <= max);
}

function intersect(assets: readonly string[], others: readonly string[]): string[] {
  const known = new Set(others);
  return assets.filter((asset) => known.has(asset));
}

function tooMany(hint: string): ServiceError {
  return new ServiceError('bad_request', `A filter finds more than ${FOUND_MAX} tokens of the collection: ${hint}`);
}

function toPhases(
  { sort, listed, rank, price, source }: Omit<TokenListQuery, 'after' | 'limit'>,
  hasTraits: boolean,
): Phase[] {
  if (sort === 'id') return ['others'];
  if (sort === 'rank') return rank ? ['ranked'] : ['ranked', 'others'];
  if (sort === 'lastSale') return ['sold', 'others'];
  const first = sort === 'recent' ? 'recent' : hasTraits ? 'priced' : 'listed';
  if (price || source !== null) return [first];
  return listed === null ? [first, 'others'] : listed ? [first] : ['others'];
}

/** `names`: one name more than the message may name, if there are so many. */
function toUnknownTraitMessage({ name, value }: UnknownTrait, names: readonly string[]): string {
  const quote = (text: string) => `"${text.slice(0, NAMED_LENGTH_MAX).toWellFormed()}"`;
  if (value !== null) return `The trait ${quote(name)} has no value ${quote(value)}: see the traits of the collection`;
  if (names.length === 0) return `No trait of the collection is known, so there is no trait ${quote(name)}`;
  const listed = names.slice(0, NAMED_TRAITS_MAX).map(quote).join(', ');
  const more = names.length > NAMED_TRAITS_MAX ? ' and more' : '';
  return `The collection has no trait ${quote(name)}: its traits are ${listed}${more}`;
}
