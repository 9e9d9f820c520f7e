// Reads the setting that names the chains on which the web console offers trading. Also makes the section of the status from which the
// console gets the facts that it needs to sign orders on these chains.

import type { Chains } from '../../platform/core/chains.ts';
import { createChains } from '../../platform/core/chains.ts';
import type { Hex } from '../../platform/core/evm.ts';
import type { StatusProvider } from '../../platform/core/status.ts';
import type { MoreDeployments } from './seaport/deployments.ts';
import { listProtocols } from './seaport/deployments.ts';

/** The hash of the first block of each chain on which trading is offered, by chain. */
export type TradingChains = ReadonlyMap<string, Hex>;

const HASH = /^0x[0-9a-f]{64}$/;

/** Reads `chain=hash` pairs. Undefined if the text has another form, or names an unknown chain or a chain without Seaport. */
export function parseTradingChains(text: string): TradingChains | undefined {
  const chains = new Map<string, Hex>();
  if (text === '') return chains;
  const known = createChains();
  for (const part of text.split(',')) {
    const [id = '', hash = ''] = part.split('=').map((side) => side.trim());
    if (!HASH.test(hash) || known.get(id)?.seaport.length === 0 || !known.has(id)) return undefined;
    chains.set(id, hash as Hex);
  }
  return chains;
}

/**
 * The section `trading` of the status: for each chain its ids, its currency and the contract of its wrapped currency, in which bids are paid, the
 * hash of its first block, and the first deployment of Seaport that `listProtocols` returns.
 */
export function createTradingStatus(
  trading: TradingChains,
  { chains, seaport }: { chains: Chains; seaport: MoreDeployments },
): StatusProvider {
  const offered = [...trading].flatMap(([id, firstBlock]) => {
    const chain = chains.get(id);
    const [protocol] = chain ? listProtocols(chain, seaport) : [];
    if (!chain || !protocol) return [];
    const { symbol, decimals, wrappedNative } = chain;
    return [
      {
        chain: id,
        chainId: protocol.chainId,
        currency: symbol,
        decimals,
        wrappedNative,
        firstBlock,
        seaport: { address: protocol.address, version: protocol.version },
      },
    ];
  });
  return { section: 'trading', read: async () => offered };
}
