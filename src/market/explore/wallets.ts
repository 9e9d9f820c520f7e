// Lists the tokens that a wallet owns and the listings that it offers, on one chain or on all chains.

import type { Address } from '../../platform/core/address.ts';
import type { Chain } from '../../platform/core/chains.ts';
import type { DetailedListing } from '../reads/listing.ts';
import { toDetailedListingOfMirror, toDetailedListingOfOrder } from '../reads/listing.ts';
import type { Market } from '../reads/market.ts';
import { requireValue, valueOrNull } from '../reads/market-source.ts';
import type { Token, TokenLocation } from '../reads/token.ts';
import { readTokens } from '../reads/token.ts';
import { listFillableOrdersOfAssets } from '../orders/queries/fillable-orders.ts';
import { toTokenLocation } from './token-location.ts';
import { listUnitsOfWallet } from './queries/holdings.ts';
import { listOwnOrdersOfSeller } from './queries/own-assets.ts';
import type { WalletAsset, WalletQuery } from './queries/wallet-assets.ts';
import { listHeldAssets, listMirroredOfSeller } from './queries/wallet-assets.ts';

/** `chain` null: all chains. */
export type WalletPageQuery = {
  account: Address;
  chain: Chain | null;
  after: { collectionId: string; asset: string } | null;
  limit: number;
};

/** `next`: the last asset that was read; null on the last page. `degraded`: the own order book could not be read. */
export type WalletPage<Row> = { rows: Row[]; next: WalletQuery['after']; degraded: boolean };

/** The lists of a custody wallet are empty, because a custody wallet is never published as an owner or a seller. */
const EMPTY_PAGE = { rows: [], next: null, degraded: false };

/** `balance`: the units that the account holds, by the log of the followed chain. Null if the chain is not read, or if it holds none itself. */
export type OwnedToken = Token & { balance: bigint | null };

/**
 * The tokens whose beneficial owner is the account, and the tokens of which it holds units, as other accounts may too. If another account sells a token that this account holds, the seller can be the
 * beneficial owner. The token is then left out, so a page can have fewer tokens than its limit. Throws `upstream_error` when the indexer
 * cannot be read.
 */
export async function listWalletTokens(market: Market, query: WalletPageQuery): Promise<WalletPage<OwnedToken>> {
  if (market.custodyWallets.has(query.account)) return EMPTY_PAGE;
  const read = market.wallets.withinOneDeadline();
  const options = toOptions(market, query);
  const readPrimary = market.exploredOrders.withinOneDeadline();
  const [held, mirrored, own, units] = await Promise.all([
    read((db) => listHeldAssets(db, options)),
    read((db) => listMirroredOfSeller(db, options)),
    readPrimary((db) => listOwnOrdersOfSeller(db, options)),
    readPrimary((db) => listUnitsOfWallet(db, options)),
  ]);
  const ofChain = valueOrNull(units) ?? [];
  const { page, next } = toPage(
    [
      ...requireValue(held, 'upstream_error'),
      ...requireValue(mirrored, 'upstream_error'),
      ...(valueOrNull(own) ?? []),
      ...ofChain,
    ],
    query.limit,
  );
  // The lists are sorted alike, so `ofChain` has every token of the page of which the account holds units.
  const balances = new Map(ofChain.map((row) => [toKeyText(row), row.units]));
  const locations = page.flatMap((asset) => toTokenLocation(market, asset) ?? []);
  const { tokens, observation, complete } = await readTokens(market, market.wallets, locations);
  requireValue(observation, 'upstream_error');
  const rows = tokens
    .map((token) => ({ ...token, balance: balances.get(toKeyText(token)) ?? null }))
    .filter(({ owner, balance, isBurned }) => (owner.address === query.account || balance !== null) && !isBurned);
  return { rows, next, degraded: !complete || !own.ok || !units.ok };
}

export type WalletListing = { listing: DetailedListing; location: TokenLocation };

/**
 * The listings whose seller is the account: one for each asset. An order of the own order book comes before a mirrored listing. Throws
 * `upstream_error` when the mirror cannot be read.
 */
export async function listWalletListings(market: Market, query: WalletPageQuery): Promise<WalletPage<WalletListing>> {
  if (market.custodyWallets.has(query.account)) return EMPTY_PAGE;
  const options = toOptions(market, query);
  const readBook = market.exploredOrders.withinOneDeadline();
  const [mirror, book] = await Promise.all([
    market.wallets.read((db) => listMirroredOfSeller(db, options)),
    readBook((db) => listOwnOrdersOfSeller(db, options)),
  ]);
  const mirrored = requireValue(mirror, 'upstream_error');
  const orders = valueOrNull(book) ?? [];
  const { page, next } = toPage([...mirrored, ...orders], query.limit);
  // The own order book may have an order of another seller for an asset. As in every list, this order then hides the mirrored listing.
  const hiding = await readBook((db) => listFillableOrdersOfAssets(db, page, options.now));
  const hidden = new Set((valueOrNull(hiding) ?? []).map(toKeyText));
  const ownByAsset = new Map(orders.map((order) => [toKeyText(order), toDetailedListingOfOrder(order)]));
  const mirrorByAsset = new Map(
    mirrored.map((row) => [toKeyText(row), toDetailedListingOfMirror(row, market.serviceName)]),
  );
  const rows = page.flatMap((asset) => {
    const key = toKeyText(asset);
    const listing = ownByAsset.get(key) ?? (hidden.has(key) ? undefined : mirrorByAsset.get(key));
    const location = toTokenLocation(market, asset);
    return listing && location ? [{ listing, location }] : [];
  });
  return { rows, next, degraded: !book.ok || !hiding.ok };
}

/** The limit is one row more than a page has. If this row is found, there is a next page. */
function toOptions(market: Market, { account, chain, after, limit }: WalletPageQuery): WalletQuery {
  const chains = chain ? [chain.id] : [...market.chains.keys()];
  return { account, chains, after, limit: limit + 1, now: market.clock() };
}

/** The first assets of several lists that are sorted alike, each asset once. */
function toPage(assets: readonly WalletAsset[], limit: number): { page: WalletAsset[]; next: WalletQuery['after'] } {
  const byKey = new Map(
    assets.map(({ collectionId, asset }) => [toKeyText({ collectionId, asset }), { collectionId, asset }]),
  );
  const sorted = [...byKey.values()].sort(
    (a, b) => compare(a.collectionId, b.collectionId) || compare(a.asset, b.asset),
  );
  const page = sorted.slice(0, limit);
  return { page, next: sorted.length > limit ? (page.at(-1) ?? null) : null };
}

/** Ids and assets are ASCII text, which the databases sort by its bytes. */
const compare = (a: string, b: string): number => (a === b ? 0 : a < b ? -1 : 1);

const toKeyText = ({ collectionId, asset }: { collectionId: string; asset: string }) => `${collectionId} ${asset}`;
