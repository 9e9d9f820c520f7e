// The chains that this process reads: all chains that have endpoints and are not frozen. A ChainReader is created when a chain is first used.

import type { Chains } from '../../platform/core/chains.ts';
import type { Clock } from '../../platform/core/clock.ts';
import type { Log } from '../../platform/core/log.ts';
import type { Random } from '../../platform/core/random.ts';
import { listProtocolContracts } from './protocols/registry.ts';
import type { ProtocolContracts } from './protocols/settlement-protocol.ts';
import { ChainReader } from './rpc/chain-reader.ts';
import type { ChainSettings } from './settings.ts';

export type ChainMode = 'live' | 'frozen' | 'disabled';

export type FollowedChainsOptions = {
  config: Pick<ChainSettings, 'frozenChains' | 'rpcUrls' | 'comparedReads' | 'extraSeaport'>;
  chains: Chains;
  log: Log;
  clock: Clock;
  random: Random;
};

export class FollowedChains {
  readonly #options: FollowedChainsOptions;
  readonly #readers = new Map<string, ChainReader>();

  constructor(options: FollowedChainsOptions) {
    this.#options = options;
  }

  /** `live`: the chain is read. `frozen`: FROZEN_CHAINS names the chain, so it is not read. `disabled`: the chain has no endpoint. */
  modeOf(chainId: string): ChainMode {
    const { frozenChains, rpcUrls } = this.#options.config;
    if (frozenChains.has(chainId)) return 'frozen';
    return rpcUrls.has(chainId) ? 'live' : 'disabled';
  }

  /** Null if the chain is not live. */
  readerOf(chainId: string): ChainReader | null {
    const { config, chains, log, clock, random } = this.#options;
    const chain = chains.get(chainId);
    const urls = config.rpcUrls.get(chainId);
    if (!chain || !urls || this.modeOf(chainId) !== 'live') return null;
    const compared = config.comparedReads;
    const reader = this.#readers.get(chainId) ?? new ChainReader({ chain, urls, compared, log, clock, random });
    this.#readers.set(chainId, reader);
    return reader;
  }

  protocolsOf(chainId: string): ProtocolContracts {
    const { chains, config } = this.#options;
    const chain = chains.get(chainId);
    return chain ? listProtocolContracts(chain, config.extraSeaport) : new Map();
  }

  readers(): readonly ChainReader[] {
    return [...this.#readers.values()];
  }

  close(): void {
    for (const reader of this.#readers.values()) reader.close();
  }
}
