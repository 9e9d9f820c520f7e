// The vendor OpenSea: its settings, its names for collections, its probe, its recorded formats and its tasks.

import { defineVendor } from '../vendor.ts';
import { OPENSEA } from './names.ts';
import { OPENSEA_FORMATS } from './recorded-formats.ts';
import type { OpenSeaAccess, OpenSeaSettings } from './settings.ts';
import { OPENSEA_SETTINGS } from './settings.ts';

export const openSea = defineVendor<OpenSeaSettings, OpenSeaAccess>({
  name: OPENSEA,
  settings: OPENSEA_SETTINGS,
  enable: ({ key, ...rest }) => (key === null ? null : { key, ...rest }),
  collectionName: {
    option: 'opensea',
    placeholder: 'SLUG',
    meaning: 'its slug at OpenSea',
    listedAs: 'openseaSlug',
  },
  formats: OPENSEA_FORMATS,
  probes: ({ url, key }) => [
    {
      name: OPENSEA,
      url: `${url}/api/v2/collections?limit=1`,
      headers: { accept: 'application/json', 'x-api-key': key },
      settings: 'OPENSEA_URL and OPENSEA_API_KEY',
    },
  ],
  createTasks: async (context, access, pace) => (await import('./tasks.ts')).createOpenSeaTasks(context, access, pace),
});
