// The settlement protocols whose events are read. A new protocol needs one file in this folder and one entry in the list.

import type { OrderFulfilled } from '../../../market/chain-log/chain-event.ts';
import type { Address } from '../../../platform/core/address.ts';
import type { Chain } from '../../../platform/core/chains.ts';
import { createChains, listNamedExtraChains } from '../../../platform/core/chains.ts';
import { UNKNOWN_SOURCE } from '../../../market/index/queries/sales.ts';
import type { MoreDeployments } from '../../../market/orders/seaport/deployments.ts';
import { BLEND } from './blend.ts';
import { BLUR_V1 } from './blur-v1.ts';
import { BLUR_V2 } from './blur-v2.ts';
import { CRYPTOPUNKS } from './cryptopunks.ts';
import { FOUNDATION } from './foundation.ts';
import { LOOKSRARE_V1 } from './looksrare-v1.ts';
import { LOOKSRARE_V2 } from './looksrare-v2.ts';
import { PAYMENT_PROCESSOR_V1, PAYMENT_PROCESSOR_V2 } from './payment-processor.ts';
import { RARIBLE_V2 } from './rarible-v2.ts';
import { SEAPORT } from './seaport.ts';
import { SUDOSWAP_V1, SUDOSWAP_V2 } from './sudoswap.ts';
import { WYVERN } from './wyvern.ts';
import { X2Y2 } from './x2y2.ts';
import { ZEROEX_V4 } from './zeroex-v4.ts';
import { ZORA_V3 } from './zora-v3.ts';
import { ELEMENT } from './element.ts';
import { MANIFOLD } from './manifold.ts';
import { NOUNS } from './nouns.ts';
import { RARIBLE_V1 } from './rarible-v1.ts';
import { SEAPORT_FORKS } from './seaport-forks.ts';
import { SUPERRARE } from './superrare.ts';
import { ZORA_V1 } from './zora-v1.ts';
import { NFTX_V2, NFTX_V3 } from './nftx.ts';
import type { ProtocolContracts, SettlementProtocol } from './settlement-protocol.ts';

export const SETTLEMENT_PROTOCOLS: readonly SettlementProtocol[] = [
  SEAPORT,
  BLUR_V1,
  BLUR_V2,
  BLEND,
  LOOKSRARE_V1,
  LOOKSRARE_V2,
  X2Y2,
  CRYPTOPUNKS,
  WYVERN,
  FOUNDATION,
  ZORA_V3,
  RARIBLE_V2,
  ZEROEX_V4,
  PAYMENT_PROCESSOR_V1,
  PAYMENT_PROCESSOR_V2,
  SUDOSWAP_V1,
  SUDOSWAP_V2,
  ELEMENT,
  RARIBLE_V1,
  SUPERRARE,
  NFTX_V2,
  NFTX_V3,
  MANIFOLD,
  NOUNS,
  ZORA_V1,
  SEAPORT_FORKS,
];

export function listProtocolContracts(chain: Chain, added: MoreDeployments): ProtocolContracts {
  return new Map(
    SETTLEMENT_PROTOCOLS.flatMap((protocol) =>
      protocol.listContracts(chain, added).map((address) => [address, protocol] as const),
    ),
  );
}

/** The slug of the marketplace through which the orders of one sale were filled, or `unknown`. */
export function toMarketplace(fills: readonly OrderFulfilled[]): string {
  for (const fill of fills) {
    const slug = findProtocol(fill.protocol).findMarketplace(fill);
    if (slug !== null) return slug;
  }
  return UNKNOWN_SOURCE;
}

/** A fill does not name its chain. No contract belongs to different protocols on different chains. */
const PROTOCOLS_BY_CONTRACT: ProtocolContracts = new Map(
  [...createChains().values(), ...listNamedExtraChains()].flatMap((chain) => [
    ...listProtocolContracts(chain, new Map()),
  ]),
);

/** Returns Seaport for a contract that no protocol lists, because only the setting SEAPORT_ADDRESSES can have added such a contract. */
export function findProtocol(contract: Address): SettlementProtocol {
  return PROTOCOLS_BY_CONTRACT.get(contract) ?? SEAPORT;
}
