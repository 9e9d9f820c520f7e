// Lists the tokens of a collection, sorted and filtered. A list has one or two phases: for example the listed tokens by price, and after
// them the other tokens by id. A position consists of a phase and the last token that a page has of this phase.

import type { Address, AssetId } from '../../platform/core/address.ts';
import type { CollectionLocation } from '../../platform/core/collection.ts';
import type { Queryable } from '../../platform/database/port.ts';
import { ServiceError } from '../../platform/core/errors.ts';
import { compareListings } from '../reads/sorted-rows.ts';
import type { Market } from '../reads/market.ts';
import { requireValue, valueOrNull } from '../reads/market-source.ts';
import { readTokens } from '../reads/token.ts';
import { listFillableAssetsAmong } from '../orders/queries/fillable-orders.ts';
import { listHeldUnitsIn } from './queries/holdings.ts';
import { listOwnAssetsByPrice, listOwnAssetsOfAccount } from './queries/own-assets.ts';
import type { ListedAsset, PricePosition, TokenFilter } from './queries/token-keys.ts';
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
  listAssetsByRank,
  listAssetsById,
  listAssetsOfAccount,
  listMirroredAssetsByPrice,
} from './queries/token-keys.ts';

export const TOKEN_SORTS = ['price', 'rank', 'id'] as const;
export type TokenSort = (typeof TOKEN_SORTS)[number];

export type TokenPosition =
  | ({ phase: 'listed' } & PricePosition)
  /** The listed tokens of a list that is filtered by traits. */
  | { phase: 'priced'; raw: bigint; asset: string }
  | { phase: 'ranked'; rank: number; asset: string }
  | { phase: 'others'; asset: string };
type Phase = TokenPosition['phase'];

