// The actions that change a mixed book: submitted orders, changes of marketplace listings, trades and transfers on the chain. All random
// choices depend on the seed of the book.

import assert from 'node:assert/strict';
import type { Address } from 'viem';
import type { Call } from '../../../devnet/chain.ts';
import type { Listing } from '../../../devnet/chain-state.ts';
import type { Person } from '../../../devnet/world.ts';
import type { MixedBook, MarketplaceName } from './book.ts';
import { MARKETPLACE_NAMES } from './book.ts';
import type { Marketplace, MarketplaceListing } from './marketplaces.ts';
import { toAskRow, toOpenSeaRow, tokenOf } from './marketplaces.ts';
import type { Terms } from './chain.ts';
import { unusableAskRows, unusableOpenSeaRows } from './chain.ts';

const USDC: Address = '0xa0b86991c6218b36c1d19d4a2e9eb0ce3606eb48';
const HOUR_S = 3_600;
const DAY_S = 86_400;
/** The shortest remaining time of an order that is going to be filled. */
const MARGIN_S = 60;
/** A price below all random prices. */
const CHEAPEST = 10n ** 15n;
/** A price above all random prices. */
const HIGH_PRICE = 10n ** 17n;
/** The change of a falling price from one fetch to the next, in base units. */
const FALL = 10n ** 12n;
/** The statuses that OpenSea gives to listings that it ends. */
const STATUSES = ['FULFILLED', 'CANCELLED', 'INACTIVE'] as const;

/** Submits `count` orders of random holders to the service. About one token in ten gets a second order. */
export async function postOwn(book: MixedBook, count: number): Promise<void> {
  const { random, mixed } = book;
  const listings: Listing[] = [];
  for (let index = 0; index < count; index += 1) {
    const { tokenId, person } = drawHeld(book);
    listings.push(await mixed.sign(person, tokenId, drawTerms(book, index)));
    if (random.happens(0.1)) listings.push(await mixed.sign(person, tokenId));
  }
  await book.post(listings);
}

/**
 * OpenSea lists three tokens at the lowest prices. Then the holders of two of these tokens submit orders at a higher price to the
 * service. The service serves these orders in place of OpenSea's listings.
 */
export async function postHigherPriced(book: MixedBook): Promise<void> {
  const { mixed, marketplaces } = book;
  const cheapest = Array.from({ length: 3 }, (_, index) => {
    const { tokenId, person } = drawHeld(book);
    const price = 2n * CHEAPEST + BigInt(index);
    const listing = mixed.draft(person, tokenId, { price, wrapped: false });
    put(marketplaces.opensea, listing);
    return { tokenId, person };
  });
  await book.syncAll();
  await book.compare();
  const [first, second] = cheapest;
  for (const held of [first, second]) {
    assert.ok(held);
    await book.post([await mixed.sign(held.person, held.tokenId, { price: HIGH_PRICE })]);
    await book.compare();
  }
}

/** Adds listings to a marketplace. A few listings have expired, have not started, or have a listing time in the future. */
export function listAt(book: MixedBook, name: MarketplaceName, count: number): void {
  const { mixed, marketplaces } = book;
  for (let index = 0; index < count; index += 1) {
    const { tokenId, person } = drawHeld(book);
    const listing = mixed.draft(person, tokenId, index % 50 === 11 ? { endsIn: -30 } : drawTerms(book, index));
    const listedAt = index % 50 === 14 ? mixed.now() + DAY_S : listing.listedAt;
    put(marketplaces[name], { ...listing, listedAt });
  }
}

/** Lists own orders of the service at the marketplaces: a third at OpenSea only, a third at Magic Eden only, and a third at both. */
export function listOwn(book: MixedBook, count: number): void {
  for (const [index, { listing }] of book.random.shuffle(book.own).slice(0, count).entries()) {
    if (index % 3 !== 0) put(book.marketplaces.opensea, toMarketplaceListing(book, listing));
    if (index % 3 !== 1) put(book.marketplaces.magicEden, toMarketplaceListing(book, listing));
  }
}

/** Magic Eden also lists some of the orders that OpenSea lists, with another listing time. */
export function listTwins(book: MixedBook, count: number): void {
  const { random, marketplaces } = book;
  for (const listing of drawListed(book, 'opensea', count))
    put(marketplaces.magicEden, { ...listing, listedAt: listing.listedAt + random.below(600) });
}

