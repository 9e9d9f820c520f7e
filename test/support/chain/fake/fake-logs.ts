// Encodes the logs of the simulated chain.

import { encodeAbiParameters, encodeEventTopics, parseAbi } from 'viem';
import type { Hex } from '../../../../src/platform/core/evm.ts';
import { ZERO_ADDRESS } from '../../../../src/platform/core/evm.ts';
import { ITEM_TYPE } from '../../../../src/platform/core/seaport.ts';

/** A log without its place in the chain, except for its index in the block. */
export type FakeLog = { address: Hex; topics: Hex[]; data: Hex; logIndex: number };

export const SEAPORT: Hex = '0x0000000000000068f116a894984e2db1123eb395';
export const WRAPPED: Hex = '0xc02aaa39b223fe8d0a0e5c4f27ead9083c756cc2';
export const COLLECTIONS: readonly [Hex, Hex, Hex] = [
  `0xc0${'1'.repeat(38)}`,
  `0xc0${'2'.repeat(38)}`,
  `0xc0${'3'.repeat(38)}`,
];
const FEE_RECIPIENT = `0xfe${'0'.repeat(38)}` as const;
/** The tag with which OpenSea marks its call data. */
const TAG = '360c6ebe';

const ABI = parseAbi([
  'struct SpentItem { uint8 itemType; address token; uint256 identifier; uint256 amount; }',
  'struct ReceivedItem { uint8 itemType; address token; uint256 identifier; uint256 amount; address recipient; }',
  'event OrdersMatched(bytes32[] orderHashes)',
  'event OrderFulfilled(bytes32 orderHash, address indexed offerer, address indexed zone, address recipient, SpentItem[] offer, ReceivedItem[] consideration)',
]);
const NFT = parseAbi(['event Transfer(address indexed from, address indexed to, uint256 indexed tokenId)']);

export const accountOf = (index: number): Hex => `0xaa${index.toString(16).padStart(38, '0')}`;
export const tagged = (callData: Hex, isSale: boolean): Hex => (isSale ? `${callData}${TAG}` : callData);

type Moved = { collection: Hex; tokenId: number; from: Hex; to: Hex };

export function transferLog({ collection, tokenId, from, to }: Moved): FakeLog {
  const topics = encodeEventTopics({ abi: NFT, args: { from, to, tokenId: BigInt(tokenId) } }) as Hex[];
  return { address: collection, topics, data: '0x', logIndex: 0 };
}

export type SaleForm = 'listing' | 'private-listing' | 'bid' | 'matched-bid';

type Item = { itemType: number; token: string; identifier: bigint; amount: bigint };
type Fill = {
  orderHash: Hex;
  offerer: Hex;
  recipient: Hex;
  offer: Item[];
  consideration: (Item & { recipient: Hex })[];
};

/**
 * The logs of Seaport for a sale. `from` is the seller. A bid is paid with the wrapped native currency. A matched bid and a private listing are filled
 * together with an order of the other side, as OpenSea does it. The buyer of a private listing is the receiver of the token in its consideration.
 */
export function fillLogs({
  collection,
  tokenId,
  from,
  to,
  price,
  form,
  hashes: [orderHash, mirrorHash],
}: Moved & { price: bigint; form: SaleForm; hashes: [Hex, Hex] }): FakeLog[] {
  const fee = price / 40n;
  const token = { itemType: ITEM_TYPE.erc721, token: collection, identifier: BigInt(tokenId), amount: 1n };
  const native = { itemType: ITEM_TYPE.native, token: ZERO_ADDRESS, identifier: 0n };
  const wrapped = { itemType: ITEM_TYPE.erc20, token: WRAPPED, identifier: 0n };
  const payments = [
    { ...native, amount: price - fee, recipient: from },
    { ...native, amount: fee, recipient: FEE_RECIPIENT },
  ];
  const delivery = { ...token, recipient: to };
  const bidFee = { ...wrapped, amount: fee, recipient: FEE_RECIPIENT };
  const none = ZERO_ADDRESS as Hex;
  const bid = { orderHash, offerer: to, offer: [{ ...wrapped, amount: price }], consideration: [delivery, bidFee] };
  switch (form) {
    case 'listing':
      return [fulfilled({ orderHash, offerer: from, recipient: to, offer: [token], consideration: payments })];
    case 'private-listing':
      return [
        fulfilled({
          orderHash,
          offerer: from,
          recipient: none,
          offer: [token],
          consideration: [...payments, delivery],
        }),
        fulfilled({
          orderHash: mirrorHash,
          offerer: to,
          recipient: none,
          offer: [{ ...native, amount: price }],
          consideration: [],
        }),
        matched([orderHash, mirrorHash]),
      ];
    case 'bid':
      return [fulfilled({ ...bid, recipient: from })];
    case 'matched-bid':
      return [
        fulfilled({ ...bid, recipient: none }),
        fulfilled({
          orderHash: mirrorHash,
          offerer: from,
          recipient: none,
          offer: [token],
          consideration: [{ ...wrapped, amount: price - fee, recipient: from }],
        }),
        matched([orderHash, mirrorHash]),
      ];
  }
}

type OneFill = Moved & { orderHash: Hex; price: bigint };

/** The log of a listing that is filled, without fees. */
export function listingFillLog({ orderHash, collection, tokenId, from, to, price }: OneFill): FakeLog {
  const token = { itemType: ITEM_TYPE.erc721, token: collection, identifier: BigInt(tokenId), amount: 1n };
  const payment = { itemType: ITEM_TYPE.native, token: ZERO_ADDRESS, identifier: 0n, amount: price, recipient: from };
  return fulfilled({ orderHash, offerer: from, recipient: to, offer: [token], consideration: [payment] });
}

/** The log of a bid for one token that is accepted. */
export function bidFillLog({
  orderHash,
  collection,
  tokenId,
  from,
  to,
  price,
  fee,
}: OneFill & { fee: bigint }): FakeLog {
  const token = { itemType: ITEM_TYPE.erc721, token: collection, identifier: BigInt(tokenId), amount: 1n };
  const wrapped = { itemType: ITEM_TYPE.erc20, token: WRAPPED, identifier: 0n };
  const fees = fee > 0n ? [{ ...wrapped, amount: fee, recipient: FEE_RECIPIENT }] : [];
  const consideration = [{ ...token, recipient: to }, ...fees];
  return fulfilled({ orderHash, offerer: to, recipient: from, offer: [{ ...wrapped, amount: price }], consideration });
}

function fulfilled({ orderHash, offerer, recipient, offer, consideration }: Fill): FakeLog {
  const [, event] = ABI;
  const inputs = event.inputs.filter((input) => !('indexed' in input));
  return {
    address: SEAPORT,
    topics: encodeEventTopics({
      abi: ABI,
      eventName: 'OrderFulfilled',
      args: { offerer, zone: ZERO_ADDRESS as Hex },
    }) as Hex[],
    data: encodeAbiParameters(inputs, [orderHash, recipient, offer, consideration] as never),
    logIndex: 0,
  };
}

function matched(hashes: Hex[]): FakeLog {
  return {
    address: SEAPORT,
    topics: encodeEventTopics({ abi: ABI, eventName: 'OrdersMatched' }) as Hex[],
    data: encodeAbiParameters(ABI[0].inputs, [hashes]),
    logIndex: 0,
  };
}
