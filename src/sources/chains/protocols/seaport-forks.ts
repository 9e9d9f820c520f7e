// Marketplaces that run a copy of Seaport at an address of their own. The events are those of Seaport. A further copy needs only its address here.
// Own orders cannot be signed for a copy, and the setting SEAPORT_ADDRESSES is for deployments for which they can.

import type { Hex } from '../../../platform/core/evm.ts';
import { deployedAt } from './deployments.ts';
import { SEAPORT } from './seaport.ts';
import type { SettlementProtocol } from './settlement-protocol.ts';

/**
 * The slug of each marketplace, with its contracts by chain. Sources: packages/sdk/src/alienswap/addresses.ts and packages/sdk/src/mooar/addresses.ts of
 * https://github.com/reservoirprotocol/indexer; mooar_polygon_base_trades.sql, oneplanet_polygon_base_trades.sql, quix_seaport_optimism_base_trades.sql
 * and nftearth_optimism_base_trades.sql of https://github.com/duneanalytics/spellbook.
 */
const MARKETPLACES: Readonly<Record<string, Readonly<Record<string, Hex>>>> = {
  alienswap: {
    ethereum: '0x83746de31fc8de985ffe46c1c20ea6d7d8f4ed3a',
    base: '0x878dd5e0c3dedfebff67046bb218fb03c26e3e47',
    arbitrum: '0xb52fdd8f3821cc60ba4583a822f03317de544bc2',
    optimism: '0xb52fdd8f3821cc60ba4583a822f03317de544bc2',
  },
  mooar: {
    ethereum: '0xaaaaaaaa33d3520a2266ce508bc079fcfe82c8e3',
    polygon: '0xaaaaaaaa33d3520a2266ce508bc079fcfe82c8e3',
  },
  oneplanet: { polygon: '0xcbbecf690e030d096794f7685a1bf4a58378a575' },
  quix: { optimism: '0x998ef16ea4111094eb5ee72fc2c6f4e6e8647666' },
  nftearth: { optimism: '0x0f9b80fc3c8b9123d0aef43df58ebdbc034a8901' },
};

const DEPLOYMENTS = Object.entries(MARKETPLACES).flatMap(([slug, chains]) =>
  Object.entries(chains).map(([chain, address]) => ({ slug, chain, address })),
);
const CONTRACTS = Map.groupBy(DEPLOYMENTS, ({ chain }) => chain);
const SLUGS = new Map<string, string>(DEPLOYMENTS.map(({ slug, address }) => [address, slug]));

export const SEAPORT_FORKS: SettlementProtocol = {
  name: 'seaport-forks',
  listContracts: deployedAt(
    Object.fromEntries([...CONTRACTS].map(([chain, found]) => [chain, found.map(({ address }) => address)])),
  ),
  decoders: SEAPORT.decoders,
  settlesOwnOrders: false,
  findMarketplace: ({ protocol }) => SLUGS.get(protocol) ?? null,
};
