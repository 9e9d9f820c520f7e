// What a chain tells, decoded: Seaport's events and those of token contracts. One value a fact, with the place where it
// stands, so that a fact can be taken back when its block is orphaned. Nothing here knows how it was read.

import type { Address, AssetId } from '../core/address.ts';
import type { Hex } from '../core/evm.ts';

/** Where a fact stands in its chain. A log that tells several facts numbers them with `part`, from 0. */
export type ChainPlace = {
  blockNumber: number;
  /** Milliseconds since the epoch. */
  blockTime: number;
  tx: Hex;
  logIndex: number;
  part: number;
};

/** An item as a fill moved it. `token` is the zero address for the native currency. */
export type SpentItem = { itemType: number; token: Address; identifier: bigint; amount: bigint };
export type ReceivedItem = SpentItem & { recipient: Address };

export type OrderFulfilled = ChainPlace & {
  kind: 'order-fulfilled';
  protocol: Address;
  orderHash: Hex;
  offerer: Address;
  zone: Address;
  /** Who receives the offer; the zero address in fills by `matchOrders`. */
  recipient: Address;
  offer: readonly SpentItem[];
  consideration: readonly ReceivedItem[];
  /** The last four bytes of the transaction's calldata, where marketplaces sign their fills; absent when it was not read. */
  domain?: Hex;
};
export type OrderCancelled = ChainPlace & {
  kind: 'order-cancelled';
  protocol: Address;
  orderHash: Hex;
  offerer: Address;
};
export type OrderValidated = ChainPlace & { kind: 'order-validated'; protocol: Address; orderHash: Hex };
export type OrdersMatched = ChainPlace & { kind: 'orders-matched'; protocol: Address; orderHashes: readonly Hex[] };
/** All orders of the offerer that were signed with another counter are void. */
export type CounterIncremented = ChainPlace & {
  kind: 'counter-incremented';
  protocol: Address;
  offerer: Address;
  counter: bigint;
};
/** From or to the zero address: a mint or a burn. `quantity` is 1 for ERC-721. */
export type Transfer = ChainPlace & {
  kind: 'transfer';
  contract: Address;
  tokenId: AssetId;
  from: Address;
  to: Address;
  quantity: bigint;
};
export type ApprovalForAll = ChainPlace & {
  kind: 'approval-for-all';
  contract: Address;
  owner: Address;
  operator: Address;
  approved: boolean;
};
/** ERC-721 approval of one token; null takes it back. A transfer takes it back too. */
export type TokenApproval = ChainPlace & {
  kind: 'token-approval';
  contract: Address;
  tokenId: AssetId;
  owner: Address;
  operator: Address | null;
};

export type ChainEvent =
  | OrderFulfilled
  | OrderCancelled
  | OrderValidated
  | OrdersMatched
  | CounterIncremented
  | Transfer
  | ApprovalForAll
  | TokenApproval;

/** A block as far as following needs it. `time` in milliseconds. */
export type BlockHeader = { number: number; hash: Hex; parentHash: Hex; time: number };
