// Rarible's ExchangeV1, of 2020 and 2021: https://etherscan.io/address/0xcd4ec7b66fbc029c116ba9ffb3e59351c20b5b06#code
// An order exchanges a quantity of one asset for a quantity of another; `Buy` reports how much of the first asset was exchanged.

import type { OrderFulfilled } from '../../../market/chain-log/chain-event.ts';
import type { Address } from '../../../platform/core/address.ts';
import type { Hex } from '../../../platform/core/evm.ts';
import { ZERO_ADDRESS } from '../../../platform/core/evm.ts';
import { isTokenItem } from '../../../platform/core/seaport.ts';
import { addressAt, bigintAt, bigintOfWord, topicAddress, topicWord, UndecodableData } from './abi-words.ts';
import { deployedAt } from './deployments.ts';
import type { EventDecoder } from './event-decoder.ts';
import { UnreadSale } from './event-decoder.ts';
import { toFill, withFee } from './market-fill.ts';
import type { SettlementProtocol } from './settlement-protocol.ts';
import { listTransfers } from './token-standards.ts';

export const RARIBLE_V1_TOPICS = {
  buy: '0xdddcdb07e460849cf04a4445b7af9faf01b7f5c7ba75deaf969ac5ed830312c3',
} as const satisfies Record<string, Hex>;

/**
 * The topics are the contract and the id of the offered asset. The words are its quantity in the order, the maker, the contract, the id and the
 * quantity of the demanded asset, the taker, and the exchanged quantity of the offered asset. The event does not name the kinds of the assets:
 * the one that moved as a token in the transaction is the token, and the other is the currency. Native currency is only demanded, and has no contract.
 * An exchange of two tokens is no sale.
 */
const buy: EventDecoder = ({ address, topics, data }, position, events, logsOf) => {
  const offered = { contract: topicAddress(topics, 1), tokenId: bigintOfWord(topicWord(topics, 2)) };
  const demanded = { contract: addressAt(data, 2), tokenId: bigintAt(data, 3) };
  const [maker, taker] = [addressAt(data, 1), addressAt(data, 5)];
  const [offeredInOrder, demandedInOrder, exchanged] = [bigintAt(data, 0), bigintAt(data, 4), bigintAt(data, 6)];
  if (offeredInOrder === 0n) throw new UndecodableData('an order of nothing');
  const received = (demandedInOrder * exchanged) / offeredInOrder;
  const transfers = listTransfers(logsOf());
  const hasMoved = ({ contract, tokenId }: typeof offered) =>
    transfers.some((transfer) => transfer.contract === contract && BigInt(transfer.tokenId) === tokenId);
  const isBid = demanded.contract !== ZERO_ADDRESS && hasMoved(demanded);
  if (isBid && hasMoved(offered)) return;
  if (!isBid && demanded.contract !== ZERO_ADDRESS && !hasMoved(offered)) {
    throw new UnreadSale('an exchange without a token');
  }
  const sold = isBid ? { ...demanded, quantity: received } : { ...offered, quantity: exchanged };
  events.push(
    toFill(position, {
      protocol: address,
      orderHash: null,
      isBid,
      seller: isBid ? taker : maker,
      buyer: isBid ? maker : taker,
      tokens: [sold],
      currency: isBid ? offered.contract : demanded.contract,
      price: isBid ? exchanged : received,
    }),
  );
};

/**
 * The function `exchange`. Its words: maker and salt; contract, id and kind of the offered asset; the same of the demanded asset; the two
 * quantities; the fee of the maker; a signature; the fee of the taker; a signature; the exchanged quantity.
 */
const EXCHANGE = '9cec6392';
const CALL = { maker: 0, offered: 2, demanded: 5, quantities: 8, makerFee: 10, takerFee: 14, exchanged: 18 };
/** A fee is a number of hundredths of a percent. */
const FEE_UNIT = 10_000n;

/** Adds the fee that the buyer pays on top of the price, which no event reports. The call may be inside that of an aggregator. */
function readCallData(fill: OrderFulfilled, callData: Hex): OrderFulfilled {
  for (let at = callData.indexOf(EXCHANGE); at >= 0; at = callData.indexOf(EXCHANGE, at + 1)) {
    const fee = feeOnTop(fill, `0x${callData.slice(at + EXCHANGE.length)}`);
    if (fee !== null) return withFee(fill, fee);
  }
  return fill;
}

/** The fee of the buyer. Null when the call is not that of the fill. */
function feeOnTop(fill: OrderFulfilled, call: Hex): bigint | null {
  const items = [...fill.offer, ...fill.consideration];
  const token = items.find(isTokenItem);
  const payment = items.find((item) => !isTokenItem(item));
  try {
    const isBid = isAssetAt(call, CALL.demanded, token);
    const [offeredInOrder, demandedInOrder] = [bigintAt(call, CALL.quantities), bigintAt(call, CALL.quantities + 1)];
    const exchanged = bigintAt(call, CALL.exchanged);
    if (addressAt(call, CALL.maker) !== fill.offerer || !payment || offeredInOrder === 0n) return null;
    if (!isBid && !isAssetAt(call, CALL.offered, token)) return null;
    const price = isBid ? exchanged : (demandedInOrder * exchanged) / offeredInOrder;
    if (price !== payment.amount) return null;
    return (price * bigintAt(call, isBid ? CALL.makerFee : CALL.takerFee)) / FEE_UNIT;
  } catch (error) {
    if (error instanceof UndecodableData) return null;
    throw error;
  }
}

function isAssetAt(call: Hex, index: number, asset: { token: Address; identifier: bigint } | undefined): boolean {
  return addressAt(call, index) === asset?.token && bigintAt(call, index + 1) === asset.identifier;
}

/** `Cancel` is not read: a listing is not stored with the salt that identifies its order. */
export const RARIBLE_V1: SettlementProtocol = {
  name: 'rarible-v1',
  listContracts: deployedAt({ ethereum: ['0xcd4ec7b66fbc029c116ba9ffb3e59351c20b5b06'] }),
  decoders: new Map<Hex, EventDecoder>([[RARIBLE_V1_TOPICS.buy, buy]]),
  settlesOwnOrders: false,
  readCallData,
  findMarketplace: () => 'rarible',
};