/** The marketplaces serve unusable rows. The rows are made from a row with a price below all others. */
export function listUnusable(book: MixedBook): void {
  const { tokenId, person } = drawHeld(book);
  const cheap = book.mixed.draft(person, tokenId, { price: 10n ** 9n, wrapped: false, fees: true });
  book.marketplaces.opensea.unusable = unusableOpenSeaRows(toOpenSeaRow(cheap), USDC);
  book.marketplaces.magicEden.unusable = unusableAskRows(toAskRow(cheap), USDC);
}

/** Both marketplaces list orders that are cheaper than all others. Then these orders are submitted to the service. */
export async function listThenPost(book: MixedBook, count: number): Promise<Listing[]> {
  const held = new Map<string, Person>();
  while (held.size < count) {
    const { tokenId, person } = drawHeld(book);
    if (!book.own.some(({ listing }) => tokenOf(listing) === tokenId)) held.set(tokenId, person);
  }
  const listings: Listing[] = [];
  for (const [tokenId, person] of held) {
    const price = CHEAPEST + BigInt(listings.length);
    listings.push(await book.mixed.sign(person, tokenId, { price, fees: false, wrapped: false }));
  }
  for (const listing of listings)
    for (const name of MARKETPLACE_NAMES) put(book.marketplaces[name], toMarketplaceListing(book, listing));
  await book.syncAll();
  await book.compare();
  await book.post(listings);
  return listings;
}

/** Fills a third of the orders, cancels a third, and transfers the tokens of the remaining third. */
export async function endOnChain(book: MixedBook, listings: readonly Listing[]): Promise<void> {
  const { mixed } = book;
  await mixed.act(
    listings.map((listing, index) => {
      const other = drawOther(book, listing.components.offerer);
      if (index % 3 === 0) return mixed.fill(listing, other);
      return index % 3 === 1
        ? mixed.cancel(listing)
        : mixed.transfer(tokenOf(listing), listing.components.offerer, other.address);
    }),
  );
}

/** Every person approves the operator again. Then own orders are filled and cancelled, tokens leave and return, and one person revokes the approval. */
export async function churnChain(book: MixedBook): Promise<void> {
  const { random, mixed } = book;
  await approveAll(book);
  const drawnTokens = new Set<string>();
  const draw = (count: number, wanted: (listing: Listing) => boolean) =>
    random
      .shuffle(book.own.map(({ listing }) => listing))
      .filter((listing) => wanted(listing) && drawnTokens.size !== drawnTokens.add(tokenOf(listing)).size)
      .slice(0, count);
  const isFillable = (listing: Listing) => statusOf(book, listing) === 'active' && isOpen(book, listing);
  const isAway = (listing: Listing) =>
    statusOf(book, listing) === 'dormant' && book.holderOf(tokenOf(listing))?.address !== listing.components.offerer;
  const calls: Call[] = [
    ...draw(4, isAway).map((listing) => moveBack(book, listing)),
    ...draw(6, isFillable).map((listing) => mixed.fill(listing, drawOther(book, listing.components.offerer))),
    ...draw(4, isFillable).map((listing) => mixed.cancel(listing)),
    ...draw(8, isFillable).map((listing) => {
      const { offerer } = listing.components;
      return mixed.transfer(tokenOf(listing), offerer, drawOther(book, offerer).address);
    }),
  ];
  await mixed.act(calls);
  const [person] = random.shuffle(mixed.world.people);
  if (person) await mixed.act([mixed.approve(person, false)]);
  if (person) mixed.revoked.add(person);
  await book.catchUp();
}

async function approveAll(book: MixedBook): Promise<void> {
  const { mixed } = book;
  await mixed.act(mixed.world.people.map((person) => mixed.approve(person, true)));
  mixed.revoked.clear();
}

export async function reorganise(book: MixedBook, depth: number): Promise<void> {
  await book.mixed.reorganise(depth);
  // The replaced blocks may have contained approvals and revocations. Therefore every person approves the operator again.
  await approveAll(book);
  await book.catchUp();
}

