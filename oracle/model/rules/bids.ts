// Bids of the model: offers to buy one token, any token of a collection, or a token of a set. "bids" is docs/orders.md, "Bids", and "explore" is docs/explore.md. The runs sign
// bids for chains without endpoints, so no balance and no fill is known.

import type { Reader } from './figures.ts';
import { listingFigures, toRatio, tokensOf } from './figures.ts';
import type { Collection, Token } from './market.ts';
import { statusAt } from './market.ts';
import type { EndStatus } from './records.ts';

export type Trait = { name: string; value: string };

/** `asset`: null unless the bid is for one token. `tokens`: the set, null unless the bid is for one of several tokens. `traits`: what names the set. */
export type Bid = {
  orderId: string;
  collectionId: string;
  asset: string | null;
  tokens: readonly string[] | null;
  traits: readonly Trait[] | null;
  priceRaw: bigint;
  proceedsRaw: bigint;
  quantity: bigint;
  maker: string;
  status: EndStatus;
  listedAt: number;
  expiresAt: number | null;
};

/** Bids, the table of kinds. */
export function kindOf({ asset, tokens }: Bid): 'item' | 'collection' | 'trait' {
  if (asset !== null) return 'item';
  return tokens === null ? 'collection' : 'trait';
}

/** Bids: the owner of this token, "of any token of the collection", or "of a token of the set" can accept. */
export function accepts({ asset, tokens }: Bid, token: string): boolean {
  return asset === token || (asset === null && (tokens?.includes(token) ?? true));
}

export function bidsOf({ market }: Reader, collectionId: string): Bid[] {
  return [...market.bids.values()].filter((bid) => bid.collectionId === collectionId);
}

/** Decisions 2, "Statuses": "Expiry is by the clock at read time." */
export function openBids(reader: Reader, collectionId: string): Bid[] {
  return bidsOf(reader, collectionId).filter((bid) => statusAt(bid, reader.now) === 'active');
}

/** Explore, "Bids": "`topBid` of a token is the bid with the highest `proceeds` that the owner can accept now". Here: its proceeds. */
export function topBidOfToken(reader: Reader, collectionId: string, token: string): bigint | null {
  return best(openBids(reader, collectionId).filter((bid) => accepts(bid, token)));
}

/** "`topBid` of a collection is the best bid for any of its tokens". */
export function topBidOfCollection(reader: Reader, collectionId: string): bigint | null {
  return best(openBids(reader, collectionId).filter((bid) => kindOf(bid) === 'collection'));
}

/** "and that of a trait value the best for the tokens of this value": every one of these tokens can be sold to it. */
export function topBidOfTrait(reader: Reader, collectionId: string, { name, value }: Trait): bigint | null {
  const isNamed = ({ traits }: Bid) => traits?.length === 1 && traits[0]?.name === name && traits[0].value === value;
  return best(openBids(reader, collectionId).filter((bid) => kindOf(bid) === 'collection' || isNamed(bid)));
}

/** "`stats.spread` of a collection is how far the proceeds of its top bid are below the floor": "0.05 is 5 %". Null unless both are known. */
export function spread(reader: Reader, collection: Collection): number | null {
  const { floorRaw } = listingFigures(reader, collection);
  const top = topBidOfCollection(reader, collection.id);
  return floorRaw === null || top === null ? null : toRatio(floorRaw - top, floorRaw);
}

/** Bids: "all tokens that have these traits at the service". */
export function tokensWith(reader: Reader, collectionId: string, traits: readonly Trait[]): string[] {
  const has = (token: Token) =>
    traits.every(({ name, value }) => token.traits?.some((one) => one.name === name && one.value === value));
  return tokensOf(reader, collectionId)
    .filter(has)
    .map(({ asset }) => asset);
}

function best(bids: readonly Bid[]): bigint | null {
  return bids.reduce<bigint | null>(
    (top, { proceedsRaw }) => (top === null || proceedsRaw > top ? proceedsRaw : top),
    null,
  );
}
