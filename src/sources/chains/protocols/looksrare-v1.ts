// LooksRare's first exchange, January 2022 to April 2023. https://github.com/LooksRare/contracts-exchange-v1

import type { Hex } from '../../../platform/core/evm.ts';
import { addressAt, bigintAt, hashAt, topicAddress } from './abi-words.ts';
import { counterIncremented, noncesCancelled } from './counter-events.ts';
import { deployedAt } from './deployments.ts';
import type { EventDecoder } from './event-decoder.ts';
import { toFill } from './market-fill.ts';
import type { SettlementProtocol } from './settlement-protocol.ts';

export const LOOKSRARE_V1_TOPICS = {
  takerAsk: '0x68cd251d4d267c6e2034ff0088b990352b97b2002c0476587d0c4da889c11330',
  takerBid: '0x95fb6205e23ff6bda16a2d1dba56b9ad7c783f67c96fa149785052f47696f2be',
  cancelAllOrders: '0x1e7178d84f0b0825c65795cd62e7972809ad3aac6917843aaec596161b2c0a97',
  cancelMultipleOrders: '0xfa0ae5d80fe3763c880a3839fab0294171a6f730d1f82c4cd5392c6f67b41732',
} as const satisfies Record<string, Hex>;

/**
 * `order`: what the taker took. An event is named after what the taker did: in `TakerBid` the taker buys a listing, and in `TakerAsk` the
 * taker sells to a bid. The price includes the fees.
 */
function taken(order: 'listing' | 'bid'): EventDecoder {
  const isBid = order === 'bid';
  return ({ address, topics, data }, position, events) => {
    const [taker, maker] = [topicAddress(topics, 1), topicAddress(topics, 2)];
    events.push(
      toFill(position, {
        protocol: address,
        orderHash: hashAt(data, 0),
        isBid,
        seller: isBid ? taker : maker,
        buyer: isBid ? maker : taker,
        tokens: [{ contract: addressAt(data, 3), tokenId: bigintAt(data, 4), quantity: bigintAt(data, 5) }],
        currency: addressAt(data, 2),
        price: bigintAt(data, 6),
      }),
    );
  };
}

export const LOOKSRARE_V1: SettlementProtocol = {
  name: 'looksrare-v1',
  listContracts: deployedAt({ ethereum: ['0x59728544b08ab483533076417fbbb2fd0b17ce3a'] }),
  decoders: new Map<Hex, EventDecoder>([
    [LOOKSRARE_V1_TOPICS.takerAsk, taken('bid')],
    [LOOKSRARE_V1_TOPICS.takerBid, taken('listing')],
    [LOOKSRARE_V1_TOPICS.cancelAllOrders, counterIncremented],
    [LOOKSRARE_V1_TOPICS.cancelMultipleOrders, noncesCancelled(0, ({ topics }) => topicAddress(topics, 1))],
  ]),
  settlesOwnOrders: false,
  findMarketplace: () => 'looksrare',
};
