// What can be asked of an EVM chain.

import type { Address, AssetId } from '../../core/address.ts';
import type { BlockHeader, ChainEvent } from '../../chain-log/chain-event.ts';
import type { Chain } from '../../core/chains.ts';
import type { EndpointStatus } from './endpoint.ts';
import type { Hex, TokenStandard } from '../../core/evm.ts';

/** Which events are wanted: those of Seaport from `protocols`, those of token contracts from `contracts`. */
export type EventFilter = { protocols: readonly Address[]; contracts: readonly Address[] };

/** The state that a read is about. */
export type At = number | 'latest';

export type SeaportOrderStatus = { validated: boolean; cancelled: boolean; totalFilled: bigint; totalSize: bigint };

/**
 * Every read throws ChainUnavailable when no endpoint gives a usable answer within the reader's patience, and RpcFailure
 * of kind `absent` or `no-state` when every endpoint says honestly that it does not have the block or its state.
 */
export type ChainReader = {
  readonly chain: Chain;
  /** The newest block of the endpoint that is read; may be lower than the one before by a few blocks. */
  head(): Promise<BlockHeader>;
  /** Null: the chain has no such block (yet). */
  header(number: number): Promise<BlockHeader | null>;
  /** Null where the tag is not served. */
  finalizedNumber(): Promise<number | null>;
  /** All events of one block, asked by block hash, so that an endpoint that does not have it says so. */
  eventsOfBlock(header: BlockHeader, filter: EventFilter): Promise<ChainEvent[]>;
  /** Events from `from` up to `to` at most: adaptive, may answer for fewer blocks. In order (block, log, part). */
  eventsOfRange(from: number, to: number, filter: EventFilter): Promise<{ to: number; events: ChainEvent[] }>;
  /** Last four bytes of the calldata of each transaction: where marketplaces sign their fills. Unknown ones are left out. */
  callDataTails(txs: readonly Hex[]): Promise<Map<Hex, Hex>>;

  // Null from these where the contract reverts, is none, or answers something else.
  ownerOf(contract: Address, tokenId: AssetId, at: At): Promise<Address | null>;
  /** Units of an ERC-1155 token. */
  balanceOf(contract: Address, owner: Address, tokenId: AssetId, at: At): Promise<bigint | null>;
  isApprovedForAll(contract: Address, owner: Address, operator: Address, at: At): Promise<boolean | null>;
  /** Null also where nobody is approved. */
  getApproved(contract: Address, tokenId: AssetId, at: At): Promise<Address | null>;
  getCounter(protocol: Address, offerer: Address, at: At): Promise<bigint | null>;
  getOrderStatus(protocol: Address, orderHash: Hex, at: At): Promise<SeaportOrderStatus | null>;
  /** ERC-1271. False where the account is not a contract or reverts. */
  isValidSignature(account: Address, digest: Hex, signature: Hex, at: At): Promise<boolean>;
  code(account: Address, at: At): Promise<Hex>;
  /** By ERC-165; null for whatever says neither or both. */
  tokenStandard(contract: Address): Promise<TokenStandard | null>;
  name(contract: Address): Promise<string | null>;
  /** The block in which the contract came about; null when it is none or no endpoint keeps old states. */
  collectionCreatedAt(contract: Address): Promise<number | null>;

  endpoints(): EndpointStatus[];
  /** Logs of followed contracts that could not be read and were left out, by contract, since the start. */
  skippedLogs(): ReadonlyMap<Address, number>;
  /** Gives up what is under way; nothing may be asked after. */
  close(): void;
};
