// The settlement protocols whose events are read. A new protocol needs one file in this folder and one entry in the list.

import type { OrderFulfilled } from '../../chain-log/chain-event.ts';
import type { Address } from '../../core/address.ts';
import type { Chain } from '../../core/chains.ts';
import type { MoreDeployments } from '../../orders/seaport/deployments.ts';
import type { EventDecoders } from './event-decoder.ts';
import { SEAPORT } from './seaport.ts';
import type { SettlementProtocol } from './settlement-protocol.ts';

const SETTLEMENT_PROTOCOLS: readonly SettlementProtocol[] = [SEAPORT];

export const PROTOCOL_DECODERS: EventDecoders = new Map(SETTLEMENT_PROTOCOLS.flatMap(({ decoders }) => [...decoders]));

export function listProtocolContracts(chain: Chain, added: MoreDeployments): Address[] {
  return SETTLEMENT_PROTOCOLS.flatMap((protocol) => protocol.listContracts(chain, added));
}

/** The slug of the marketplace through which the order was filled, or `unknown`. */
export function toMarketplace(fill: OrderFulfilled): string {
  for (const { findMarketplace } of SETTLEMENT_PROTOCOLS) {
    const slug = findMarketplace(fill);
    if (slug !== null) return slug;
  }
  return 'unknown';
}
