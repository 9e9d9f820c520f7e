// Plans trades through settlement protocols other than Seaport, on the local chains to which other-protocols.ts has deployed them. The
// sellers have approved the contracts of these protocols for all their tokens.

import type { Address } from 'viem';
import { numberToHex } from 'viem';
import type { Call } from './chain.ts';
import { callOf } from './chain.ts';
import { move } from './chain-state.ts';
import { drawPrice, heldTokens } from './listings.ts';
import type { TokenUnits } from './orders.ts';
import type { Plan, Planner, PlanContext } from './trades.ts';
import { pickOther } from './trades.ts';
import type { Person } from './world.ts';

const HASH_BITS = 256;
const NO_RECIPIENT_LIMITS = [false, '0x0000000000000000000000000000000000000000'] as const;

export const buyAtLooksRare: Planner = (context) => {
  const { others } = context.world;
  const sold = others && pickSold(context);
  if (!sold) return null;
  const { token, seller, buyer, price } = sold;
  const listing = {
    collection: token.contract,
    id: token.tokenId,
    seller: seller.address,
    orderHash: drawHash(context),
  };
  const call = callOf(buyer.address, others.looksRare, 'executeTakerBid', [listing, buyer.address], price);
  return planMove('a purchase at LooksRare', call, { token, from: seller.address, to: buyer.address });
};

export const buyAtBlur: Planner = (context) => {
  const { others } = context.world;
  const sold = others && pickSold(context);
  if (!sold) return null;
  const { token, seller, buyer, price } = sold;
  const args = [token.contract, token.tokenId, seller.address, buyer.address, drawHash(context)];
  const call = callOf(buyer.address, others.blur, 'takeAskSingle', args, price);
  return planMove('a purchase at Blur', call, { token, from: seller.address, to: buyer.address });
};

export const sellToPool: Planner = (context) => {
  const sold = pickSold(context);
  const pool = sold && context.world.others?.pools.get(sold.token.contract);
  if (!sold || !pool) return null;
  const { token, seller, price } = sold;
  const args = [[token.tokenId], price, seller.address, ...NO_RECIPIENT_LIMITS];
  const call = callOf(seller.address, pool, 'swapNFTsForToken', args);
  return planMove('a sale to a pool', call, { token, from: seller.address, to: pool.address });
};

export const buyFromPool: Planner = (context) => {
  const { state, world, random } = context;
  const [contract, pool] = random.pick([...(world.others?.pools ?? [])]) ?? [];
  if (!contract || !pool) return null;
  const held = [...state.owners].filter(([key, owner]) => owner === pool.address && key.startsWith(contract));
  const [key] = random.pick(held) ?? [];
  const buyer = pickOther(context, []);
  if (key === undefined || !buyer) return null;
  const tokenId = BigInt(key.slice(contract.length + 1));
  const token = { contract, standard: 'erc721', tokenId, units: 1n } as const;
  const args = [[tokenId], 0n, buyer.address, ...NO_RECIPIENT_LIMITS];
  const call = callOf(buyer.address, pool, 'swapTokenForSpecificNFTs', args, drawPrice(random, 'erc721'));
  return planMove('a purchase from a pool', call, { token, from: pool.address, to: buyer.address });
};

type Sold = { token: TokenUnits; seller: Person; buyer: Person; price: bigint };

function pickSold(context: PlanContext): Sold | null {
  const { random } = context;
  const held = random.pick(heldTokens(context).filter(({ token }) => token.standard === 'erc721'));
  const buyer = held && pickOther(context, [held.person.address]);
  return held && buyer ? { token: held.token, seller: held.person, buyer, price: drawPrice(random, 'erc721') } : null;
}

function drawHash({ random }: PlanContext) {
  return numberToHex(random.bits(HASH_BITS), { size: HASH_BITS / 8 });
}

function planMove(
  what: string,
  call: Call,
  { token, from, to }: { token: TokenUnits; from: Address; to: Address },
): Plan {
  return { what, calls: [call], fills: 0, apply: (state) => move(state, token, from, to) };
}
