// The asks module of Zora v3, version 1.1. https://github.com/ourzora/v3, contracts/modules/Asks/V1.1/AsksV1_1.sol

import type { Hex } from '../../core/evm.ts';
import { addressAt, bigintAt, bigintOfWord, topicAddress, topicWord } from './abi-words.ts';
import { deployedAt } from './deployments.ts';
import type { EventDecoder } from './event-decoder.ts';
import { toFill } from './market-fill.ts';
import type { SettlementProtocol } from './settlement-protocol.ts';

export const ZORA_V3_TOPICS = {
  askFilled: '0x21a9d8e221211780696258a05c6225b1a24f428e2fd4d51708f1ab2be4224d39',
} as const satisfies Record<string, Hex>;

/**
 * The first word is the finder, the account that referred the buyer. The other words are the ask: seller, receiver of the payment, currency,
 * finder's fee, price.
 */
const askFilled: EventDecoder = ({ address, topics, data }, position, events) => {
  events.push(
    toFill(position, {
      protocol: address,
      orderHash: null,
      isBid: false,
      seller: addressAt(data, 1),
      buyer: topicAddress(topics, 3),
      tokens: [{ contract: topicAddress(topics, 1), tokenId: bigintOfWord(topicWord(topics, 2)), quantity: 1n }],
      currency: addressAt(data, 3),
      price: bigintAt(data, 5),
    }),
  );
};

/** Asks are made on the chain and have no order hash. Therefore a fill cannot be matched by its hash with a mirrored listing. */
export const ZORA_V3: SettlementProtocol = {
  listContracts: deployedAt({
    ethereum: ['0x6170b3c3a54c3d8c854934cbc314ed479b2b29a3'],
    polygon: ['0x3634e984ba0373cfa178986fd19f03ba4dd8e469'],
  }),
  decoders: new Map<Hex, EventDecoder>([[ZORA_V3_TOPICS.askFilled, askFilled]]),
  settlesOwnOrders: false,
  findMarketplace: () => 'zora',
};
