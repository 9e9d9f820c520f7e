// The settings of OpenSea.

import type { SettingTable } from '../../../platform/core/setting.ts';
import { keySetting, parseInteger, urlSetting } from '../../../platform/core/setting.ts';

export type OpenSeaSettings = {
  /** Null: OpenSea is not read. */
  key: string | null;
  url: string;
  /** The most requests in any hour. */
  hourlyBudget: number;
};

/** The settings with a key. OpenSea rejects requests without a key. */
export type OpenSeaAccess = OpenSeaSettings & { key: string };

export const OPENSEA_SETTINGS: SettingTable<OpenSeaSettings> = {
  key: keySetting({
    name: 'OPENSEA_API_KEY',
    meaning: 'The API key for OpenSea. Empty: OpenSea is not read.',
  }),
  url: urlSetting({
    name: 'OPENSEA_URL',
    default: 'https://api.opensea.io',
    meaning: "Where OpenSea's API is.",
  }),
  hourlyBudget: {
    name: 'OPENSEA_HOURLY_BUDGET',
    default: '600',
    form: 'an integer from 1 to 1000000',
    meaning: 'Requests that may be sent with the key in any hour, shared by all tasks and processes.',
    parse: (text) => parseInteger(text, 1, 1_000_000),
  },
};
