// Decodes the sales of Wyvern 2.2 and 2.3, the protocols of OpenSea from 2018 to August 2022. The source of the contracts is
// ExchangeCore.sol in https://github.com/ProjectWyvern/wyvern-ethereum. `OrdersMatched` names neither the token nor the currency. The token
// is read from the transfer that the match made, and the currency from the call data.

import type { OrderFulfilled, Transfer } from '../../../market/chain-log/chain-event.ts';
import type { Address } from '../../../platform/core/address.ts';
import type { Hex } from '../../../platform/core/evm.ts';
import { ZERO_ADDRESS, ZERO_HASH } from '../../../platform/core/evm.ts';
import { isTokenItem } from '../../../platform/core/seaport.ts';
import { addressAt, arrayAt, bigintAt, hashAt, topicAddress, UndecodableData } from './abi-words.ts';
import { counterIncremented } from './counter-events.ts';
import { deployedAt } from './deployments.ts';
import type { EventDecoder } from './event-decoder.ts';
import { UnreadSale } from './event-decoder.ts';
import { toFill, withCurrency } from './market-fill.ts';
import type { SettlementProtocol } from './settlement-protocol.ts';
import { listTransfersBefore } from './token-standards.ts';

export const WYVERN_TOPICS = {
  ordersMatched: '0xc4109843e0b7d514e4c093114b863f8e7d8d9a458c372cd51bfe526b588006c9',
  nonceIncremented: '0xa82a649bbd060c9099cd7b7326e2b0dc9e9af0836480e0f849dc9eaa79710b3b',
} as const satisfies Record<string, Hex>;

/**
 * The topics name the two accounts: the one that made the order, and the one that accepted it. The order of the account that called the exchange
 * has the hash zero. The token comes from its holder and goes to its receiver, and one of the two may be another account: an aggregator names
 * itself and lets the token go to its user. Until the call data is read, the address of the exchange is a placeholder for the unknown currency.
 */
const ordersMatched: EventDecoder = (log, position, events, logsOf) => {
  const { address, topics, data } = log;
  const sides = [topicAddress(topics, 1), topicAddress(topics, 2)] as const;
  const [buyHash, sellHash] = [hashAt(data, 0), hashAt(data, 1)];
  const price = bigintAt(data, 2);
  const isBid = sellHash === ZERO_HASH;
  // To pay for a token that the match mints is no sale of a token.
  const between = listTransfersBefore(log, logsOf).filter(({ from, to }) => from !== to && from !== ZERO_ADDRESS);
  // The logs of contracts that are not followed are not read: without a transfer, the match is of another collection.
  if (between.length === 0) return;
  const moved = selectMoved(between, sides, isBid);
  const [first] = moved;
  if (!first) throw new UnreadSale('a match without a token');
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

/**
 * The transfers of the match: those between the two accounts, else those of the account that made the order, else those of the other
 * account. An aggregator may also have sent on tokens of earlier matches, so the last transfers count.
 */
function selectMoved(
  transfers: readonly Transfer[],
  [maker, taker]: readonly [Address, Address],
  isBid: boolean,
): Transfer[] {
  const isOf = ({ from, to }: Transfer, account: Address) => from === account || to === account;
  const makerSide = isBid ? 'to' : 'from';
  const candidates = [
    transfers.filter((transfer) => isOf(transfer, maker) && isOf(transfer, taker)),
    transfers.filter((transfer) => transfer[makerSide] === maker),
    transfers.filter((transfer) => isOf(transfer, maker) || isOf(transfer, taker)),
  ].find((found) => found.length > 0);
  const last = candidates?.at(-1);
  return candidates?.filter(({ from, to }) => from === last?.from && to === last.to) ?? [];
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
 * Finds the call of `atomicMatch_` that made the fill, even if an aggregator made the call. Returns the fill with the currency that the call
 * names. If only one account of a call is a party of the fill, because an aggregator named itself as the other, then all such calls must name
 * the same currency.
 */
function readCallData(fill: OrderFulfilled, callData: Hex): OrderFulfilled {
  const calls: Match[] = [];
  for (let at = callData.indexOf(ATOMIC_MATCH); at >= 0; at = callData.indexOf(ATOMIC_MATCH, at + 1)) {
    const match = matchOf(`0x${callData.slice(at + ATOMIC_MATCH.length)}`, fill.protocol);
    if (match) calls.push(match);
  }
  const parties = [fill.offerer, fill.recipient];
  const ofBoth = calls.filter(({ makers }) => makers.every((maker) => parties.includes(maker)));
  const ofOne = calls.filter(({ makers }) => makers.some((maker) => parties.includes(maker)));
  const found = ofBoth.length > 0 ? ofBoth : ofOne;
  const currencies = new Set(found.map(({ currency }) => currency));
  const [currency] = currencies;
  if (currency === undefined || currencies.size > 1) return fill;
  // The logs of contracts that are not followed are not read, so the fill may lack tokens of a bundle. The currency then stays unknown.
  return found.every(({ call }) => isComplete(fill, call)) ? withCurrency(fill, currency) : fill;
}

/** `makers`: the accounts of the buy order and of the sell order. */
type Match = { call: Hex; makers: readonly Address[]; currency: Address };

/** Null when `call` is not a call of `atomicMatch_` of this exchange. */
function matchOf(call: Hex, exchange: Address): Match | null {
  try {
    const isExchange = [0, ORDER_WORDS].every((order) => addressAt(call, order + ORDER.exchange) === exchange);
    if (!isExchange) return null;
    const makers = [addressAt(call, ORDER.maker), addressAt(call, ORDER_WORDS + ORDER.maker)];
    return { call, makers, currency: addressAt(call, ORDER_WORDS + ORDER.paymentToken) };
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

/** `OrderCancelled` is not read: the event does not name the account, and these exchanges have no live orders any more. */
export const WYVERN: SettlementProtocol = {
  name: 'wyvern',
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
