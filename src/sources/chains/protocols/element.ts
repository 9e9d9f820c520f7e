// Element's exchange of ERC-721 and ERC-1155 tokens. It is made from the NFT orders of 0x (zeroex-v4.ts), with events of its own.
// The addresses and the events are those that https://github.com/reservoirprotocol/indexer reads: packages/sdk/src/element/addresses.ts and
// packages/indexer/src/sync/events/data/element.ts.

import type { OrderFulfilled } from '../../../market/chain-log/chain-event.ts';
import type { Hex } from '../../../platform/core/evm.ts';
import { ZERO_ADDRESS } from '../../../platform/core/evm.ts';
import { isTokenItem, ITEM_TYPE } from '../../../platform/core/seaport.ts';
import { addressAt, arrayAt, bigintAt, hashAt, structAt, UndecodableData, wordAt } from './abi-words.ts';
import { nonceCancelled } from './counter-events.ts';
import { deployedAt } from './deployments.ts';
import type { EventDecoder, TransactionLogs, VerifiedLog } from './event-decoder.ts';
import { toFill, withFee } from './market-fill.ts';
import type { SettlementProtocol } from './settlement-protocol.ts';
import { ZEROEX_NATIVE } from './zeroex-v4.ts';

/** The first form of the events, until early 2023, lacks nonce and fees. */
export const ELEMENT_TOPICS = {
  erc721SellOrderFilled: '0x9c248aa1a265aa616f707b979d57f4529bb63a4fc34dc7fc61fdddc18410f74e',
  erc721BuyOrderFilled: '0xd90a5c60975c6ff8eafcf02088e7b50ae5d9e156a79206ba553df1c4fb4594c2',
  erc1155SellOrderFilled: '0xfcde121a3f6a9b14a3ce266d61fc00940de86c4d8c1d733fe62d503ae5d99ff9',
  erc1155BuyOrderFilled: '0x105616901449a64554ca9246a5bbcaca973b40b3c0055e5070c6fa191618d9f3',
  erc721SellOrderFilledFirst: '0x8a0f8e04e7a35efabdc150b7d106308198a4f965a5d11badf768c5b8b273ac94',
  erc721BuyOrderFilledFirst: '0xa24193d56ccdf64ce1df60c80ca683da965a1da3363efa67c14abf62b2d7d493',
  erc1155SellOrderFilledFirst: '0x3ae452568bed7ccafe4345f10048675bae78660c7ea37eb5112b572648d4f116',
  erc1155BuyOrderFilledFirst: '0x020486beb4ea38db8dc504078b03c4f758de372097584b434a8b8f53583eecac',
  erc721OrderCancelled: '0xa015ad2dc32f266993958a0fd9884c746b971b254206f3478bc43e2f125c7b9e',
  erc1155OrderCancelled: '0x4d5ea7da64f50a4a329921b8d2cab52dff4ebcc58b61d10ff839e28e91445684',
} as const satisfies Record<string, Hex>;

/** The words of an event. `quantity` is null in the events of ERC-721, `orderHash` where several orders share one hash. */
type Layout = { maker: number; currency: number; token: number; quantity: number | null; orderHash: number | null };

/** The words are order hash, maker, taker, nonce, currency, amount, fees, contract, token id and, for ERC-1155, quantity. The amount includes
 * the fees. Orders that were signed together have one hash and different nonces. */
const ERC721: Layout = { maker: 1, currency: 4, token: 7, quantity: null, orderHash: null };
const ERC1155: Layout = { ...ERC721, quantity: 9 };

/** The words are maker, taker, currency, amount, contract, token id, for ERC-1155 the quantity, and the order hash. */
const ERC721_FIRST: Layout = { maker: 0, currency: 2, token: 4, quantity: null, orderHash: 6 };
const ERC1155_FIRST: Layout = { ...ERC721_FIRST, quantity: 6, orderHash: 7 };

/**
 * Each pair of words follows the other: maker and taker, currency and amount, contract and token id. The fills of two orders that were matched with
 * each other get the zero address as their taker. `sources/chains/sales.ts` takes this as the mark of a matched order, and makes one sale of the two fills.
 */
function filled(isBid: boolean, layout: Layout): EventDecoder {
  const { maker: at, currency, token, quantity, orderHash } = layout;
  return (log, position, events, logsOf) => {
    const { address, data } = log;
    const maker = addressAt(data, at);
    const taker = isMatched(log, layout, logsOf) ? ZERO_ADDRESS : addressAt(data, at + 1);
    const paid = addressAt(data, currency);
    events.push(
      toFill(position, {
        protocol: address,
        orderHash: orderHash === null ? null : hashAt(data, orderHash),
        isBid,
        seller: isBid ? taker : maker,
        buyer: isBid ? maker : taker,
        tokens: [
          {
            contract: addressAt(data, token),
            tokenId: bigintAt(data, token + 1),
            quantity: quantity === null ? 1n : bigintAt(data, quantity),
          },
        ],
        currency: paid === ZEROEX_NATIVE ? ZERO_ADDRESS : paid,
        price: bigintAt(data, currency + 1),
      }),
    );
  };
}

/**
 * Whether the order was matched with another: the exchange then reports the sell order and, in the next log, the buy order, and the maker of each is
 * the taker of the other.
 */
