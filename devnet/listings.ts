// Drafts and signs the listings of a simulation. Token, price and end time are drawn from the seed.

import type { Address } from 'viem';
import type { SeededRandom } from './random.ts';
import type { ChainState, Listing } from './chain-state.ts';
import { counterOf, mayMove, operatorOf } from './chain-state.ts';
import type { SeaportOrder } from '../client/src/seaport.ts';
import type { Share, TokenUnits } from './orders.ts';
import { buildAsk, signBulk, signOrder } from './orders.ts';
import type { LocalCollection, Person, World } from './world.ts';

/** A listing before it is signed. Times in seconds. */
export type Draft = {
  person: Person;
  tokens: readonly TokenUnits[];
  price: bigint;
  currency: Address | null;
  shares: readonly Share[];
  endTime: number;
};

export type SigningContext = { world: World; state: ChainState; random: SeededRandom; now: number };

/** Orders start a minute before they are signed, because clocks differ. */
const START_MARGIN_S = 60;
const DAY_S = 86_400;
const LIFETIME_DAYS_MAX = 30;
const SALT_BITS = 128;
const BULK_SHARE = 0.15;
const BULK_SIZE_MAX = 7;
const COMPACT_SHARE = 0.5;
const WRAPPED_SHARE = 0.1;
const SECOND_LISTING_SHARE = 0.2;
/**
 * Prices of ERC-1155 units are multiples of this step. So fees, and the payments for a part of the units, are whole numbers of base units.
 */
const PRICE_STEP = 10n ** 13n;
const STEPS_MIN = 2_000;
const STEPS_MAX = 300_000;

/** Signs about `size` listings of tokens that people hold, some of them with a bulk signature. */
export async function signFirstListings(signing: SigningContext, size: number): Promise<Listing[]> {
  const { world, random } = signing;
  const drafts: Draft[] = [];
  for (const { token, person } of random.shuffle(heldTokens(signing))) {
    if (drafts.length >= size) break;
    const times = random.happens(SECOND_LISTING_SHARE) ? 2 : 1;
    for (let time = 0; time < times; time += 1) drafts.push(draftListing(signing, person, token));
  }
  const listings: Listing[] = [];
  for (const person of world.people) {
    let own = drafts.filter((draft) => draft.person === person);
    while (own.length > 0) {
      const count = random.happens(BULK_SHARE) ? 2 + random.below(BULK_SIZE_MAX - 1) : 1;
      listings.push(...(await signListings(signing, own.slice(0, count))));
      own = own.slice(count);
    }
  }
  return random.shuffle(listings);
}

/** Drafts one listing with a random price and, unless `endTime` is given, a random end time. */
export function draftListing(signing: SigningContext, person: Person, token: TokenUnits, endTime?: number): Draft {
  const { world, random } = signing;
  const collection = collectionOf(world, token.contract);
  const units = token.standard === 'erc721' ? 1n : BigInt(1 + random.below(Number(token.units)));
  return {
    person,
    tokens: [{ ...token, units }],
    price: drawPrice(random, token.standard) * units,
    currency: random.happens(WRAPPED_SHARE) ? world.protocol.wrapped.address : null,
    shares: [world.fees.own, collection.royalty],
    endTime: endTime ?? drawEndTime(signing),
  };
}

/** Draws the end time of an order that lasts for some days. */
export function drawEndTime({ random, now }: SigningContext): number {
  return now + DAY_S * (1 + random.below(LIFETIME_DAYS_MAX));
}

/** Signs the drafts of one person. Several drafts get one bulk signature. */
export async function signListings(signing: SigningContext, drafts: readonly Draft[]): Promise<Listing[]> {
  const { world, random } = signing;
  const [first] = drafts;
  if (!first) return [];
  const { account } = first.person;
  const asks = drafts.map((draft) => toComponents(signing, draft));
  const options = { compact: random.happens(COMPACT_SHARE) };
  const [ask] = asks;
  const signed =
    ask && asks.length === 1
      ? [await signOrder(account, world.chain.chainId, ask, options)]
      : await signBulk(account, world.chain.chainId, asks, options);
  return signed.map((order, index) => ({ ...order, tokens: drafts[index]?.tokens ?? [] }));
}

/** The tokens that people can list now: tokens that the operator of the person's orders may transfer. */
export function listableTokens(signing: SigningContext): { token: TokenUnits; person: Person }[] {
  return heldTokens(signing).filter(({ token, person }) =>
    mayMove(signing.state, token, person.address, operatorOf(person.conduitKey)),
  );
}

/** All tokens that people hold. */
export function heldTokens({
  world,
  state,
}: Pick<SigningContext, 'world' | 'state'>): { token: TokenUnits; person: Person }[] {
  const people = new Map(world.people.map((person) => [person.address, person]));
  const standards = new Map(world.collections.map(({ address, standard }) => [address, standard]));
  const rows = [
    ...[...state.owners].map(([key, holder]) => ({ key, holder, units: 1n })),
    ...[...state.units].map(([key, units]) => {
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

/**
 * Draws a price for one unit. Most prices are low, and a few are high. The price of an ERC-721 token need not be a multiple of PRICE_STEP.
 */
export function drawPrice(random: SeededRandom, standard: TokenUnits['standard']): bigint {
  const share = (random.below(1_000_000) / 1_000_000) ** 4;
  const steps = STEPS_MIN + Math.floor(share * (STEPS_MAX - STEPS_MIN));
  const price = BigInt(steps) * PRICE_STEP;
  return standard === 'erc721' ? price + BigInt(random.below(1000)) : price;
}

export function drawTerms({ state, random, now }: SigningContext, { address, conduitKey }: Person) {
  return {
    offerer: address,
    conduitKey,
    startTime: now - START_MARGIN_S,
    salt: random.bits(SALT_BITS),
    counter: counterOf(state, address),
  };
}

/**
 * Whether the counter of an account is final. No order is signed with a counter from a block that may still be orphaned. After a
 * reorganisation the increment may be in another block, which gives another counter. Signed orders would then become void, or unexpectedly
 * valid.
 */
export function isSettled(
  { state, height, reorgDepthMax }: { state: ChainState; height: number; reorgDepthMax: number },
  { address }: Person,
): boolean {
  const raised = state.counters.get(address);
  return raised === undefined || raised.block + reorgDepthMax < height;
}

function toComponents(
  signing: SigningContext,
  { person, tokens, price, currency, shares, endTime }: Draft,
): SeaportOrder {
  return buildAsk({ ...drawTerms(signing, person), tokens, price, currency, shares, endTime });
}
