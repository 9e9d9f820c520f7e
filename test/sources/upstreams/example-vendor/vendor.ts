// An invented marketplace, registered as docs/adding-a-marketplace.md describes. All code about this marketplace is in this folder.

import { defineVendor } from '../../../../src/sources/upstreams/vendor.ts';
import { readListings } from './recorded-formats.ts';
import { NAME } from './mapper.ts';
import type { ExampleAccess, ExampleSettings } from './settings.ts';
import { EXAMPLE_SETTINGS } from './settings.ts';

export const exampleVendor = defineVendor<ExampleSettings, ExampleAccess>({
  name: NAME,
  settings: EXAMPLE_SETTINGS,
  enable: ({ key, url }) => (key === null ? null : { key, url }),
  collectionName: {
    option: 'example',
    placeholder: 'HANDLE',
    meaning: 'its handle at the example marketplace',
    listedAs: 'exampleHandle',
  },
  formats: [readListings],
  probes: ({ url, key }) => [
    { name: NAME, url: `${url}/health`, headers: { 'x-key': key }, settings: 'EXAMPLE_URL and EXAMPLE_API_KEY' },
  ],
  createTasks: async (context, access, pace) => (await import('./tasks.ts')).createExampleTasks(context, access, pace),
});
