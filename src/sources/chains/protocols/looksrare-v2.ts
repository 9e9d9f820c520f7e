// LooksRare's exchange since April 2023. https://github.com/LooksRare/contracts-exchange-v2, contracts/interfaces/ILooksRareProtocol.sol

import type { Address } from '../../../platform/core/address.ts';
import type { Hex } from '../../../platform/core/evm.ts';
import { addressAt, arrayAt, bigintAt, hashAt, UndecodableData } from './abi-words.ts';
import { noncesCancelled } from './counter-events.ts';
import { deployedAt } from './deployments.ts';
import type { EventDecoder } from './event-decoder.ts';
import type { SoldToken } from './market-fill.ts';
import { toFill } from './market-fill.ts';
import type { SettlementProtocol } from './settlement-protocol.ts';

export const LOOKSRARE_V2_TOPICS = {
  takerAsk: '0x9aaa45d6db2ef74ead0751ea9113263d1dec1b50cea05f0ca2002cb8063564a4',
  takerBid: '0x3ee3de4684413690dee6fff1a0a4f92916a1b97d1c5a83cdf24671844306b2e3',
  orderNoncesCancelled: '0x0560c6093fba8a508d0e6ea3b4d7260d7afa9b152731f03a2d05dfe39b0ec425',
} as const satisfies Record<string, Hex>;

/**
 * The index of the word with the seller's amount. The next word has the creator's amount, and the word after it the protocol's amount. The
 * buyer paid the sum of the three.
 */
const AMOUNTS_AT = 12;
/** The index of the word with the account that received the seller's amount. For a listing this account is always the seller. */
const SELLER_RECIPIENT_AT = 10;

/**
 * `order`: what the taker took. The events have the name of what the taker did: in `TakerBid` the taker buys a listing, and the token goes to
 * the account in word 4. In `TakerAsk` the taker sells to a bid.
 */
function taken(order: 'listing' | 'bid'): EventDecoder {
  const isBid = order === 'bid';
  return ({ address, data }, position, events) => {
    events.push(
      toFill(position, {
        protocol: address,
        orderHash: hashAt(data, 0),
        isBid,
        seller: addressAt(data, isBid ? 3 : SELLER_RECIPIENT_AT),
        buyer: addressAt(data, 4),
        tokens: tokensIn(data, addressAt(data, 7)),
        currency: addressAt(data, 6),
        price: bigintAt(data, AMOUNTS_AT) + bigintAt(data, AMOUNTS_AT + 1) + bigintAt(data, AMOUNTS_AT + 2),
      }),
    );
  };
}

function tokensIn(data: Hex, contract: Address): SoldToken[] {
  const [ids, amounts] = [arrayAt(data, 8, 1), arrayAt(data, 9, 1)];
  if (ids.length !== amounts.length) throw new UndecodableData('the numbers of tokens and amounts differ');
  return Array.from({ length: ids.length }, (_, index) => ({
    contract,
    tokenId: bigintAt(data, ids.start + index),
    quantity: bigintAt(data, amounts.start + index),
  }));
}

/**
 * An order has three nonces: the global nonce, the subset nonce and the order nonce. The service stores only the order nonce of a listing.
 * So it does not read `NewBidAskNonces`, which voids orders by their global nonce, nor `SubsetNoncesCancelled`, which voids orders by
 * their subset nonce.
 */
export const LOOKSRARE_V2: SettlementProtocol = {
  name: 'looksrare-v2',
  listContracts: deployedAt({ ethereum: ['0x0000000000e655fae4d56241588680f86e3b2377'] }),
  decoders: new Map<Hex, EventDecoder>([
    [LOOKSRARE_V2_TOPICS.takerAsk, taken('bid')],
    [LOOKSRARE_V2_TOPICS.takerBid, taken('listing')],
    [LOOKSRARE_V2_TOPICS.orderNoncesCancelled, noncesCancelled(1, ({ data }) => addressAt(data, 0))],
  ]),
  settlesOwnOrders: false,
  findMarketplace: () => 'looksrare',
};
