// The settings of Magic Eden.

import type { SettingTable } from '../../../platform/core/setting.ts';
import { keySetting, urlSetting } from '../../../platform/core/setting.ts';

export type MagicEdenSettings = {
  /** Null: requests are sent without a key. */
  key: string | null;
  /** The API for Solana. */
  url: string;
  /** The API for EVM chains. */
  evmUrl: string;
};

export const MAGIC_EDEN_SETTINGS: SettingTable<MagicEdenSettings> = {
  key: keySetting({
    name: 'MAGICEDEN_API_KEY',
    meaning: 'The API key for Magic Eden. Empty: requests are sent without a key, and Magic Eden allows fewer of them.',
  }),
  url: urlSetting({
    name: 'MAGICEDEN_URL',
    default: 'https://api-mainnet.magiceden.dev',
    meaning: "Where Magic Eden's API for Solana is.",
  }),
  evmUrl: urlSetting({
    name: 'MAGICEDEN_EVM_URL',
    default: 'https://api-mainnet.magiceden.us',
    meaning: "Where Magic Eden's API for EVM chains is.",
  }),
};

export function toKeyHeaders({ key }: Pick<MagicEdenSettings, 'key'>): Record<string, string> {
  return key === null ? {} : { authorization: `Bearer ${key}` };
}