function isMatched(log: VerifiedLog, { maker, token }: Layout, logsOf: TransactionLogs): boolean {
  const other = logsOf().find(
    ({ address, topics, logIndex }) =>
      address === log.address && MATCHES.has(`${log.topics[0]} ${topics[0]} ${logIndex - log.logIndex}`),
  );
  const isSame = (word: number, otherWord: number) => other && wordAt(log.data, word) === wordAt(other.data, otherWord);
  return Boolean(
    isSame(maker, maker + 1) && isSame(maker + 1, maker) && isSame(token, token) && isSame(token + 1, token + 1),
  );
}

/** The first topic of a log, the first topic of the log of the matched order, and the distance of this log. */
const MATCHES: ReadonlySet<string> = new Set(
  (['erc721', 'erc1155'] as const).flatMap((standard) =>
    (['', 'First'] as const).flatMap((form) => {
      const sell = ELEMENT_TOPICS[`${standard}SellOrderFilled${form}`];
      const buy = ELEMENT_TOPICS[`${standard}BuyOrderFilled${form}`];
      return [`${sell} ${buy} 1`, `${buy} ${sell} -1`];
    }),
  ),
);

/** The words of a signed order. The amount, which follows the currency, is without the fees. */
const ORDER = { maker: 0, currency: 4, fees: 6, contract: 7, tokenId: 8 };
const WORD_DIGITS = 64;

/**
 * Finds the signed order of the fill in the call data, which may be that of an aggregator, and adds its fees. Only fills of the first form have
 * the amount of their order, because the later amounts include the fees.
 */
function readCallData(fill: OrderFulfilled, callData: Hex): OrderFulfilled {
  const payment = [...fill.offer, ...fill.consideration].find((item) => !isTokenItem(item));
  if (!payment) return fill;
  const currency = payment.itemType === ITEM_TYPE.native ? ZEROEX_NATIVE : payment.token;
  const amount = payment.amount.toString(16);
  const paid = `${currency.slice(2).padStart(WORD_DIGITS, '0')}${amount.padStart(WORD_DIGITS, '0')}`;
  const before = ORDER.currency * WORD_DIGITS;
  for (let at = callData.indexOf(paid, before); at >= 0; at = callData.indexOf(paid, at + 1)) {
    const fees = feesOf(fill, `0x${callData.slice(at - before)}`);
    if (fees !== null) return withFee(fill, fees);
  }
  return fill;
}

/** The sum of the fees of the order. Null when it is not the order of the fill. A bid may name no token id. */
function feesOf(fill: OrderFulfilled, order: Hex): bigint | null {
  const token = [...fill.offer, ...fill.consideration].find(isTokenItem);
  try {
    const isOrder = addressAt(order, ORDER.maker) === fill.offerer && addressAt(order, ORDER.contract) === token?.token;
    const isBid = fill.consideration.some(isTokenItem);
    if (!isOrder || (!isBid && bigintAt(order, ORDER.tokenId) !== token.identifier)) return null;
    const { length } = arrayAt(order, ORDER.fees, 1);
    const fees = structAt(order, ORDER.fees);
    return Array.from({ length }, (_, index) => feeAt(fees, index)).reduce((sum, fee) => sum + fee, 0n);
  } catch (error) {
    if (error instanceof UndecodableData) return null;
    throw error;
  }
}

/** The amount of a fee is its second word. The offsets of the fees count from the word after the length of their array. */
function feeAt(fees: Hex, index: number): bigint {
  return bigintAt(structAt(`0x${fees.slice(2 + WORD_DIGITS)}`, index), 1);
}

/** `HashNonceIncremented` is not read: it cancels all orders of an account, and a listing is not stored with this nonce. */
export const ELEMENT: SettlementProtocol = {
  name: 'element',
  listContracts: deployedAt({
    ethereum: ['0x20f780a973856b93f63670377900c1d2a50a77c4'],
    polygon: ['0xeaf5453b329eb38be159a872a6ce91c9a8fb0260'],
    base: ['0xa39a5f160a1952ddf38781bd76e402b0006912a9'],
    arbitrum: ['0x18cd9270dbdca86d470cfb3be1b156241fffa9de'],
    avalanche: ['0x18cd9270dbdca86d470cfb3be1b156241fffa9de'],
    blast: ['0x4196b39157659bf0de9ebf6e505648b7889a39ce'],
    optimism: ['0x2317d8b224328644759319dffa2a5da77c72e0e9'],
  }),
  decoders: new Map<Hex, EventDecoder>([
    [ELEMENT_TOPICS.erc721SellOrderFilled, filled(false, ERC721)],
    [ELEMENT_TOPICS.erc721BuyOrderFilled, filled(true, ERC721)],
    [ELEMENT_TOPICS.erc1155SellOrderFilled, filled(false, ERC1155)],
    [ELEMENT_TOPICS.erc1155BuyOrderFilled, filled(true, ERC1155)],
    [ELEMENT_TOPICS.erc721SellOrderFilledFirst, filled(false, ERC721_FIRST)],
    [ELEMENT_TOPICS.erc721BuyOrderFilledFirst, filled(true, ERC721_FIRST)],
    [ELEMENT_TOPICS.erc1155SellOrderFilledFirst, filled(false, ERC1155_FIRST)],
    [ELEMENT_TOPICS.erc1155BuyOrderFilledFirst, filled(true, ERC1155_FIRST)],
    [ELEMENT_TOPICS.erc721OrderCancelled, nonceCancelled],
    [ELEMENT_TOPICS.erc1155OrderCancelled, nonceCancelled],
  ]),
  settlesOwnOrders: false,
  readCallData,
  findMarketplace: () => 'element',
};
