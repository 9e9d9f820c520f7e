// Decodes the sales of Limit Break's Payment Processor, versions 1 to 3. Several marketplaces settle through it, above all Magic Eden. The
// source of version 1 is https://github.com/limitbreakinc/payment-processor, the source of version 2 is
// https://github.com/limitbreakinc/payment-processor-v2. Version 3 emits the events of version 2.

import type { Hex } from '../../../platform/core/evm.ts';
import { findMarketplaceByTag } from '../../../market/orders/seaport/deployments.ts';
import {
  addressAt,
  arrayAt,
  bigintAt,
  bigintOfWord,
  booleanAt,
  topicAddress,
  topicWord,
  UndecodableData,
} from './abi-words.ts';
import { deployedAt } from './deployments.ts';
import type { EventDecoder } from './event-decoder.ts';
import { toFill } from './market-fill.ts';
import type { SettlementProtocol } from './settlement-protocol.ts';

export const PAYMENT_PROCESSOR_V1_TOPICS = {
  buySingleListing: '0x7ed668b30822ae5c7db7b4a32f84e6645250bb6db0d1fc73eeb484c5b34b1d1b',
  buyBundledListingERC721: '0xf5960c81abf2cbc811a3b86b2b2c0338bfd5c47ad8815c941f9d59665a8d458b',
  buyBundledListingERC1155: '0x4b761d38cae19a364a5d44d2c4a5cdd41113f9e4d64ae2e21b766d072705b931',
  sweepCollectionERC721: '0x8435e05433e0d3a3fe612b10c36f6623deec79239f76721a154687fef0ca46a1',
  sweepCollectionERC1155: '0x35cd37c73a78d0322074e1324a7d5d4cf5c7ff21f3265d03f4d085c532c6f019',
} as const satisfies Record<string, Hex>;

export const PAYMENT_PROCESSOR_V2_TOPICS = {
  buyListingERC721: '0xffb29e9cf48456d56b6d414855b66a7ec060ce2054dcb124a1876310e1b7355c',
  buyListingERC1155: '0x1217006325a98bdcc6afc9c44965bb66ac7460a44dc57c2ac47622561d25c45a',
  acceptOfferERC721: '0x8b87c0b049fe52718fe6ff466b514c5a93c405fb0de8fbd761a23483f9f9e198',
  acceptOfferERC1155: '0x6f4c56c4b9a9d2479f963d802b19d17b02293ce1225461ac0cb846c482ee3c3e',
  nonceInvalidated: '0xf3003920635c7d35c4f314eaeeed4b4c653ccb36608a86d57df761d460eab09d',
  orderDigestInvalidated: '0xc63c82396a1b7865295ff481988a98493c2c3cc29066c229b8001c6f5dd647a9',
} as const satisfies Record<string, Hex>;

/** The topics are marketplace, contract and currency. The event does not show whether a listing or an offer was accepted. */
const buySingleListing: EventDecoder = ({ address, topics, data }, position, events) => {
  const quantity = bigintAt(data, 3);
  events.push(
    toFill(position, {
      protocol: address,
      orderHash: null,
      isBid: false,
      seller: addressAt(data, 1),
      buyer: addressAt(data, 0),
      tokens: [{ contract: topicAddress(topics, 2), tokenId: bigintAt(data, 2), quantity }],
      currency: topicAddress(topics, 3),
      price: bigintAt(data, 4),
    }),
  );
};

/**
 * A sweep or a bundle emits one event for all its tokens. Each has a price of its own, so each one that was filled becomes one sale. A bundle has
 * one seller, in the second word. A sweep has a list of sellers.
 */
function boughtSeveral({ isBundle, hasQuantity }: { isBundle: boolean; hasQuantity: boolean }): EventDecoder {
  return ({ address, topics, data }, position, events) => {
    const [contract, currency] = [topicAddress(topics, 2), topicAddress(topics, 3)];
    const buyer = addressAt(data, 0);
    const listAt = (word: number) => arrayAt(data, word, 1);
    const failed = listAt(isBundle ? 2 : 1);
    const sellers = isBundle ? null : listAt(2);
    const tokenIds = listAt(3);
    const quantities = hasQuantity ? listAt(4) : null;
    const prices = listAt(hasQuantity ? 5 : 4);
    if ([sellers, tokenIds, quantities, prices].some((list) => list && list.length !== failed.length)) {
      throw new UndecodableData('the lists of a sweep differ in length');
    }
    for (let part = 0; part < failed.length; part += 1) {
      if (booleanAt(data, failed.start + part)) continue;
      const quantity = quantities ? bigintAt(data, quantities.start + part) : 1n;
      const fill = toFill(
        { ...position, part },
        {
          protocol: address,
          orderHash: null,
          isBid: false,
          seller: addressAt(data, sellers ? sellers.start + part : 1),
          buyer,
          tokens: [{ contract, tokenId: bigintAt(data, tokenIds.start + part), quantity }],
          currency,
          price: bigintAt(data, prices.start + part),
        },
      );
      events.push(fill);
    }
  };
}

