// The settings of the chains: endpoints, frozen chains, and additional deployments of Seaport.

import { parseAddress } from '../../platform/core/address.ts';
import type { SeaportDeployment } from '../../platform/core/chains.ts';
import type { Setting, SettingTable } from '../../platform/core/setting.ts';
import type { ComparedReads } from './rpc/endpoint-comparison.ts';
import { parseHttpUrl, parseInteger, splitList } from '../../platform/core/setting.ts';

export type ChainSettings = {
  /** Endpoints by chain id, the preferred one first. */
  rpcUrls: ReadonlyMap<string, readonly string[]>;
  comparedReads: ComparedReads;
  /** Chains whose data is kept but no longer read from endpoints. */
  frozenChains: ReadonlySet<string>;
  /** Seaport deployments by chain id, in addition to the built-in ones. */
  extraSeaport: ReadonlyMap<string, readonly SeaportDeployment[]>;
  chainPollMs: number;
};

const URLS_MAX = 8;
const COMPARED_READS: readonly ComparedReads[] = ['all', 'new', 'off'];

/** One setting for each EVM chain. */
export const RPC_URLS_SETTING: Setting<readonly string[]> = {
  name: 'RPC_URL_<CHAIN>',
  default: '',
  form: `http or https URLs, comma-separated, at most ${URLS_MAX}`,
  meaning:
    'JSON-RPC endpoints of an EVM chain, such as `RPC_URL_ETHEREUM`, in order of preference. Empty: the chain is not followed.',
  secret: true,
  parse: (text) => {
    const urls = splitList(text);
    return urls.length <= URLS_MAX && urls.every((url) => parseHttpUrl(url, { bare: false })) ? urls : undefined;
  },
};

export const CHAIN_SETTINGS: SettingTable<Omit<ChainSettings, 'rpcUrls'>> = {
  comparedReads: {
    name: 'RPC_COMPARE',
    default: 'all',
    form: '`all`, `new` or `off`',
    meaning:
      'Which responses of an endpoint are compared with a second endpoint of the chain, before they are stored or used to decide about an order. ' +
      '`all`: blocks, and calls to contracts. A backfill then makes the same requests to two endpoints at once. `new`: the same, except ranges ' +
      'of past blocks, so that a backfill uses one endpoint. `off`: none. With one endpoint, nothing is compared.',
    parse: (text) => COMPARED_READS.find((one) => one === text),
  },
  frozenChains: {
    name: 'FROZEN_CHAINS',
    default: '',
    form: 'chain ids, comma-separated',
    meaning: 'Chains that are no longer followed: the data read so far is kept and served.',
    parse: (text) => {
      const ids = splitList(text);
      return ids.every((id) => /^[a-z][a-z0-9-]{1,30}$/.test(id)) ? new Set(ids) : undefined;
    },
  },
  extraSeaport: {
    name: 'SEAPORT_ADDRESSES',
    default: '',
    form: 'chain=address@version, comma-separated',
    meaning:
      'Seaport deployments in addition to the built-in ones: their events are read, and orders signed for them are accepted.',
    parse: parseSeaport,
  },
  chainPollMs: {
    name: 'CHAIN_POLL_MS',
    default: '1000',
    form: 'an integer from 50 to 600000',
    meaning: 'The pause between two reads of the newest block of each followed chain, in milliseconds.',
    parse: (text) => parseInteger(text, 50, 600_000),
  },
};

function parseSeaport(text: string): Map<string, SeaportDeployment[]> | undefined {
  const byChain = new Map<string, SeaportDeployment[]>();
  for (const part of splitList(text)) {
    const [, chain, written, version] = /^([a-z][a-z0-9-]{1,30})=(0x[0-9a-fA-F]{40})@(\d+\.\d+)$/.exec(part) ?? [];
    const address = written === undefined ? null : parseAddress('evm', written);
    if (!chain || !address || !version) return undefined;
    byChain.set(chain, [...(byChain.get(chain) ?? []), { address, version }]);
  }
  return byChain;
}
