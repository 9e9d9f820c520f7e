// The settings for reading metadata: the gateways, the budgets of requests, and whether addresses that are not public are allowed.

import type { Setting, SettingTable } from '../../platform/core/setting.ts';
import { parseFlag, parseHttpUrl, parseInteger, splitList } from '../../platform/core/setting.ts';

export type MetadataSettings = {
  /** URLs without a trailing slash, in the order in which they are tried. The path of an ipfs:// URI is appended to them. */
  ipfsGateways: readonly string[];
  /** The same for ar:// URIs. */
  arweaveGateways: readonly string[];
  /** The most requests in an hour. 0: no metadata is read. */
  metadataHourlyBudget: number;
  /** The most requests to one host in an hour. */
  metadataHostBudget: number;
  /** Whether the URIs of tokens may lead to addresses that are not public. */
  metadataAllowPrivate: boolean;
};

const GATEWAYS_MAX = 8;
const BUDGET_MAX = 10_000_000;

export const METADATA_SETTINGS: SettingTable<MetadataSettings> = {
  ipfsGateways: gatewaysSetting({
    name: 'IPFS_GATEWAYS',
    default: 'https://ipfs.io/ipfs,https://dweb.link/ipfs',
    meaning:
      'The gateways through which `ipfs://` metadata is read, in the order in which they are tried. The content id and path follow the URL. A gateway may have a private address.',
  }),
  arweaveGateways: gatewaysSetting({
    name: 'ARWEAVE_GATEWAYS',
    default: 'https://arweave.net',
    meaning: 'The gateways through which `ar://` metadata is read, in the order in which they are tried.',
  }),
  metadataHourlyBudget: {
    name: 'METADATA_HOURLY_BUDGET',
    default: '20000',
    form: `an integer from 0 to ${BUDGET_MAX}`,
    meaning:
      'How many requests for the metadata of tokens and collections the service sends in an hour, to all hosts. 0: no metadata is read from contracts.',
    parse: (text) => parseInteger(text, 0, BUDGET_MAX),
  },
  metadataHostBudget: {
    name: 'METADATA_HOST_BUDGET',
    default: '10000',
    form: `an integer from 1 to ${BUDGET_MAX}`,
    meaning:
      'How many requests for metadata the service sends in an hour to one host. This limit also applies to each gateway.',
    parse: (text) => parseInteger(text, 1, BUDGET_MAX),
  },
  metadataAllowPrivate: {
    name: 'METADATA_ALLOW_PRIVATE',
    default: 'false',
    form: 'true or false',
    meaning:
      'Allows metadata from addresses that are not public, for local chains. Anyone who deploys a followed contract can then make the service send requests to hosts in its private network.',
    parse: parseFlag,
  },
};

function gatewaysSetting(row: Pick<Setting<unknown>, 'name' | 'default' | 'meaning'>): Setting<readonly string[]> {
  return {
    ...row,
    form: `http or https URLs, comma-separated, at most ${GATEWAYS_MAX}`,
    parse: (text) => {
      const urls = splitList(text).map((url) => parseHttpUrl(url));
      return urls.length <= GATEWAYS_MAX && urls.every((url) => url !== undefined) ? urls : undefined;
    },
  };
}
