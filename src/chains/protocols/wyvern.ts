// Decodes the sales of Wyvern 2.2 and 2.3, the protocols of OpenSea from 2018 to August 2022. The source of the contracts is
// ExchangeCore.sol in https://github.com/ProjectWyvern/wyvern-ethereum. `OrdersMatched` names neither the token nor the currency. The token
// is read from the transfer that the match made, and the currency from the call data.

import type { OrderFulfilled, Transfer } from '../../chain-log/chain-event.ts';
import type { Address } from '../../core/address.ts';
import type { Hex } from '../../core/evm.ts';
import { ZERO_ADDRESS, ZERO_HASH } from '../../core/evm.ts';
import { isTokenItem, ITEM_TYPE } from '../../core/seaport.ts';
import { addressAt, arrayAt, bigintAt, hashAt, topicAddress, UndecodableData } from './abi-words.ts';
import { counterIncremented } from './counter-events.ts';
import { deployedAt } from './deployments.ts';
import type { EventDecoder, TransactionLogs, VerifiedLog } from './event-decoder.ts';
import { toFill } from './market-fill.ts';
import type { SettlementProtocol } from './settlement-protocol.ts';
import { listTransfers } from './token-standards.ts';

export const WYVERN_TOPICS = {
  ordersMatched: '0xc4109843e0b7d514e4c093114b863f8e7d8d9a458c372cd51bfe526b588006c9',
  nonceIncremented: '0xa82a649bbd060c9099cd7b7326e2b0dc9e9af0836480e0f849dc9eaa79710b3b',
} as const satisfies Record<string, Hex>;

/**
 * The topics name the two accounts, but not which of them is the seller: the seller is the account that sent the token. The order of the
 * account that called the exchange has the hash zero. Until the call data is read, the address of the exchange is a placeholder for the
 * unknown currency.
 */
const ordersMatched: EventDecoder = (log, position, events, logsOf) => {
  const { address, topics, data } = log;
  const sides = [topicAddress(topics, 1), topicAddress(topics, 2)];
  const [buyHash, sellHash] = [hashAt(data, 0), hashAt(data, 1)];
  const price = bigintAt(data, 2);
  const moved = listMoved(log, sides, logsOf);
  const [first] = moved;
  if (!first) return;
  const isBid = sellHash === ZERO_HASH;
  events.push(
    toFill(position, {
      protocol: address,
      orderHash: isBid ? buyHash : sellHash,
      isBid,
      seller: first.from,
      buyer: first.to,
      tokens: moved.map(({ contract, tokenId, quantity }) => ({ contract, tokenId: BigInt(tokenId), quantity })),
      currency: address,
      price,
    }),
  );
};

/** The transfers between the two accounts since the previous match. A match makes its transfers before it emits its event. */
function listMoved(log: VerifiedLog, sides: readonly Address[], logsOf: TransactionLogs): Transfer[] {
  const before = logsOf().filter(({ logIndex }) => logIndex < log.logIndex);
  const previous = before.findLastIndex(({ address, topics }) => {
    return address === log.address && topics[0] === WYVERN_TOPICS.ordersMatched;
  });
  const between = listTransfers(before.slice(previous + 1)).filter(({ from, to }) => {
    return from !== to && sides.includes(from) && sides.includes(to);
  });
  return between.filter(({ from }) => from === between[0]?.from);
}

/** The function `atomicMatch_`, whose first argument has seven addresses of the buy order and seven of the sell order. */
const ATOMIC_MATCH = 'ab834bab';
const ORDER = { exchange: 0, maker: 1, target: 4, paymentToken: 6 };
const ORDER_WORDS = 7;

/**
 * A bundle is transferred by this contract, with the function `atomicize(address[],uint256[],uint256[],bytes)`. The first array has one
 * address for each token.
 */
const ATOMICIZER = '0xc99f70bfd82fb7c8f8191fdfbfb735606b15e5c5';
const ATOMICIZE = '68f0bcaa';

/**
 * Finds the call of `atomicMatch_` between the two accounts of the fill, even if an aggregator made the call. Returns the fill with the
 * currency that the call names.
 */
function readCallData(fill: OrderFulfilled, callData: Hex): OrderFulfilled {
  for (let at = callData.indexOf(ATOMIC_MATCH); at >= 0; at = callData.indexOf(ATOMIC_MATCH, at + 1)) {
    const call: Hex = `0x${callData.slice(at + ATOMIC_MATCH.length)}`;
    const currency = currencyOf(call, fill.protocol, [fill.offerer, fill.recipient]);
    if (currency === null) continue;
    // The logs of contracts that are not followed are not read, so the fill may lack tokens of a bundle. The currency then stays unknown.
    return isComplete(fill, call) ? withCurrency(fill, currency) : fill;
  }
  return fill;
}

/** The currency of the match. Null when `call` is not a call of `atomicMatch_` between the two accounts. */
function currencyOf(call: Hex, exchange: Address, sides: readonly Address[]): Address | null {
  try {
    const isExchange = [0, ORDER_WORDS].every((order) => addressAt(call, order + ORDER.exchange) === exchange);
    const makers = [addressAt(call, ORDER.maker), addressAt(call, ORDER_WORDS + ORDER.maker)];
    if (!isExchange || !makers.every((maker) => sides.includes(maker))) return null;
    return addressAt(call, ORDER_WORDS + ORDER.paymentToken);
  } catch (error) {
    if (error instanceof UndecodableData) return null;
    throw error;
  }
}

/** Whether the fill has all tokens that the matched order moves. */
function isComplete(fill: OrderFulfilled, call: Hex): boolean {
  if (addressAt(call, ORDER_WORDS + ORDER.target) !== ATOMICIZER) return true;
  const at = call.indexOf(ATOMICIZE);
  if (at < 0) return false;
  try {
    const tokens = [...fill.offer, ...fill.consideration].filter(isTokenItem);
    return arrayAt(`0x${call.slice(at + ATOMICIZE.length)}`, 0, 1).length === tokens.length;
  } catch (error) {
    if (error instanceof UndecodableData) return false;
    throw error;
  }
}

function withCurrency(fill: OrderFulfilled, currency: Address): OrderFulfilled {
  const itemType = currency === ZERO_ADDRESS ? ITEM_TYPE.native : ITEM_TYPE.erc20;
  const replace = <T extends { token: Address; itemType: number }>(item: T): T =>
    item.token === fill.protocol ? { ...item, token: currency, itemType } : item;
  return { ...fill, offer: fill.offer.map(replace), consideration: fill.consideration.map(replace) };
}

/** `OrderCancelled` is not read: the event does not name the account, and these exchanges have no live orders any more. */
export const WYVERN: SettlementProtocol = {
  listContracts: deployedAt({
    ethereum: ['0x7be8076f4ea4a4ad08075c2508e481d6c946d12b', '0x7f268357a8c2552623316e2562d90e642bb538e5'],
  }),
  decoders: new Map<Hex, EventDecoder>([
    [WYVERN_TOPICS.ordersMatched, ordersMatched],
    [WYVERN_TOPICS.nonceIncremented, counterIncremented],
  ]),
  settlesOwnOrders: false,
  readCallData,
  findMarketplace: () => 'opensea',
};
