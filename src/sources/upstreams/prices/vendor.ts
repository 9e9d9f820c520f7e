// Registers all price vendors together as the vendor `prices`. One task reads the quotes of all of them and compares these quotes.

import type { Probe } from '../vendor.ts';
import { defineVendor } from '../vendor.ts';
import type { PriceSettings } from './settings.ts';
import { PRICE_SETTINGS, toCoingeckoHeaders } from './settings.ts';

export const prices = defineVendor<PriceSettings>({
  name: 'prices',
  settings: PRICE_SETTINGS,
  enable: (settings) => (settings.sources.length === 0 ? null : settings),
  probes: (settings) =>
    settings.sources.flatMap((source): Probe[] => {
      if (source === 'coinbase') {
        const url = `${settings.coinbaseUrl}/v2/prices/ETH-USD/spot`;
        return [{ name: source, url, settings: 'COINBASE_URL and PRICE_SOURCES', isOptional: true }];
      }
      if (source === 'coingecko') {
        const url = `${settings.coingeckoUrl}/api/v3/ping`;
        const headers = { accept: 'application/json', ...toCoingeckoHeaders(settings) };
        return [
          {
            name: source,
            url,
            headers,
            settings: 'COINGECKO_URL, COINGECKO_API_KEY and PRICE_SOURCES',
            isOptional: true,
          },
        ];
      }
      return [];
    }),
  createTasks: async (context, settings, pace) =>
    (await import('./tasks.ts')).createPriceTasks(context, settings, pace),
});
