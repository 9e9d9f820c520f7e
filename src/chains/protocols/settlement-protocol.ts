// What following a chain has to know of a protocol that settles sales there.

import type { OrderFulfilled } from '../../chain-log/chain-event.ts';
import type { Address } from '../../core/address.ts';
import type { Chain } from '../../core/chains.ts';
import type { MoreDeployments } from '../../orders/seaport/deployments.ts';
import type { EventDecoders } from './event-decoder.ts';

export type SettlementProtocol = {
  /** The contracts on a chain whose logs are read. `added` are the Seaport deployments that settings add. */
  listContracts(chain: Chain, added: MoreDeployments): readonly Address[];
  /** First topics are those of this protocol alone. A fill becomes an `order-fulfilled` event, from which sales follow. */
  decoders: EventDecoders;
  /** The slug of the marketplace that a fill came through; null where this protocol does not know it. */
  findMarketplace(fill: OrderFulfilled): string | null;
};
