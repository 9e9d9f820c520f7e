// The settings of DAS.

import type { SettingTable } from '../../../platform/core/setting.ts';
import { secretUrlSetting } from '../../../platform/core/setting.ts';

export type DasSettings = {
  /** Null: DAS is not read. The URL may hold a key. */
  url: string | null;
};

export type DasAccess = { url: string };

export const DAS_SETTINGS: SettingTable<DasSettings> = {
  url: secretUrlSetting({
    name: 'DAS_URL',
    meaning: 'A Solana endpoint that serves DAS, for tokens and their owners. Empty: DAS is not read.',
  }),
};
