// The chains that this process reads: those with endpoints that are not frozen, each with its reader, which is made when it is
// first needed, and what the service has to know of the chain to understand what it reads.

import type { Address } from '../core/address.ts';
import { listProtocolContracts } from './protocols/registry.ts';
import type { Chains } from '../core/chains.ts';
import type { Clock } from '../core/clock.ts';
import type { Log } from '../core/log.ts';
import type { ChainSettings } from './settings.ts';
import type { ChainReader } from './rpc/chain-reader.ts';
import { createChainReader } from './rpc/chain-reader.ts';

export type ChainMode = 'live' | 'frozen' | 'disabled';

export type FollowedChains = {
  /** `disabled`: no endpoint is set. */
  modeOf(chainId: string): ChainMode;
  /** Null for a chain that is not live. */
  readerOf(chainId: string): ChainReader | null;
  protocolsOf(chainId: string): readonly Address[];
  /** The readers that were made so far. */
  readers(): readonly ChainReader[];
  close(): void;
};

type FollowedChainsOptions = {
  config: Pick<ChainSettings, 'frozenChains' | 'rpcUrls' | 'extraSeaport'>;
  chains: Chains;
  log: Log;
  clock: Clock;
};

export function createFollowedChains({ config, chains, log, clock }: FollowedChainsOptions): FollowedChains {
  const made = new Map<string, ChainReader>();
  const modeOf = (chainId: string): ChainMode => {
    if (config.frozenChains.has(chainId)) return 'frozen';
    return config.rpcUrls.has(chainId) ? 'live' : 'disabled';
  };
  return {
    modeOf,
    readerOf: (chainId) => {
      const chain = chains.get(chainId);
      const urls = config.rpcUrls.get(chainId);
      if (!chain || !urls || modeOf(chainId) !== 'live') return null;
      const reader = made.get(chainId) ?? createChainReader({ chain, urls, log, clock });
      made.set(chainId, reader);
      return reader;
    },
    protocolsOf: (chainId) => {
      const chain = chains.get(chainId);
      return chain ? listProtocolContracts(chain, config.extraSeaport) : [];
    },
    readers: () => [...made.values()],
    close: () => {
      for (const reader of made.values()) reader.close();
    },
  };
}
