// Encodes the logs of the simulated chain.

import { encodeAbiParameters, encodeEventTopics, parseAbi } from 'viem';
import type { Hex } from '../../../../src/core/evm.ts';
import { ZERO_ADDRESS } from '../../../../src/core/evm.ts';
import { ITEM_TYPE } from '../../../../src/core/seaport.ts';

/** A log without its place in the chain, except for its index in the block. */
export type FakeLog = { address: Hex; topics: Hex[]; data: Hex; logIndex: number };

const SEAPORT: Hex = '0x0000000000000068f116a894984e2db1123eb395';
const WRAPPED: Hex = '0xc02aaa39b223fe8d0a0e5c4f27ead9083c756cc2';
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

/** The fill of a listing, or of a bid that is paid with the wrapped native currency. `from` is the seller. */
export function fillLogs({
  collection,
  tokenId,
  from,
  to,
  price,
  orderHash,
  isBid,
}: Moved & { price: bigint; orderHash: Hex; isBid: boolean }): FakeLog[] {
  const fee = price / 40n;
  const token = { itemType: ITEM_TYPE.erc721, token: collection, identifier: BigInt(tokenId), amount: 1n };
  const currency = isBid
    ? { itemType: ITEM_TYPE.erc20, token: WRAPPED, identifier: 0n }
    : { itemType: ITEM_TYPE.native, token: ZERO_ADDRESS, identifier: 0n };
  const offer = isBid ? [{ ...currency, amount: price }] : [token];
  const paid = { ...currency, amount: price - fee, recipient: from };
  const feePaid = { ...currency, amount: fee, recipient: FEE_RECIPIENT };
  const consideration = isBid ? [{ ...token, recipient: to }, feePaid] : [paid, feePaid];
  const [offerer, recipient] = isBid ? [to, from] : [from, to];
  const inputs = ABI[0].inputs.filter((input) => !('indexed' in input));
  return [
    {
      address: SEAPORT,
      topics: encodeEventTopics({ abi: ABI, args: { offerer, zone: ZERO_ADDRESS as Hex } }) as Hex[],
      data: encodeAbiParameters(inputs, [orderHash, recipient, offer, consideration] as never),
      logIndex: 0,
    },
  ];
}
