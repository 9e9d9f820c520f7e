// Decodes the sales of the exchange that Blur has used since July 2023. The events do not name the account that accepted the order. This
// account is read from the transfer of the token in the same transaction. Verified contract:
// https://etherscan.io/address/0xb2ecfe4e4d61f8790bbb9de2d1259b9e2410cea5

import type { Address } from '../../../platform/core/address.ts';
import type { Hex } from '../../../platform/core/evm.ts';
import { ZERO_ADDRESS } from '../../../platform/core/evm.ts';
import { keccak256 } from '../../../platform/core/keccak.ts';
import {
  addressAt,
  addressOfWord,
  bigintAt,
  bigintOfWord,
  hashAt,
  smallIntegerAt,
  UndecodableData,
  wordAt,
} from './abi-words.ts';
import { withBorrowerAsBuyer, withBorrowerAsSeller } from './blend.ts';
import { counterIncremented } from './counter-events.ts';
import { deployedAt } from './deployments.ts';
import type { EventDecoder, TransactionLogs } from './event-decoder.ts';
import type { MarketSale, SoldToken } from './market-fill.ts';
import { toFill } from './market-fill.ts';
import type { SettlementProtocol } from './settlement-protocol.ts';
import { listTransfers } from './token-standards.ts';

export const BLUR_V2_TOPICS = {
  execution: '0xf2f66294df6fae7ac681cbe2f6d91c6904485929679dce263e8f6539b7d5c559',
  execution721Packed: '0x1d5e12b51dee5e4d34434576c3fb99714a85f57b0fd546ada4b0bddd736d12b2',
  execution721TakerFeePacked: '0x0fcf17fac114131b10f37b183c6a60f905911e52802caeeb3e6ea210398b81ab',
  execution721MakerFeePacked: '0x7dc5c0699ac8dd5250cbe368a2fc3b4a2daadb120ad07f6cccea29f83482686e',
  nonceIncremented: '0xa82a649bbd060c9099cd7b7326e2b0dc9e9af0836480e0f849dc9eaa79710b3b',
} as const satisfies Record<string, Hex>;

const BID = 1;
const BASIS_POINTS = 10_000n;

/** The fees of an execution in basis points: of the account that made the order, and of the account that accepted the order. */
type FeeRates = { maker: bigint; taker: bigint };
const NO_FEES: FeeRates = { maker: 0n, taker: 0n };

type Execution = {
  orderHash: Hex;
  listingIndex: bigint;
  isBid: boolean;
  trader: Address;
  token: SoldToken;
  price: bigint;
};

/** Decodes the event that is not packed. It has no values of variable length, so each value is in a fixed word. */
const execution: EventDecoder = ({ address, data }, position, events, logsOf) => {
  const sold: Execution = {
    orderHash: hashAt(data, 5),
    listingIndex: bigintAt(data, 6),
    isBid: smallIntegerAt(data, 14) === BID,
    trader: addressAt(data, 0),
    token: { contract: addressAt(data, 3), tokenId: bigintAt(data, 1), quantity: bigintAt(data, 2) },
    price: bigintAt(data, 7),
  };
  const rates = { maker: bigintAt(data, 9), taker: bigintAt(data, 13) };
  events.push(toFill(position, toSale(address, sold, { rates, logsOf })));
};

/** Builds the decoder of a packed event. The fourth word of the event has the fee of `feeSide`. Null: the event has only three words. */
function packed(feeSide: 'maker' | 'taker' | null): EventDecoder {
  return ({ address, data }, position, events, logsOf) => {
    const sold = unpack(hashAt(data, 0), wordAt(data, 1), wordAt(data, 2));
    const rates = feeSide === null ? NO_FEES : { ...NO_FEES, [feeSide]: feeRateOf(wordAt(data, 3)) };
    events.push(toFill(position, toSale(address, sold, { rates, logsOf })));
  };
}

/**
 * `tokenWord` has the token id (11 bytes), the listing index (1 byte) and the trader (20 bytes). `priceWord` has the side (1 byte), the
 * price (11 bytes) and the collection (20 bytes).
 */
function unpack(orderHash: Hex, tokenWord: string, priceWord: string): Execution {
  const side = Number.parseInt(priceWord.slice(0, 2), 16);
  if (side > BID) throw new UndecodableData('an unknown side');
  return {
    orderHash,
    listingIndex: bigintOfDigits(tokenWord.slice(22, 24)),
    isBid: side === BID,
    trader: addressInWord(tokenWord),
    token: {
      contract: addressInWord(priceWord),
      tokenId: bigintOfDigits(tokenWord.slice(0, 22)),
      quantity: 1n,
    },
    price: bigintOfDigits(priceWord.slice(2, 24)),
  };
}

function addressInWord(word: string): Address {
  return addressOfWord(word.slice(24).padStart(64, '0'));
}

/** The word has the rate, followed by the address of the recipient of the fee. */
function feeRateOf(word: string): bigint {
  return bigintOfDigits(word.slice(0, 24));
}

function bigintOfDigits(digits: string): bigint {
  return bigintOfWord(digits.padStart(64, '0'));
}

/**
 * The buyer of a listing pays the taker fee in addition to the price. A bidder pays the maker fee in addition to the price. Other fees are
 * part of the price.
 */
function toSale(
  protocol: Address,
  { orderHash, listingIndex, isBid, trader, token, price }: Execution,
  { rates, logsOf }: { rates: FeeRates; logsOf: TransactionLogs },
): MarketSale {
  const moved = listTransfers(logsOf()).filter(
    (transfer) => transfer.contract === token.contract && transfer.tokenId === token.tokenId.toString(),
  );
  const other = isBid ? moved.find(({ to }) => to === trader)?.from : moved.find(({ from }) => from === trader)?.to;
  const onTop = isBid ? rates.maker : rates.taker;
  const sale = {
    protocol,
    orderHash: toListingHash(orderHash, listingIndex),
    isBid,
    seller: isBid ? (other ?? ZERO_ADDRESS) : trader,
    buyer: isBid ? trader : (other ?? ZERO_ADDRESS),
    tokens: [token],
    currency: ZERO_ADDRESS,
    price: price + (price * onTop) / BASIS_POINTS,
  };
  return withBorrowerAsBuyer(sale, logsOf);
}

/** One signed order can contain several listings. So a listing is identified by the hash of the order and its index in the order. */
function toListingHash(orderHash: Hex, listingIndex: bigint): Hex {
  return keccak256(`${orderHash}${listingIndex.toString(16).padStart(64, '0')}`);
}

/**
 * `CancelTrade` is not read: it names orders by hash, and no marketplace reports these hashes, so the event could end no mirrored listing.
 * A sale ends no mirrored listing either. The listing of a sold token is hidden instead, because its seller no longer holds the token.
 */
export const BLUR_V2: SettlementProtocol = {
  name: 'blur-v2',
  listContracts: deployedAt({ ethereum: ['0xb2ecfe4e4d61f8790bbb9de2d1259b9e2410cea5'] }),
  decoders: new Map<Hex, EventDecoder>([
    [BLUR_V2_TOPICS.execution, execution],
    [BLUR_V2_TOPICS.execution721Packed, packed(null)],
    [BLUR_V2_TOPICS.execution721TakerFeePacked, packed('taker')],
    [BLUR_V2_TOPICS.execution721MakerFeePacked, packed('maker')],
    [BLUR_V2_TOPICS.nonceIncremented, counterIncremented],
  ]),
  settlesOwnOrders: false,
  readCallData: withBorrowerAsSeller,
  findMarketplace: () => 'blur',
};
