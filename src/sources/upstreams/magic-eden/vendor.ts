// The vendor Magic Eden: its settings, its names for collections, its probe, its recorded formats and its tasks.

import { defineVendor } from '../vendor.ts';
import { MAGIC_EDEN_FORMATS } from './recorded-formats.ts';
import type { MagicEdenSettings } from './settings.ts';
import { MAGIC_EDEN_SETTINGS, toKeyHeaders } from './settings.ts';
import { MAGIC_EDEN } from './solana.ts';

export const magicEden = defineVendor<MagicEdenSettings>({
  name: MAGIC_EDEN,
  settings: MAGIC_EDEN_SETTINGS,
  // Enabled even without a key, because the tasks send no request until a collection is followed under a symbol.
  enable: (settings) => settings,
  collectionName: {
    option: 'magiceden',
    placeholder: 'SYMBOL',
    meaning: 'its symbol at Magic Eden',
    listedAs: 'magicedenSymbol',
  },
  formats: MAGIC_EDEN_FORMATS,
  probes: ({ url, key }) =>
    key === null
      ? []
      : [
          {
            name: MAGIC_EDEN,
            url: `${url}/v2/collections?offset=0&limit=1`,
            headers: { accept: 'application/json', ...toKeyHeaders({ key }) },
            settings: 'MAGICEDEN_URL and MAGICEDEN_API_KEY',
          },
        ],
  createTasks: async (context, settings, pace) => {
    const [{ createMagicEdenTasks }, { createMagicEdenEvmTasks }] = await Promise.all([
      import('./solana-tasks.ts'),
      import('./evm-tasks.ts'),
    ]);
    return [...createMagicEdenTasks(context, settings, pace), ...createMagicEdenEvmTasks(context, settings, pace)];
  },
});
