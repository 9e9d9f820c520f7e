// The settlement protocols whose events are read. A new protocol needs one file in this folder and one entry in the list.

import type { OrderFulfilled } from '../../chain-log/chain-event.ts';
import type { Address } from '../../core/address.ts';
import type { Chain } from '../../core/chains.ts';
import { createChains } from '../../core/chains.ts';
import type { MoreDeployments } from '../../orders/seaport/deployments.ts';
import { SEAPORT } from './seaport.ts';
import type { ProtocolContracts, SettlementProtocol } from './settlement-protocol.ts';

export const SETTLEMENT_PROTOCOLS: readonly SettlementProtocol[] = [SEAPORT];

export function listProtocolContracts(chain: Chain, added: MoreDeployments): ProtocolContracts {
  return new Map(
    SETTLEMENT_PROTOCOLS.flatMap((protocol) =>
      protocol.listContracts(chain, added).map((address) => [address, protocol] as const),
    ),
  );
}

/** The slug of the marketplace through which the order was filled, or `unknown`. */
export function toMarketplace(fill: OrderFulfilled): string {
  return findProtocol(fill.protocol).findMarketplace(fill) ?? 'unknown';
}

const PROTOCOLS_BY_CONTRACT: ProtocolContracts = new Map(
  [...createChains().values()].flatMap((chain) => [...listProtocolContracts(chain, new Map())]),
);

/** Contracts that only the setting SEAPORT_ADDRESSES names are Seaport's. */
export function findProtocol(contract: Address): SettlementProtocol {
  return PROTOCOLS_BY_CONTRACT.get(contract) ?? SEAPORT;
}
