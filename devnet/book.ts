// The listings that people sign: which token, at what price, until when. A book of several hundred to begin with, and one more
// at a time afterwards.

import type { Address } from 'viem';
import type { Random } from './chance.ts';
import type { Ledger, Listing } from './ledger.ts';
import { counterOf, mayMove, operatorOf } from './ledger.ts';
import type { OrderComponents, Share, TokenUnits } from './orders.ts';
import { buildAsk, signBulk, signOrder } from './orders.ts';
import type { LocalCollection, Person, World } from './world.ts';

/** What a draft needs to be known. Times in seconds. */
export type Draft = {
  person: Person;
  tokens: readonly TokenUnits[];
  price: bigint;
  currency: Address | null;
  shares: readonly Share[];
  endTime: number;
};

export type Desk = { world: World; ledger: Ledger; chance: Random; now: number };

/** Orders may be filled from a minute before they were signed: clocks differ. */
const START_MARGIN_S = 60;
const DAY_S = 86_400;
const LIFETIME_DAYS_MAX = 30;
const SALT_BITS = 128;
const BULK_SHARE = 0.15;
const BULK_SIZE_MAX = 7;
const COMPACT_SHARE = 0.5;
const WRAPPED_SHARE = 0.1;
const SECOND_LISTING_SHARE = 0.2;
/** Divided by any fee and by any number of units without a rest. */
const PRICE_STEP = 10n ** 13n;
const CHEAPEST_STEPS = 2_000;
const DEAREST_STEPS = 300_000;

/** Signs about `size` listings of what people hold, some of them many with one signature. */
export async function signBook(desk: Desk, size: number): Promise<Listing[]> {
  const { world, chance } = desk;
  const drafts: Draft[] = [];
  for (const { token, person } of chance.shuffle(heldTokens(desk))) {
    if (drafts.length >= size) break;
    const times = chance.happens(SECOND_LISTING_SHARE) ? 2 : 1;
    for (let time = 0; time < times; time += 1) drafts.push(draftListing(desk, person, token));
  }
  const listings: Listing[] = [];
  for (const person of world.people) {
    let own = drafts.filter((draft) => draft.person === person);
    while (own.length > 0) {
      const count = chance.happens(BULK_SHARE) ? 2 + chance.below(BULK_SIZE_MAX - 1) : 1;
      listings.push(...(await signListings(desk, own.slice(0, count))));
      own = own.slice(count);
    }
  }
  return chance.shuffle(listings);
}

/** One listing of a token or of several, at the terms that are drawn. */
export function draftListing(desk: Desk, person: Person, token: TokenUnits, endTime?: number): Draft {
  const { world, chance, now } = desk;
  const collection = collectionOf(world, token.contract);
  const units = token.standard === 'erc721' ? 1n : BigInt(1 + chance.below(Number(token.units)));
  return {
    person,
    tokens: [{ ...token, units }],
    price: drawPrice(chance, token.standard) * units,
    currency: chance.happens(WRAPPED_SHARE) ? world.protocol.wrapped.address : null,
    shares: [world.fees.own, collection.royalty],
    endTime: endTime ?? now + DAY_S * (1 + chance.below(LIFETIME_DAYS_MAX)),
  };
}

/** Signs what one person drafted: several with one signature. */
export async function signListings(desk: Desk, drafts: readonly Draft[]): Promise<Listing[]> {
  const { world, chance } = desk;
  const [first] = drafts;
  if (!first) return [];
  const { account } = first.person;
  const asks = drafts.map((draft) => toComponents(desk, draft));
  const options = { compact: chance.happens(COMPACT_SHARE) };
  const [ask] = asks;
  const signed =
    ask && asks.length === 1
      ? [await signOrder(account, world.chain.chainId, ask, options)]
      : await signBulk(account, world.chain.chainId, asks, options);
  return signed.map((order, index) => ({ ...order, tokens: drafts[index]?.tokens ?? [] }));
}

/** What the holder may list: held, and approved to the operator that the holder sells through. */
export function listableTokens(desk: Desk): { token: TokenUnits; person: Person }[] {
  return heldTokens(desk).filter(({ token, person }) =>
    mayMove(desk.ledger, token, person.address, operatorOf(person.conduitKey)),
  );
}

/** Everything that people hold. */
export function heldTokens({ world, ledger }: Pick<Desk, 'world' | 'ledger'>): { token: TokenUnits; person: Person }[] {
  const people = new Map(world.people.map((person) => [person.address, person]));
  const standards = new Map(world.collections.map(({ address, standard }) => [address, standard]));
  const rows = [
    ...[...ledger.owners].map(([key, holder]) => ({ key, holder, units: 1n })),
    ...[...ledger.units].map(([key, units]) => {
      const end = key.lastIndexOf(':');
      return { key: key.slice(0, end), holder: key.slice(end + 1) as Address, units };
    }),
  ];
  return rows.flatMap(({ key, holder, units }) => {
    const [contract, tokenId] = key.split(':') as [Address, string];
    const person = people.get(holder);
    const standard = standards.get(contract);
    if (!person || !standard || units <= 0n) return [];
    return { person, token: { contract, standard, tokenId: BigInt(tokenId), units } };
  });
}

export function collectionOf({ collections }: World, contract: Address): LocalCollection {
  const collection = collections.find(({ address }) => address === contract);
  if (!collection) throw new Error(`${contract} is no collection of this chain`);
  return collection;
}

/** Most are cheap and a few are dear. Single tokens have prices of any last digit. */
export function drawPrice(chance: Random, standard: TokenUnits['standard']): bigint {
  const share = (chance.below(1_000_000) / 1_000_000) ** 4;
  const steps = CHEAPEST_STEPS + Math.floor(share * (DEAREST_STEPS - CHEAPEST_STEPS));
  const price = BigInt(steps) * PRICE_STEP;
  return standard === 'erc721' ? price + BigInt(chance.below(1000)) : price;
}

export function drawTerms({ ledger, chance, now }: Desk, { address, conduitKey }: Person) {
  return {
    offerer: address,
    conduitKey,
    startTime: now - START_MARGIN_S,
    salt: chance.bits(SALT_BITS),
    counter: counterOf(ledger, address),
  };
}

function toComponents(desk: Desk, { person, tokens, price, currency, shares, endTime }: Draft): OrderComponents {
  return buildAsk({ ...drawTerms(desk, person), tokens, price, currency, shares, endTime });
}
