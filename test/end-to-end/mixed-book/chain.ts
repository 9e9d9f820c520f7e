// Starts the local chain of a mixed book (own orders and mirrored listings of one collection). Signs orders for the accounts of the chain
// and sends their transactions. changes.ts decides what is listed.

import type { Address, Hex } from 'viem';
import { zeroHash } from 'viem';
import type { SeededRandom } from '../../../devnet/random.ts';
import type { Call } from '../../../devnet/chain.ts';
import { callOf, mine, readChain, rollBack, toSeconds, transact } from '../../../devnet/chain.ts';
import type { Listing } from '../../../devnet/chain-state.ts';
import { operatorOf } from '../../../devnet/chain-state.ts';
import type { SeaportPayment } from '../../../client/src/seaport.ts';
import { buildAsk, hashOrder, signOrder, toOrder } from '../../../devnet/orders.ts';
import type { LocalCollection, Person, World, WorldSize } from '../../../devnet/world.ts';
import type { TestDevnet } from '../../support/chain/devnet.ts';
import { startTestDevnet } from '../../support/chain/devnet.ts';
import type { MarketplaceListing } from './marketplaces.ts';
import { sumOf } from './marketplaces.ts';

const SIZE: WorldSize = { people: 8, collections: 1, tokens: 1_000, editions: 0 };
const DAY_S = 86_400;
/** How long ago the newest marketplace listing was created. */
const LISTED_AGO_S = 3_600;
/** The number of different prices. It is small, so that many orders have the same price. */
const PRICE_STEPS = 500;
/** The share of the marketplace listings whose price falls over time. */
const FALLING_SHARE = 0.1;
/** The number of Magic Eden asks in USDC, which the service leaves out. */
const USDC_ROWS = 40;
/** The difference between two neighbouring prices, in base units. */
const PRICE_STEP = 10n ** 13n;
/** The lowest random price. */
const CHEAPEST = 2_000n * PRICE_STEP;

/** Terms that a test sets. All other terms of an order are random. Times are in seconds from now. */
export type Terms = {
  price?: bigint;
  wrapped?: boolean;
  /** Whether the order itself pays the fees of the creator and of the platform or marketplace. */
  fees?: boolean;
  startsIn?: number;
  endsIn?: number;
};

export type MixedWorld = {
  devnet: TestDevnet;
  world: World;
  collection: LocalCollection;
  /** Accounts that have revoked their approval. */
  revoked: Set<Person>;
  /** In seconds. */
  now(): number;
  sign(person: Person, tokenId: string, terms?: Terms): Promise<Listing>;
  /**
   * Makes a listing of a marketplace. It has no signature, because the service does not verify the signatures of marketplace
   * listings.
   */
  draft(person: Person, tokenId: string, terms?: Terms): MarketplaceListing;
  fill(listing: Listing, buyer: Person): Call;
  cancel(listing: Listing): Call;
  transfer(tokenId: string, from: Address, to: Address): Call;
  approve(person: Person, approved: boolean): Call;
  incrementCounter(person: Person): Promise<void>;
  act(calls: readonly Call[]): Promise<void>;
  /** Replaces the newest `depth` blocks by `depth + 1` empty blocks. */
  reorganise(depth: number): Promise<void>;
};

export async function startMixedWorld(seed: number, random: SeededRandom): Promise<MixedWorld> {
  const devnet = await startTestDevnet({ seed, size: SIZE });
  const [network] = devnet.networks;
  const [collection] = network?.world.collections ?? [];
  if (!network || !collection) throw new Error('there is no collection');
  const { world } = network;
  const { chain, protocol } = world;
  const counters = new Map<Address, bigint>();
  const now = () => toSeconds(chain.clock());

  const build = ({ address, conduitKey }: Person, tokenId: string, terms: Terms, marketplace: keyof World['fees']) =>
    buildAsk({
      offerer: address,
      conduitKey,
      startTime: now() + (terms.startsIn ?? -60),
      endTime: now() + (terms.endsIn ?? DAY_S * (1 + random.below(30))),
      salt: random.bits(128),
      counter: counters.get(address) ?? 0n,
      tokens: [{ contract: collection.address, standard: 'erc721', tokenId: BigInt(tokenId), units: 1n }],
      price: terms.price ?? drawPrice(),
      currency: (terms.wrapped ?? random.happens(0.15)) ? protocol.wrapped.address : null,
      shares: (terms.fees ?? random.happens(0.5)) ? [world.fees[marketplace], collection.royalty] : [],
    });
  const drawPrice = () => CHEAPEST + BigInt(random.below(PRICE_STEPS)) * PRICE_STEP;

  return {
    devnet,
    world,
    collection,
    revoked: new Set(),
    now,
    sign: async (person, tokenId, terms = {}) => {
      const components = build(person, tokenId, terms, 'own');
      const signed = await signOrder(person.account, chain.chainId, components, { compact: random.happens(0.5) });
      const tokens = [
        { contract: collection.address, standard: 'erc721', tokenId: BigInt(tokenId), units: 1n },
      ] as const;
      return { ...signed, tokens };
    },
    draft: (person, tokenId, terms = {}) => {
      const fixed = build(person, tokenId, terms, 'elsewhere');
      const falls = random.happens(FALLING_SHARE) && terms.price === undefined;
      const components = falls ? { ...fixed, consideration: fixed.consideration.map(toFalling) } : fixed;
      const listing = { hash: hashOrder(components), components, listedAt: now() - LISTED_AGO_S - random.below(DAY_S) };
      return falls ? { ...listing, priceNow: sumOf(components) } : listing;
    },
    fill: (listing, buyer) => {
      const isNative = listing.components.consideration[0]?.itemType === 0;
      const value = isNative ? sumOf(listing.components) : 0n;
      return callOf(buyer.address, protocol.seaport, 'fulfillOrder', [toOrder(listing), zeroHash], value);
    },
    cancel: ({ components }) => callOf(components.offerer, protocol.seaport, 'cancel', [[components]]),
    transfer: (tokenId, from, to) => callOf(from, collection, 'transferFrom', [from, to, BigInt(tokenId)]),
    approve: ({ address, conduitKey }, approved) =>
      callOf(address, collection, 'setApprovalForAll', [operatorOf(conduitKey), approved]),
    incrementCounter: async ({ address }) => {
      await transact(chain, [callOf(address, protocol.seaport, 'incrementCounter')]);
      counters.set(address, (await readChain(chain, protocol.seaport, 'getCounter', [address])) as bigint);
    },
    act: async (calls) => {
      await transact(chain, calls);
    },
    reorganise: async (depth) => {
      await rollBack(chain, depth);
      for (let block = 0; block <= depth; block += 1) await mine(chain);
    },
  };
}

