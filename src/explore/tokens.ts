// The tokens of a collection, sorted and filtered. A list has one or two phases, for example the listed tokens by price and then the others by
// id. A position names the last token of a page, in its phase.

import type { Address, AssetId } from '../core/address.ts';
import type { CollectionLocation } from '../core/collection.ts';
import type { Queryable } from '../database/port.ts';
import { compareListings } from '../market/listing-window.ts';
import type { Market } from '../market/market.ts';
import { requireValue, valueOrNull } from '../market/market-source.ts';
import type { Token } from '../market/token.ts';
import { readTokens } from '../market/token.ts';
import { listFillableAssetsAmong } from '../orders/queries/fillable-orders.ts';
import { listOwnAssetsByPrice, listOwnAssetsOfAccount } from './queries/own-assets.ts';
import type { ListedAsset, PricePosition, TokenFilter } from './queries/token-keys.ts';
import {
  listAssetsByRank,
  listAssetsById,
  listAssetsOfAccount,
  listMirroredAssetsByPrice,
} from './queries/token-keys.ts';

export const TOKEN_SORTS = ['price', 'rank', 'id'] as const;
export type TokenSort = (typeof TOKEN_SORTS)[number];

export type TokenPosition =
  | ({ phase: 'listed' } & PricePosition)
  | { phase: 'ranked'; rank: number; asset: string }
  | { phase: 'others'; asset: string };
type Phase = TokenPosition['phase'];

export type TokenListQuery = {
  sort: TokenSort;
  /** Null: listed or not. */
  listed: boolean | null;
  /** Null: any owner. */
  owner: Address | null;
  after: TokenPosition | null;
  limit: number;
};

export type TokenPage = {
  tokens: Token[];
  /** The position of the last token; null on the last page. */
  next: TokenPosition | null;
  /** True when the own order book could not be read. */
  degraded: boolean;
};

/** The sort key of an own order sorts before those of mirrored listings with the same price and id. */
const LOWEST_KEY = '00000000-0000-0000-0000-000000000000';
/** The most reads of mirrored listings for one page. It is reached when the own book lists almost all of the cheapest assets. */
const CHUNKS_MAX = 20;

/** Throws `upstream_error` when the indexer cannot be read. */
export async function listTokens(
  market: Market,
  location: CollectionLocation,
  query: TokenListQuery,
): Promise<TokenPage> {
  const reader = new TokenListReader(market, location, query);
  return reader.read();
}

type Found = { asset: AssetId; position: TokenPosition };

class TokenListReader {
  readonly #market: Market;
  readonly #location: CollectionLocation;
  readonly #query: TokenListQuery;
  readonly #now: number;
  readonly #readIndexer: Market['tokenLists']['read'];
  readonly #readBook: Market['orderBook']['read'];
  #isBookRead = true;

  constructor(market: Market, location: CollectionLocation, query: TokenListQuery) {
    this.#market = market;
    this.#location = location;
    this.#query = query;
    this.#now = market.clock();
    this.#readIndexer = market.tokenLists.withinOneDeadline();
    this.#readBook = market.orderBook.withinOneDeadline();
  }

  async read(): Promise<TokenPage> {
    const { after, limit, owner } = this.#query;
    const filter = { now: this.#now, assets: owner === null ? null : await this.#listAssetsOf(owner) };
    const found: Found[] = [];
    let position = after;
    const phases = toPhases(this.#query);
    for (const phase of phases.slice(after === null ? 0 : phases.indexOf(after.phase))) {
      if (found.length > limit) break;
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
      tokens: owner === null ? read.tokens : read.tokens.filter((token) => token.owner.address === owner),
      next: found.length > limit ? (page.at(-1)?.position ?? null) : null,
      degraded: !read.complete || !this.#isBookRead,
    };
  }

  /** The assets that the account may own. Who the owner is depends on the listing, so the tokens are checked after they were read. */
  async #listAssetsOf(account: Address): Promise<string[]> {
    const { collectionId } = this.#location;
    const [held, sold] = await Promise.all([
      this.#readIndexer((db) => listAssetsOfAccount(db, collectionId, { account, now: this.#now })),
      this.#readOwn((db) => listOwnAssetsOfAccount(db, collectionId, { account, now: this.#now })),
    ]);
    return [...new Set([...requireValue(held, 'upstream_error'), ...sold])];
  }

  async #readPhase(
    phase: Phase,
    start: TokenPosition | null,
    options: Omit<TokenFilter, 'listed'> & { limit: number },
  ): Promise<Found[]> {
    const { collectionId } = this.#location;
    const { sort, listed } = this.#query;
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
    return requireValue(assets, 'upstream_error').map((asset) => ({ asset, position: { phase, asset } }));
  }

  /** The listed assets of both books. An asset that the own book lists is listed at its own price. */
  async #listByPrice(options: {
    now: number;
    assets: readonly string[] | null;
    after: PricePosition | null;
    limit: number;
  }): Promise<ListedAsset[]> {
    const { collectionId } = this.#location;
    const [own, mirrored] = await Promise.all([
      this.#readOwn((db) => listOwnAssetsByPrice(db, collectionId, options)),
      this.#listMirroredByPrice(options),
    ]);
    const rows = [...own.map((row) => ({ ...row, key: LOWEST_KEY })), ...mirrored];
    return rows.sort(compareListings).slice(0, options.limit);
  }

  async #listMirroredByPrice(options: {
    now: number;
    assets: readonly string[] | null;
    after: PricePosition | null;
    limit: number;
  }): Promise<ListedAsset[]> {
    const { collectionId } = this.#location;
    const rows: ListedAsset[] = [];
    let { after } = options;
    for (let chunks = 0; chunks < CHUNKS_MAX && rows.length < options.limit; chunks += 1) {
      const start = after;
      const chunk = requireValue(
        await this.#readIndexer((db) => listMirroredAssetsByPrice(db, collectionId, { ...options, after: start })),
        'upstream_error',
      );
      const assets = chunk.map((row) => row.asset);
      const own = new Set(
        assets.length === 0
          ? []
          : await this.#readOwn((db) => listFillableAssetsAmong(db, collectionId, assets, options.now)),
      );
      rows.push(...chunk.filter((row) => !own.has(row.asset)));
      if (chunk.length < options.limit) break;
      after = chunk.at(-1) ?? null;
    }
    return rows;
  }

  /** Reads the own order book. Empty on a chain without an own order book, or when it cannot be read. */
  async #readOwn<T>(query: (db: Queryable) => Promise<T[]>): Promise<T[]> {
    if (this.#location.chain.family !== 'evm') return [];
    const result = await this.#readBook(query);
    this.#isBookRead &&= result.ok;
    return valueOrNull(result) ?? [];
  }
}

function toPhases({ sort, listed }: Pick<TokenListQuery, 'sort' | 'listed'>): Phase[] {
  if (sort === 'id') return ['others'];
  if (sort === 'rank') return ['ranked', 'others'];
  return listed === null ? ['listed', 'others'] : listed ? ['listed'] : ['others'];
}
