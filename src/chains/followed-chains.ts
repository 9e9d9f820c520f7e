// The chains that this process reads: those with endpoints that are not frozen, each with its reader, which is made when it is
// first needed, and what the service has to know of the chain to understand what it reads.

import type { Address } from '../core/address.ts';
import type { OrderFulfilled } from '../chain-log/chain-event.ts';
import { findMarketplaceByFeeRecipient, findMarketplaceByTag, listProtocols } from '../orders/seaport/deployments.ts';
import { findWrappedNative } from '../core/wrapped-native.ts';
import type { ChainReader } from './rpc/chain-reader.ts';
import { createChainReader } from './rpc/chain-reader.ts';
import type { SyncContext, Task } from '../tasks/task.ts';
import { createChainTask } from './task.ts';

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

export function createFollowedChains({ config, chains, log, clock }: SyncContext): FollowedChains {
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
      return chain ? listProtocols(chain, config.extraSeaport).map(({ address }) => address) : [];
    },
    readers: () => [...made.values()],
    close: () => {
      for (const reader of made.values()) reader.close();
    },
  };
}

/** A task for each chain that is live. */
export function createChainTasks(context: SyncContext, followed: FollowedChains): Task[] {
  return [...context.chains.values()].flatMap((chain) => {
    const reader = followed.readerOf(chain.id);
    if (!reader) return [];
    const options = {
      chain,
      reader,
      protocols: followed.protocolsOf(chain.id),
      wrappedNative: findWrappedNative(chain),
      attribute: toMarketplace,
      pollMs: context.config.chainPollMs,
    };
    return [createChainTask(context, options)];
  });
}

/** A sale whose marketplace nobody knows. */
const UNKNOWN = 'unknown';

/** Whose fill it was: by the domain that signed it, else by whom the fees went to. */
export function toMarketplace({ domain, consideration }: Pick<OrderFulfilled, 'domain' | 'consideration'>): string {
  const named = domain === undefined ? null : findMarketplaceByTag(domain);
  if (named !== null) return named;
  for (const { recipient } of consideration) {
    const slug = findMarketplaceByFeeRecipient(recipient);
    if (slug !== null) return slug;
  }
  return UNKNOWN;
}