/**
 * The topics of a bought listing are buyer, seller and contract. Those of an accepted offer are seller, buyer and contract. The beneficiary
 * receives the token and counts as the buyer. The price is for all units.
 */
function traded({ isBid, hasQuantity }: { isBid: boolean; hasQuantity: boolean }): EventDecoder {
  return ({ address, topics, data }, position, events) => {
    const quantity = hasQuantity ? bigintAt(data, 3) : 1n;
    const token = { contract: topicAddress(topics, 3), tokenId: bigintAt(data, 2), quantity };
    events.push(
      toFill(position, {
        protocol: address,
        orderHash: null,
        isBid,
        seller: topicAddress(topics, isBid ? 1 : 2),
        buyer: addressAt(data, 0),
        tokens: [token],
        currency: addressAt(data, 1),
        price: bigintAt(data, hasQuantity ? 4 : 3),
      }),
    );
  };
}

/** The contract also emits this event when an order with this nonce is filled. The first word is true only for a cancellation. */
const nonceInvalidated: EventDecoder = ({ address, topics, data }, position, events) => {
  if (!booleanAt(data, 0)) return;
  const [nonce, offerer] = [bigintOfWord(topicWord(topics, 1)), topicAddress(topics, 2)];
  events.push({ ...position, kind: 'nonce-cancelled', protocol: address, offerer, nonce });
};

const orderDigestInvalidated: EventDecoder = ({ address, topics, data }, position, events) => {
  if (!booleanAt(data, 0)) return;
  const [orderHash, offerer] = [`0x${topicWord(topics, 1)}` as const, topicAddress(topics, 2)];
  events.push({ ...position, kind: 'order-cancelled', protocol: address, orderHash, offerer });
};

/** The events name neither the order nor the marketplace. The tag at the end of the call data shows the marketplace. */
const findMarketplace: SettlementProtocol['findMarketplace'] = ({ domain }) =>
  domain === undefined ? null : findMarketplaceByTag(domain);

/**
 * Cancelled nonces are not read: in version 1, each marketplace has its own nonces, so an account and a nonce do not identify one order.
 */
export const PAYMENT_PROCESSOR_V1: SettlementProtocol = {
  name: 'payment-processor-v1',
  listContracts: deployedAt({
    ethereum: ['0x009a1dc9f1a6e2134ad4236fcd75b1ae62858507'],
    polygon: ['0x009a1d0fecd7d6475188082f3f542e93f5e07ff1'],
  }),
  decoders: new Map<Hex, EventDecoder>([
    [PAYMENT_PROCESSOR_V1_TOPICS.buySingleListing, buySingleListing],
    [PAYMENT_PROCESSOR_V1_TOPICS.buyBundledListingERC721, boughtSeveral({ isBundle: true, hasQuantity: false })],
    [PAYMENT_PROCESSOR_V1_TOPICS.buyBundledListingERC1155, boughtSeveral({ isBundle: true, hasQuantity: true })],
    [PAYMENT_PROCESSOR_V1_TOPICS.sweepCollectionERC721, boughtSeveral({ isBundle: false, hasQuantity: false })],
    [PAYMENT_PROCESSOR_V1_TOPICS.sweepCollectionERC1155, boughtSeveral({ isBundle: false, hasQuantity: true })],
  ]),
  settlesOwnOrders: false,
  findMarketplace,
};

const V2 = '0x9a1d00bed7cd04bcda516d721a596eb22aac6834';
/** A second deployment of version 2. */
const V2_SECOND = '0x9a1d001670c8b17f8b7900e8d7a41e785b3f0515';
const V3 = '0x9a1d00000000fc540e2000560054812452eb5366';

/** `MasterNonceInvalidated` is not read, because a listing is stored with the nonce of its order and not with the master nonce. */
export const PAYMENT_PROCESSOR_V2: SettlementProtocol = {
  name: 'payment-processor-v2',
  listContracts: deployedAt({
    ethereum: [V2, V2_SECOND, V3],
    polygon: [V2, V2_SECOND, V3],
    base: [V2, V2_SECOND, V3],
    apechain: [V3],
    abstract: [V3],
    ink: [V3],
  }),
  decoders: new Map<Hex, EventDecoder>([
    [PAYMENT_PROCESSOR_V2_TOPICS.buyListingERC721, traded({ isBid: false, hasQuantity: false })],
    [PAYMENT_PROCESSOR_V2_TOPICS.buyListingERC1155, traded({ isBid: false, hasQuantity: true })],
    [PAYMENT_PROCESSOR_V2_TOPICS.acceptOfferERC721, traded({ isBid: true, hasQuantity: false })],
    [PAYMENT_PROCESSOR_V2_TOPICS.acceptOfferERC1155, traded({ isBid: true, hasQuantity: true })],
    [PAYMENT_PROCESSOR_V2_TOPICS.nonceInvalidated, nonceInvalidated],
    [PAYMENT_PROCESSOR_V2_TOPICS.orderDigestInvalidated, orderDigestInvalidated],
  ]),
  settlesOwnOrders: false,
  findMarketplace,
};
