// The settings of the example marketplace.

import type { SettingTable } from '../../../../src/platform/core/setting.ts';
import { keySetting, urlSetting } from '../../../../src/platform/core/setting.ts';

export type ExampleSettings = { key: string | null; url: string };
export type ExampleAccess = { key: string; url: string };

export const EXAMPLE_SETTINGS: SettingTable<ExampleSettings> = {
  key: keySetting({ name: 'EXAMPLE_API_KEY', meaning: 'The API key. Empty: the marketplace is not read.' }),
  url: urlSetting({
    name: 'EXAMPLE_URL',
    default: 'https://api.example.org',
    meaning: 'The base URL of the API of the marketplace.',
  }),
};