/** The item with an end price that is a tenth below the start price. */
function toFalling(item: SeaportPayment): SeaportPayment {
  return { ...item, endAmount: item.startAmount - item.startAmount / 10n };
}

/**
 * OpenSea rows that must not become listings: invalid rows, and valid rows that are left out. Most are copies of `row` with one
 * change. The price of `row` should be below all others. If a copy became a listing, the floor would change and a test would
 * notice.
 */
export function unusableOpenSeaRows(row: Record<string, any>, usdc: Address): unknown[] {
  const change = (part: (copy: Record<string, any>) => void) => {
    const copy = structuredClone(row);
    part(copy);
    return copy;
  };
  const order = (copy: Record<string, any>) => copy['protocol_data'].parameters;
  const invalid = [
    null,
    'listing',
    change((one) => (one['order_hash'] = '0x12')),
    change((one) => (one['protocol_data'] = null)),
    change((one) => (one['price'].current.value = '1')),
    change((one) => (one['price'].current.value = '1.5')),
    change((one) => (one['price'].current.value = '-1')),
    change((one) => (one['price'].current.decimals = 6)),
    change((one) => (order(one).offer[0].identifierOrCriteria = 'one')),
    change((one) => (order(one).offer[0].startAmount = '0')),
    change((one) => (order(one).offerer = '0x1')),
    change((one) => (order(one).endTime = 'never')),
    change((one) => (one['asset'].identifier = '999999')),
    change((one) => (one['status'] = 'HIDDEN')),
  ];
  const leftOut = [
    change((one) => (one['type'] = 'english')),
    change((one) => order(one).offer.push(order(one).offer[0])),
    change((one) => {
      for (const item of order(one).consideration) Object.assign(item, { itemType: 1, token: usdc });
      Object.assign(one['price'].current, { currency: 'USDC' });
    }),
    change((one) => {
      for (const item of order(one).consideration) Object.assign(item, { itemType: 1, token: usdc });
    }),
    change((one) => (one['chain'] = 'base')),
    change((one) => (one['status'] = 'INACTIVE')),
  ];
  return [...invalid, ...leftOut].map((one, index) =>
    isRow(one) && one['order_hash'] === row['order_hash'] ? { ...one, order_hash: unusableHash(index) } : one,
  );
}

/** Asks of Magic Eden that must not become listings. Each is a copy of `row` with one change. */
export function unusableAskRows(row: Record<string, any>, usdc: Address): unknown[] {
  const change = (index: number, part: Record<string, unknown>) => ({ ...row, id: unusableHash(200 + index), ...part });
  const price = (raw: unknown, contract = row['price'].currency.contract) => ({
    price: { amount: { raw }, currency: { ...row['price'].currency, contract } },
  });
  return [
    change(0, { kind: 'BID' }),
    change(1, { status: 'inactive' }),
    change(2, { source: 'OPENSEA' }),
    change(3, { quantity: { filled: '0', remaining: '2' } }),
    change(4, { assetId: `${usdc}:1` }),
    change(5, { createdAt: 'yesterday' }),
    change(6, { maker: 'nobody' }),
    change(7, price('0')),
    change(8, price('1e18')),
    change(9, price('-5')),
    change(10, price(5)),
    // Rows in USDC are valid, but the service leaves them out. They are more than a tenth of the list, so the
    // list would count as incomplete if the service rejected them as invalid.
    ...Array.from({ length: USDC_ROWS }, (_, index) => change(11 + index, price('5', usdc))),
  ];
}

function unusableHash(number: number): Hex {
  return `0x${(number + 1).toString(16).padStart(64, 'd')}`;
}

function isRow(value: unknown): value is Record<string, any> {
  return typeof value === 'object' && value !== null;
}
