// Encodes the topics and the data of the logs that the simulated chains serve.

import { encodeAbiParameters, encodeEventTopics, parseAbi } from 'viem';
import { word } from './chain-node.ts';

const SEAPORT = parseAbi([
  'struct SpentItem { uint8 itemType; address token; uint256 identifier; uint256 amount; }',
  'struct ReceivedItem { uint8 itemType; address token; uint256 identifier; uint256 amount; address recipient; }',
  'event OrderFulfilled(bytes32 orderHash, address indexed offerer, address indexed zone, address recipient, SpentItem[] offer, ReceivedItem[] consideration)',
]);
const NFT = parseAbi(['event Transfer(address indexed from, address indexed to, uint256 indexed tokenId)']);

export type Account = `0x${string}`;
export const account = (index: number): Account => `0x${word(index + 1).slice(24)}`;
export const ZERO = account(-1);
const TRANSFER = encodeEventTopics({ abi: NFT, args: { from: ZERO, to: ZERO, tokenId: 0n } })[0] ?? '';

type Fill = {
  orderHash: `0x${string}`;
  offerer: Account;
  recipient: Account;
  contract: Account;
  tokenId: bigint;
  /** In wei. A fortieth of it is a fee. */
  price: bigint;
};

/** The topics and the data of a fill of a Seaport order that offers one token. */
export function encodeFill({ orderHash, offerer, recipient, contract, tokenId, price }: Fill): {
  topics: (string | null)[];
  data: string;
} {
  const fee = price / 40n;
  const data = encodeAbiParameters(
    SEAPORT[0].inputs.filter((input) => !('indexed' in input)),
    [
      orderHash,
      recipient,
      [{ itemType: 2, token: contract, identifier: tokenId, amount: 1n }],
      [
        { itemType: 0, token: ZERO, identifier: 0n, amount: price - fee, recipient: offerer },
        { itemType: 0, token: ZERO, identifier: 0n, amount: fee, recipient: account(7) },
      ],
    ] as never,
  );
  const topics = encodeEventTopics({ abi: SEAPORT, args: { offerer, zone: ZERO } });
  return { topics: topics as (string | null)[], data };
}

/** The topics of a transfer of an ERC-721 token. Such a log has no data. */
export function transferTopics({ from, to, tokenId }: { from: Account; to: Account; tokenId: bigint }): string[] {
  const toTopic = (of: Account) => `0x${of.slice(2).padStart(64, '0')}`;
  return [TRANSFER, toTopic(from), toTopic(to), `0x${word(tokenId)}`];
}
