// Decodes the sales of X2Y2's exchange. Verified contract: https://etherscan.io/address/0x74312363e45dcaba76c59ec49a7aa8a65a67eed3

import type { Address } from '../../../platform/core/address.ts';
import type { Hex } from '../../../platform/core/evm.ts';
import { addressAt, arrayAt, bigintAt, bytesAt, smallIntegerAt, structAt, topicWord } from './abi-words.ts';
import { deployedAt } from './deployments.ts';
import type { EventDecoder } from './event-decoder.ts';
import { UnreadSale } from './event-decoder.ts';
import type { SoldToken } from './market-fill.ts';
import { toFill } from './market-fill.ts';
import type { SettlementProtocol } from './settlement-protocol.ts';

export const X2Y2_TOPICS = {
  inventory: '0x3cbb63f144840e5b1b0a38a7c19211d2e89de4d7c5faf8b2d3c1776c302d1d33',
} as const satisfies Record<string, Hex>;

/** The operations that are sales. `EvInventory` reports other operations too: cancels, bids of auctions and refunds. */
const OPERATION = { sellOffer: 1, buyOffer: 2, auction: 5 };
const FEE_UNIT = 1_000_000n;
const DELEGATE = { erc721: 1, erc1155: 2 };

/**
 * The exchange emits `EvInventory` at every change of an order. The event has the maker, the taker, two salts, intent, delegate type,
 * deadline, currency, and three structs. The buyer paid the price in the settlement struct, less the fees that the exchange paid back to the buyer.
 * Changes that are not sales are ignored.
 */
const inventory: EventDecoder = ({ address, topics, data }, position, events) => {
  const [item, settlement] = [structAt(data, 9), structAt(data, 10)];
  const operation = smallIntegerAt(settlement, 0);
  const delegate = smallIntegerAt(data, 5);
  const isSale = operation === OPERATION.sellOffer || operation === OPERATION.buyOffer;
  if (operation === OPERATION.auction) throw new UnreadSale('the final price of an auction is not known');
  if (!isSale) return;
  if (delegate !== DELEGATE.erc721 && delegate !== DELEGATE.erc1155) throw new UnreadSale('an unknown kind of token');
  const isBid = operation === OPERATION.buyOffer;
  const [maker, taker] = [addressAt(data, 0), addressAt(data, 1)];
  const buyer = isBid ? maker : taker;
  const price = bigintAt(settlement, 3);
  const tokenData = replaceMasked(bytesAt(item, 1), bytesAt(settlement, 6), bytesAt(data, 8));
  events.push(
    toFill(position, {
      protocol: address,
      orderHash: `0x${topicWord(topics, 1)}`,
      isBid,
      seller: isBid ? taker : maker,
      buyer,
      tokens: tokensIn(tokenData, delegate === DELEGATE.erc1155),
      currency: addressAt(data, 7),
      price: price - (price * rebateOf(settlement, buyer)) / FEE_UNIT,
    }),
  );
};

/** The share of the price that the exchange pays back to the buyer, in parts of FEE_UNIT. Word 10 has the list of shares and recipients. */
function rebateOf(settlement: Hex, buyer: Address): bigint {
  const { start, length } = arrayAt(settlement, 10, 2);
  const shares = Array.from({ length }, (_, index) => start + 2 * index);
  return shares.reduce(
    (sum, at) => (addressAt(settlement, at + 1) === buyer ? sum + bigintAt(settlement, at) : sum),
    0n,
  );
}

/** A bid for any token of a collection has a mask. Where a byte of the mask is not zero, the taker's byte replaces the byte of the bid. */
function replaceMasked(data: Hex, replacement: Hex, mask: Hex): Hex {
  if (mask === '0x' || replacement === '0x') return data;
  let replaced = '0x';
  for (let at = 2; at < data.length; at += 2) {
    const isMasked = (mask.slice(at, at + 2) || '00') !== '00';
    replaced += (isMasked ? replacement : data).slice(at, at + 2);
  }
  return replaced as Hex;
}

/** The tokens of a list whose entries have a contract and a token id, and for ERC-1155 also a quantity. */
function tokensIn(data: Hex, hasQuantity: boolean): SoldToken[] {
  const words = hasQuantity ? 3 : 2;
  const { start, length } = arrayAt(data, 0, words);
  return Array.from({ length }, (_, index) => {
    const at = start + index * words;
    const quantity = hasQuantity ? bigintAt(data, at + 2) : 1n;
    return { contract: addressAt(data, at), tokenId: bigintAt(data, at + 1), quantity };
  });
}

/** `EvCancel` is not read: the event does not name the account, and the marketplace has no live orders any more. */
export const X2Y2: SettlementProtocol = {
  name: 'x2y2',
  listContracts: deployedAt({ ethereum: ['0x74312363e45dcaba76c59ec49a7aa8a65a67eed3'] }),
  decoders: new Map<Hex, EventDecoder>([[X2Y2_TOPICS.inventory, inventory]]),
  settlesOwnOrders: false,
  findMarketplace: () => 'x2y2',
};
