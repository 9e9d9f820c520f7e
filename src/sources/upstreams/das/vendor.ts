// The vendor for Solana endpoints that serve DAS, the Digital Asset Standard: its settings, probe, recorded formats and tasks.

import { defineVendor } from '../vendor.ts';
import { DAS } from './assets.ts';
import { DAS_FORMATS } from './recorded-formats.ts';
import type { DasAccess, DasSettings } from './settings.ts';
import { DAS_SETTINGS } from './settings.ts';

export const das = defineVendor<DasSettings, DasAccess>({
  name: DAS,
  settings: DAS_SETTINGS,
  enable: ({ url }) => (url === null ? null : { url }),
  formats: DAS_FORMATS,
  probes: ({ url }) => [
    {
      name: DAS,
      url,
      method: 'POST',
      headers: { accept: 'application/json', 'content-type': 'application/json' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'getHealth' }),
      settings: 'DAS_URL',
    },
  ],
  createTasks: async (context, access, pace) => (await import('./tasks.ts')).createDasTasks(context, access, pace),
});
