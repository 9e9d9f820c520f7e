// The events that are read, by the first topic of their logs: what Seaport 1.1 to 1.6 emits, and what ERC-721 and ERC-1155
// contracts emit. test/chains/rpc/decode-logs.test.ts derives each topic from its signature.

import type { Hex } from '../../core/evm.ts';

/** `OrderValidated` had the offerer and the zone in topics before Seaport 1.2 and all of the order in its data since. */
export const SEAPORT_TOPICS = {
  orderFulfilled: '0x9d9af8e38d66c62e2c12f0225249fd9d721c54b83f48d9352c97c6cacdcb6f31',
  orderCancelled: '0x6bacc01dbe442496068f7d234edd811f1a5f833243e0aec824f86ab861f3c90d',
  orderValidatedFirst: '0xfde361574a066b44b3b5fe98a87108b7565e327327954c4faeea56a4e6491a0a',
  orderValidated: '0xf280791efe782edcf06ce15c8f4dff17601db3b88eb3805a0db7d77faf757f04',
  ordersMatched: '0x4b9f2d36e1b4c93de62cc077b00b1a91d84b6c31b4a14e012718dcca230689e7',
  counterIncremented: '0x721c20121297512b72821b97f5326877ea8ecf4bb9948fea5bfcb6453074d37f',
} as const satisfies Record<string, Hex>;

/** ERC-20 shares the topics of `transfer` and `approval`, with three topics in place of four. */
export const TOKEN_TOPICS = {
  transfer: '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef',
  transferSingle: '0xc3d58168c5ae7397731d063d5bbf3d657854427343f4c083240f7aacaa2d0f62',
  transferBatch: '0x4a39dc06d4c0dbc64b70af90fd698a233a518aa5d07e595d983b8c0526c8f7fb',
  approvalForAll: '0x17307eab39ab6107e8899845ad3d59bd9653f200f220920489ca2b5937696c31',
  approval: '0x8c5be1e5ebec7d5bd14f71427d1e84f3dd0314c0f7b2291e5b200ac8c7c3b925',
} as const satisfies Record<string, Hex>;
