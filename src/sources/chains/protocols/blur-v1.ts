// Decodes the events of Blur's first exchange contract, which was in use from October 2022 to July 2023. Verified contract:
// https://etherscan.io/address/0x000000000000ad05ccc4f10045630fb830b95127#code

import type { Address } from '../../../platform/core/address.ts';
import type { Hex } from '../../../platform/core/evm.ts';
import { ZERO_ADDRESS } from '../../../platform/core/evm.ts';
import { addressAt, bigintAt, hashAt, structAt, topicAddress } from './abi-words.ts';
import { withBorrowerAsBuyer, withBorrowerAsSeller } from './blend.ts';
import { counterIncremented } from './counter-events.ts';
import { deployedAt } from './deployments.ts';
import type { EventDecoder } from './event-decoder.ts';
import type { MarketSale } from './market-fill.ts';
import { toFill } from './market-fill.ts';
import type { SettlementProtocol } from './settlement-protocol.ts';

export const BLUR_V1_TOPICS = {
  ordersMatched: '0x61cbb2a3dee0b6064c2e681aadd61677fb4ef319f0b547508d495626f5a62f64',
  nonceIncremented: '0xa82a649bbd060c9099cd7b7326e2b0dc9e9af0836480e0f849dc9eaa79710b3b',
} as const satisfies Record<string, Hex>;

/** Blur's pool, in which buyers deposit native currency. A payment from the pool is worth the same amount of native currency. */
const BLUR_POOL = '0x0000000000a39bb272e79075ade125fd351887ac' as Address;

/** The position of each field in the ABI words of an order. The price is for all units together, and includes the fees. */
const ORDER = { trader: 0, collection: 3, tokenId: 4, amount: 5, paymentToken: 6, price: 7 };

const ordersMatched: EventDecoder = ({ address, topics, data }, position, events, logsOf) => {
  const [sell, buy] = [structAt(data, 0), structAt(data, 2)];
  const seller = addressAt(sell, ORDER.trader);
  const currency = addressAt(sell, ORDER.paymentToken);
  const isBid = topicAddress(topics, 1) !== seller;
  const sale: MarketSale = {
    protocol: address,
    orderHash: hashAt(data, isBid ? 3 : 1),
    isBid,
    seller,
    buyer: addressAt(buy, ORDER.trader),
    tokens: [
      {
        contract: addressAt(sell, ORDER.collection),
        tokenId: bigintAt(sell, ORDER.tokenId),
        quantity: bigintAt(sell, ORDER.amount),
      },
    ],
    currency: currency === BLUR_POOL ? ZERO_ADDRESS : currency,
    price: bigintAt(sell, ORDER.price),
  };
  events.push(toFill(position, withBorrowerAsBuyer(sale, logsOf)));
};

/** The event `OrderCancelled` is not decoded: it does not name the offerer, and the exchange has no live orders any more. */
export const BLUR_V1: SettlementProtocol = {
  name: 'blur-v1',
  listContracts: deployedAt({ ethereum: ['0x000000000000ad05ccc4f10045630fb830b95127'] }),
  decoders: new Map<Hex, EventDecoder>([
    [BLUR_V1_TOPICS.ordersMatched, ordersMatched],
    [BLUR_V1_TOPICS.nonceIncremented, counterIncremented],
  ]),
  settlesOwnOrders: false,
  readCallData: withBorrowerAsSeller,
  findMarketplace: () => 'blur',
};