export type TokenListQuery = {
  sort: TokenSort;
  /** True: only listed tokens. False: only tokens that are not listed. Null: both. */
  listed: boolean | null;
  /** Null: any owner. */
  owner: Address | null;
  /** For each trait name, the accepted values: a token must have one of them. Empty: the list is not filtered by traits. */
  traits: ReadonlyMap<string, readonly string[]>;
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
/** The most tokens that an owner may have in the collection, if the list is filtered by this owner. */
const OWNED_MAX = 10_000;

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

/** Which listed tokens are read, in the order of their prices. */
type PriceQuery = Omit<TokenFilter, 'listed'> & { after: PricePosition | null; limit: number };

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
  #stoppedAt: PricePosition | null = null;

  constructor(market: Market, location: CollectionLocation, query: TokenListQuery) {
    this.#market = market;
    this.#location = location;
    this.#query = query;
    this.#now = market.clock();
    this.#readIndexer = market.tokenLists.withinOneDeadline();
    this.#readBook = market.exploredOrders.withinOneDeadline();
  }

  async read(): Promise<TokenPage> {
    const { after, limit, owner } = this.#query;
    // The list of a custody wallet is empty, because the address of the wallet is never published. Even the cursor of a page would show
    // which tokens the wallet holds.
    if (owner !== null && this.#market.custodyWallets.has(owner)) return { tokens: [], next: null, degraded: false };
    const traits = await this.#findTraitFilter();
    const filter = { now: this.#now, assets: owner === null ? null : await this.#listAssetsOf(owner, traits) };
    // The list of an owner's assets is already filtered by traits. A phase that filters by traits would read the assets of all owners.
    if (owner === null) this.#traits = traits;
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
    const stoppedAt: TokenPosition | null = this.#stoppedAt && { phase: 'listed', ...this.#stoppedAt };
    return {
      tokens: read.tokens
        .map((token) => ({ ...token, balance: this.#balances.get(token.asset) ?? null }))
        .filter((token, index) => this.#belongs(token, page[index]?.position.phase ?? 'others')),
      next: found.length > limit ? (page.at(-1)?.position ?? null) : stoppedAt,
      degraded: !read.complete || !this.#isBookRead,
    };
  }

  /**
   * Whether the token belongs to the list according to its newest data. A listing may have started or ended since the list of assets was read, and
   * the indexer's copy of the own book may be out of date.
   */
  #belongs(token: OwnedToken, phase: Phase): boolean {
    const { owner, sort, listed } = this.#query;
    const mustBeListed = sort === 'price' ? phase !== 'others' : listed;
    if (token.isBurned || (owner !== null && token.owner.address !== owner && token.balance === null)) return false;
    return mustBeListed === null || mustBeListed === (token.listing !== null);
  }

  /**
   * The assets that the account may own. Whether the holder or the seller of a token counts as the owner depends on the token's
   * listing. So `#belongs` checks the owner again after the tokens were read.
   */
  async #listAssetsOf(account: Address, traits: TraitFilter | null): Promise<string[]> {
    const { collectionId } = this.#location;
    const options = { account, now: this.#now, limit: OWNED_MAX + 1 };
    const [held, sold, units] = await Promise.all([
      this.#readIndexer((db) => listAssetsOfAccount(db, collectionId, options)),
      this.#readOwn((db) => listOwnAssetsOfAccount(db, collectionId, options)),
      this.#readOwn((db) => listHeldUnitsIn(db, collectionId, options)),
    ]);
    this.#balances = new Map(units.map((row) => [row.asset, row.units]));
    const assets = new Set([...requireValue(held, 'upstream_error'), ...sold, ...this.#balances.keys()]);
    if (assets.size <= OWNED_MAX) {
      if (!traits) return [...assets];
      const options = { filter: traits, assets: [...assets] };
      return this.#readIndex((db) => listAssetsWithTraits(db, collectionId, options));
    }
    throw new ServiceError(
      'bad_request',
      `The owner has more than ${OWNED_MAX} tokens of the collection: use /explore/v1/wallets/{address}/tokens`,
      { param: 'owner' },
    );
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
      const rows = await this.#listByPrice({ ...options, after: start?.phase === 'listed' ? start : null });
      return rows.map(({ asset, ...position }) => ({ asset, position: { phase, ...position } }));
    }
    if (phase === 'ranked') {
      const after = start?.phase === 'ranked' ? start : null;
      const rows = await this.#readIndexer((db) => listAssetsByRank(db, collectionId, { ...options, listed, after }));
      return requireValue(rows, 'upstream_error').map((row) => ({ asset: row.asset, position: { phase, ...row } }));
    }
    const after = start?.phase === 'others' ? start.asset : null;
    const others = { ...options, after, listed: sort === 'price' ? false : listed, unranked: sort === 'rank' };
    const assets = await this.#readIndexer((db) => listAssetsById(db, collectionId, others));
    return requireValue(assets, 'upstream_error').map((asset) => ({ asset, position: { phase: 'others', asset } }));
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

  /** The listed assets of the own order book and of the mirror. If the own book lists an asset, only the price of the own order counts. */
  async #listByPrice(options: PriceQuery): Promise<ListedAsset[]> {
    const { collectionId } = this.#location;
    const [own, mirrored] = await Promise.all([
      this.#readOwn((db) => listOwnAssetsByPrice(db, collectionId, options)),
      this.#listMirroredByPrice(options),
    ]);
    // The own book may have changed between the two reads, so an asset may be in both lists.
    const ownAssets = new Set(own.map((row) => row.asset));
    const rows = [
      ...own.map((row) => ({ ...row, key: LOWEST_KEY })),
      ...mirrored.filter((row) => !ownAssets.has(row.asset)),
    ].sort(compareListings);
    // If the mirror was not read to the end, rows that sort after the last mirrored listing that was read are left out: an unread mirrored
    // listing may belong before them.
    const stoppedAt = this.#stoppedAt;
    const known = stoppedAt
      ? rows.filter((row) => compareListings({ ...row }, { ...stoppedAt, asset: '' }) <= 0)
      : rows;
    return known.slice(0, options.limit);
  }

  async #listMirroredByPrice(options: PriceQuery): Promise<ListedAsset[]> {
    const { collectionId } = this.#location;
    const rows: ListedAsset[] = [];
    let { after, limit } = options;
    for (let chunks = 0; rows.length < options.limit; chunks += 1) {
      if (chunks === CHUNKS_MAX) {
        this.#stoppedAt = after;
        break;
      }
      const query = { ...options, after, limit };
      const chunk = requireValue(
        await this.#readIndexer((db) => listMirroredAssetsByPrice(db, collectionId, query)),
        'upstream_error',
      );
      const assets = chunk.map((row) => row.asset);
      const own = new Set(
        assets.length === 0
          ? []
          : await this.#readOwn((db) => listFillableAssetsAmong(db, collectionId, assets, options.now)),
      );
      rows.push(...chunk.filter((row) => !own.has(row.asset)));
      if (chunk.length < limit) break;
      after = chunk.at(-1) ?? null;
      limit = CHUNK_SIZE;
    }
    return rows;
  }

  /** Null if the list is not filtered by traits. Throws `bad_request` for a trait that the collection does not have. */
  async #findTraitFilter(): Promise<TraitFilter | null> {
    const { traits } = this.#query;
    const { collectionId } = this.#location;
    if (traits.size === 0) return null;
    const filter = await this.#readIndex((db) => findTraitFilter(db, collectionId, traits));
    if (!('value' in filter)) return filter;
    const names = await this.#readIndex((db) => listTraitNames(db, collectionId, NAMED_TRAITS_MAX + 1));
    throw new ServiceError('bad_request', toUnknownTraitMessage(filter, names), { param: 'traits' });
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

function toPhases({ sort, listed }: Pick<TokenListQuery, 'sort' | 'listed'>, hasTraits: boolean): Phase[] {
  if (sort === 'id') return ['others'];
  if (sort === 'rank') return ['ranked', 'others'];
  const priced = hasTraits ? 'priced' : 'listed';
  return listed === null ? [priced, 'others'] : listed ? [priced] : ['others'];
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
