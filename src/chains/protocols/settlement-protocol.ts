// The interface of a settlement protocol: a set of contracts whose events report sales, such as Seaport.

import type { OrderFulfilled } from '../../chain-log/chain-event.ts';
import type { Address } from '../../core/address.ts';
import type { Chain } from '../../core/chains.ts';
import type { MoreDeployments } from '../../orders/seaport/deployments.ts';
import type { EventDecoders } from './event-decoder.ts';

export type SettlementProtocol = {
  /** The protocol's contracts on a chain. `added` are the deployments from the setting SEAPORT_ADDRESSES. */
  listContracts(chain: Chain, added: MoreDeployments): readonly Address[];
  /** No two protocols share a first topic. A fill is decoded to an `order-fulfilled` event, from which sales are derived. */
  decoders: EventDecoders;
  /** The slug of the marketplace through which the order was filled; null when it cannot be determined. */
  findMarketplace(fill: OrderFulfilled): string | null;
};
