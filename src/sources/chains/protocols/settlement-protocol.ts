// The interface of a settlement protocol: a set of contracts whose events report sales, such as Seaport.

import type { OrderFulfilled } from '../../../market/chain-log/chain-event.ts';
import type { Address } from '../../../platform/core/address.ts';
import type { Chain } from '../../../platform/core/chains.ts';
import type { Hex } from '../../../platform/core/evm.ts';
import type { MoreDeployments } from '../../../market/orders/seaport/deployments.ts';
import type { EventDecoders } from './event-decoder.ts';
import type { PoolEvents } from './pool-events.ts';

export type SettlementProtocol = {
  /** The name under which its unread logs are counted, in the status and the metrics: lower case with hyphens. */
  name: string;
  /** The protocol's contracts on a chain. `added` are the deployments from the setting SEAPORT_ADDRESSES. */
  listContracts(chain: Chain, added: MoreDeployments): readonly Address[];
  /** The decoders, by the first topic of a log. A fill is decoded to an `order-fulfilled` event, from which sales are derived. */
  decoders: EventDecoders;
  /** The events of the pools that the protocol's contracts have created. Absent for a protocol without pools. */
  pools?: PoolEvents;
  /**
   * Whether the status of own orders depends on the protocol's logs. If so, a log that cannot be decoded makes the read fail. Undecodable
   * logs of other protocols are left out and counted.
   */
  settlesOwnOrders: boolean;
  /**
   * Returns the fill with the facts that only the call of its transaction has, or the fill itself if the call does not have them. `value`: the
   * native currency that the call carries, in base units; null when it is not known. Absent when the logs of the transaction are sufficient.
   */
  readCallData?(fill: OrderFulfilled, callData: Hex, value: bigint | null): OrderFulfilled;
  /** The slug of the marketplace through which the order was filled; null when it cannot be determined. */
  findMarketplace(fill: OrderFulfilled): string | null;
};

/** The contracts of one chain, each with its protocol. */
export type ProtocolContracts = ReadonlyMap<Address, SettlementProtocol>;
