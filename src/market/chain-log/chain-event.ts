// The decoded events of settlement protocols and token contracts. Each event has its position in the chain, so that it can be
// deleted when its block is orphaned.

import type { Address, AssetId } from '../../platform/core/address.ts';
import type { Hex } from '../../platform/core/evm.ts';

/** The position of an event in its chain. Events that are decoded from the same EVM log differ by `part`, which counts from 0. */
export type EventPosition = {
  blockNumber: number;
  /** Milliseconds since the epoch. */
  blockTime: number;
  tx: Hex;
  logIndex: number;
  part: number;
};

/** An item of a fill: a token or a payment. `token` is the zero address for the native currency. */
export type SpentItem = { itemType: number; token: Address; identifier: bigint; amount: bigint };
export type ReceivedItem = SpentItem & { recipient: Address };

export type OrderFulfilled = EventPosition & {
  kind: 'order-fulfilled';
  protocol: Address;
  orderHash: Hex;
  offerer: Address;
  zone: Address;
  /** The account that receives the offered items. The zero address when the order was filled by `matchOrders` in Seaport 1.1. */
  recipient: Address;
  offer: readonly SpentItem[];
  consideration: readonly ReceivedItem[];
  /** The last four bytes of the transaction's call data, which marketplaces use as their tag. Absent when the call data was not read. */
  domain?: Hex;
  /** The account that signed the transaction. Absent when the transaction was not read. */
  sender?: Address;
};
export type OrderCancelled = EventPosition & {
  kind: 'order-cancelled';
  protocol: Address;
  orderHash: Hex;
  offerer: Address;
};
export type OrderValidated = EventPosition & { kind: 'order-validated'; protocol: Address; orderHash: Hex };
export type OrdersMatched = EventPosition & {
  kind: 'orders-matched';
  protocol: Address;
  orderHashes: readonly Hex[];
};
/** The offerer has raised the counter to `counter`, which voids all orders that the offerer signed with a lower counter. */
export type CounterIncremented = EventPosition & {
  kind: 'counter-incremented';
  protocol: Address;
  offerer: Address;
  counter: bigint;
};
/** The offerer has voided the orders that were signed with this nonce, and no others. */
export type NonceCancelled = EventPosition & {
  kind: 'nonce-cancelled';
  protocol: Address;
  offerer: Address;
  nonce: bigint;
};
/**
 * A bid for a token. It replaces all earlier bids for this token. Bids are stored only for protocols whose event of an accepted bid does
 * not contain the price.
 */
export type TokenBid = EventPosition & {
  kind: 'token-bid';
  protocol: Address;
  tokenId: AssetId;
  bidder: Address;
  price: bigint;
};
/** A transfer from the zero address is a mint; a transfer to the zero address is a burn. `quantity` is 1 for ERC-721. */
export type Transfer = EventPosition & {
  kind: 'transfer';
  contract: Address;
  tokenId: AssetId;
  from: Address;
  to: Address;
  quantity: bigint;
};
export type ApprovalForAll = EventPosition & {
  kind: 'approval-for-all';
  contract: Address;
  owner: Address;
  operator: Address;
  approved: boolean;
};
/** The ERC-721 approval of one token. `operator` is null when the approval was revoked. */
export type TokenApproval = EventPosition & {
  kind: 'token-approval';
  contract: Address;
  tokenId: AssetId;
  owner: Address;
  operator: Address | null;
};

/** The contract has announced that the metadata of the tokens from `fromId` to `toId`, inclusive, has changed. */
export type MetadataUpdated = EventPosition & {
  kind: 'metadata-updated';
  contract: Address;
  fromId: bigint;
  toId: bigint;
};

/** The contract has announced that the metadata of the collection has changed. */
type CollectionMetadataUpdated = EventPosition & { kind: 'collection-metadata-updated'; contract: Address };

/** The funds of these accounts, or what others may spend of them, may have changed. */
type FundsMoved = EventPosition & { kind: 'funds-moved'; accounts: readonly Address[] };

/** An event that the chain log stores. */
export type LoggedEvent =
  | OrderFulfilled
  | OrderCancelled
  | OrderValidated
  | OrdersMatched
  | CounterIncremented
  | NonceCancelled
  | TokenBid
  | Transfer
  | ApprovalForAll
  | TokenApproval;

/** An event that the chain log does not store. After the event, the service reads the metadata or the funds from the contract again. */
type Announcement = MetadataUpdated | CollectionMetadataUpdated | FundsMoved;

export type ChainEvent = LoggedEvent | Announcement;

export function isLogged(event: ChainEvent): event is LoggedEvent {
  return (
    event.kind !== 'metadata-updated' && event.kind !== 'collection-metadata-updated' && event.kind !== 'funds-moved'
  );
}

/** `time` in milliseconds. */
export type BlockHeader = { number: number; hash: Hex; parentHash: Hex; time: number };
