// The modules of Zora v3: asks, private asks, offers, and auctions with a reserve price. https://github.com/ourzora/v3, contracts/modules/; the
// addresses are in the folder `addresses`. Royalties and the fees of finders and listers are parts of the price.

import type { Hex } from '../../../platform/core/evm.ts';
import { ZERO_ADDRESS } from '../../../platform/core/evm.ts';
import { addressAt, bigintAt, bigintOfWord, topicAddress, topicWord } from './abi-words.ts';
import { deployedAt } from './deployments.ts';
import type { EventDecoder, VerifiedLog } from './event-decoder.ts';
import type { MarketSale } from './market-fill.ts';
import { toFill } from './market-fill.ts';
import type { SettlementProtocol } from './settlement-protocol.ts';

export const ZORA_V3_TOPICS = {
  /** Asks 1.0 and 1.1. */
  askFilled: '0x21a9d8e221211780696258a05c6225b1a24f428e2fd4d51708f1ab2be4224d39',
  nativeAskFilled: '0xed509339c949cdfdb11c117315bb3f74aa98886204732c065edd38979d7ccf53',
  privateAskFilled: '0x9c826e8c90f6a11429369613c862c10af42611ca3c5d4d4be035765cec439cb5',
  offerFilled: '0x8d496f5c680daaaf5bdacfec3235619ed8eb52d6c31419098dfb83010f37ca22',
  /** Auctions in native currency, then in an ERC-20 currency. The modules with a fee for a finder or a lister have one form. */
  auctionEnded: '0xde4690ca69ca2f9bab030a05a3072d626b0692c7020c1ef534aa3cc140fb1ff5',
  auctionWithFeeEnded: '0x63f2e8137a051fe1c1458eb3c749d1e217f48dee1c1a37eba679273cc635ca42',
  erc20AuctionEnded: '0x0828c74ed74337090a4c0da7e727f14fca2526cf5b3cbae0ad4f18e329cf1028',
  erc20AuctionWithFeeEnded: '0x6678c042a87d78d5f87050aff639300a065c82b4adc3728193105a1763700ea6',
} as const satisfies Record<string, Hex>;

type Terms = Pick<MarketSale, 'seller' | 'buyer' | 'currency' | 'price'>;

/** Decodes an event whose first topics are the token contract and the token id. */
function sale(isBid: boolean, termsOf: (log: VerifiedLog) => Terms): EventDecoder {
  return (log, position, events) => {
    const { address, topics } = log;
    const token = { contract: topicAddress(topics, 1), tokenId: bigintOfWord(topicWord(topics, 2)), quantity: 1n };
    events.push(toFill(position, { protocol: address, orderHash: null, isBid, tokens: [token], ...termsOf(log) }));
  };
}

/**
 * The first word is the finder, the account that referred the buyer. The other words are the ask: seller, receiver of the payment, currency,
 * finder's fee, price.
 */
const askFilled = sale(false, ({ topics, data }) => ({
  seller: addressAt(data, 1),
  buyer: topicAddress(topics, 3),
  currency: addressAt(data, 3),
  price: bigintAt(data, 5),
}));

const nativeAskFilled = sale(false, ({ data }) => ({
  buyer: addressAt(data, 0),
  seller: addressAt(data, 1),
  currency: ZERO_ADDRESS,
  price: bigintAt(data, 2),
}));

const privateAskFilled = sale(false, ({ data }) => ({
  seller: addressAt(data, 0),
  buyer: addressAt(data, 2),
  currency: ZERO_ADDRESS,
  price: bigintAt(data, 1),
}));

/** The words are the account that accepted the offer, the finder, and the offer: maker, currency, finder's fee, amount. */
const offerFilled = sale(true, ({ data }) => ({
  seller: addressAt(data, 0),
  buyer: addressAt(data, 2),
  currency: addressAt(data, 3),
  price: bigintAt(data, 5),
}));

/** `currency`: the index of its word, or null for the native currency. In all forms, the highest bid and its bidder are words 3 and 4. */
function auctionEnded(currency: number | null): EventDecoder {
  return sale(false, ({ data }) => ({
    seller: addressAt(data, 0),
    buyer: addressAt(data, 4),
    currency: currency === null ? ZERO_ADDRESS : addressAt(data, currency),
    price: bigintAt(data, 3),
  }));
}

/** Asks and offers are made on the chain and have no order hash. Therefore a fill cannot be matched by its hash with a mirrored listing. */
export const ZORA_V3: SettlementProtocol = {
  name: 'zora-v3',
  listContracts: deployedAt({
    ethereum: [
      '0xce6cef2a9028e1c3b21647ae3b4251038109f42a',
      '0x6170b3c3a54c3d8c854934cbc314ed479b2b29a3',
      '0x34aa9cbb80dc0b3d82d04900c02fb81468dafcab',
      '0xfbf87e6c2c242d0166e2ddb60db5a94cd4dae00e',
      '0x76744367ae5a056381868f716bdf0b13ae1aeaa3',
      '0x5f7072e1fa7c01dfac7cf54289621afaad2184d0',
      '0x53172d999a299198a935f9e424f9f8544e3d4292',
      '0x9458e29713b98bf452ee9b2c099289f533a5f377',
      '0xd1adaf05575295710de1145c3c9427c364a70a7f',
      '0x1e58be778acae2744c1185ea1ce542f304860b96',
      '0x1e009dec13a2a441b3aa133bd320ff5b16b22e71',
    ],
    polygon: ['0x3634e984ba0373cfa178986fd19f03ba4dd8e469'],
    zora: ['0xa06262157905913f855573f53ad48de2d4ba1f4a'],
  }),
  decoders: new Map<Hex, EventDecoder>([
    [ZORA_V3_TOPICS.askFilled, askFilled],
    [ZORA_V3_TOPICS.nativeAskFilled, nativeAskFilled],
    [ZORA_V3_TOPICS.privateAskFilled, privateAskFilled],
    [ZORA_V3_TOPICS.offerFilled, offerFilled],
    [ZORA_V3_TOPICS.auctionEnded, auctionEnded(null)],
    [ZORA_V3_TOPICS.auctionWithFeeEnded, auctionEnded(null)],
    [ZORA_V3_TOPICS.erc20AuctionEnded, auctionEnded(7)],
    [ZORA_V3_TOPICS.erc20AuctionWithFeeEnded, auctionEnded(6)],
  ]),
  settlesOwnOrders: false,
  findMarketplace: () => 'zora',
};