/** One person increments the counter, which voids all orders of this person. */
export async function voidOrders(book: MixedBook): Promise<void> {
  const person = book.random.pick(book.mixed.world.people);
  assert.ok(person);
  await book.mixed.incrementCounter(person);
  await book.catchUp();
}

/**
 * Adds listings, changes prices and removes listings at both marketplaces. Adds some of the removed listings again. OpenSea also ends
 * listings.
 */
export function churnMarketplaces(book: MixedBook): void {
  const { random, mixed, marketplaces } = book;
  const isOwn = new Set(book.own.map(({ listing }) => listing.hash));
  for (const name of MARKETPLACE_NAMES) {
    const marketplace = marketplaces[name];
    for (const { hash, listedAt } of marketplace.listings.values())
      if (listedAt > mixed.now()) marketplace.listings.delete(hash);
    const drawn = drawListed(book, name, 45);
    const back = random.shuffle(marketplace.gone).slice(0, 6);
    for (const listing of drawn.slice(0, 35)) marketplace.listings.delete(listing.hash);
    marketplace.gone.push(...drawn.slice(0, 20));
    for (const listing of drawn.slice(20, 35)) {
      // A listing with another fixed price is a new order with another hash.
      const person = mixed.world.people.find(({ address }) => address === listing.components.offerer);
      if (person) put(marketplace, mixed.draft(person, tokenOf(listing)));
    }
    for (const listing of back) put(marketplace, { ...listing, status: 'ACTIVE' });
    // A falling price changes under the same order hash.
    for (const listing of marketplace.listings.values())
      if (listing.priceNow !== undefined) put(marketplace, { ...listing, priceNow: listing.priceNow - FALL });
    listAt(book, name, 15);
  }
  const { opensea, magicEden } = marketplaces;
  const twins = random.shuffle([...opensea.listings.values()].filter(({ hash }) => magicEden.listings.has(hash)));
  const drawn = [...twins.slice(0, 9), ...drawListed(book, 'opensea', 6)];
  const ending = drawn.filter(({ hash }) => !isOwn.has(hash));
  for (const [index, listing] of ending.entries())
    put(marketplaces.opensea, { ...listing, status: STATUSES[index % STATUSES.length] ?? 'INACTIVE' });
}

function put({ listings }: Marketplace, listing: MarketplaceListing): void {
  listings.set(listing.hash, listing);
}

function toMarketplaceListing({ mixed }: MixedBook, { hash, components }: Listing): MarketplaceListing {
  return { hash, components, listedAt: mixed.now() - HOUR_S };
}

function drawListed({ random, marketplaces }: MixedBook, name: MarketplaceName, count: number): MarketplaceListing[] {
  return random.shuffle([...marketplaces[name].listings.values()]).slice(0, count);
}

/** A random token and its holder. The holder has not revoked the approval that a fill needs. */
function drawHeld({ random, mixed, holderOf }: MixedBook): { tokenId: string; person: Person } {
  for (;;) {
    const tokenId = String(1 + random.below(mixed.collection.size));
    const person = holderOf(tokenId);
    if (person && !mixed.revoked.has(person)) return { tokenId, person };
  }
}

function drawOther({ random, mixed }: MixedBook, not: Address): Person {
  const other = random.pick(mixed.world.people.filter(({ address }) => address !== not));
  assert.ok(other);
  return other;
}

/** The terms of order number `index`. One order in sixteen starts in about an hour. About one in ten ends in about an hour. */
function drawTerms({ random }: MixedBook, index: number): Terms {
  if (index % 16 === 7) return { startsIn: HOUR_S + random.below(HOUR_S / 3) };
  return index % 10 === 3 ? { endsIn: HOUR_S + random.below(HOUR_S / 2) } : {};
}

function statusOf(book: MixedBook, { hash }: Listing): string | undefined {
  return book.chainState().orders.get(hash)?.status;
}

function isOpen({ mixed }: MixedBook, { components }: Listing): boolean {
  const now = mixed.now();
  return Number(components.startTime) <= now && Number(components.endTime) > now + MARGIN_S;
}

/** Transfers the token of a listing from its holder to the offerer. */
function moveBack(book: MixedBook, listing: Listing): Call {
  const holder = book.holderOf(tokenOf(listing));
  assert.ok(holder);
  return book.mixed.transfer(tokenOf(listing), holder.address, listing.components.offerer);
}
