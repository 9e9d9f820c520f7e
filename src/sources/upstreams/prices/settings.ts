// The settings of the vendors of prices.

import type { SettingTable } from '../../../platform/core/setting.ts';
import { keySetting, splitList, urlSetting } from '../../../platform/core/setting.ts';

const PRICE_SOURCES = ['coinbase', 'coingecko', 'fixed'] as const;
export type PriceSource = (typeof PRICE_SOURCES)[number];

export type PriceSettings = {
  /** Empty: dollar prices are not read. */
  sources: readonly PriceSource[];
  /** Dollars by symbol, for the source `fixed`. */
  fixedPrices: ReadonlyMap<string, number>;
  coinbaseUrl: string;
  coingeckoUrl: string;
  /** Null: requests are sent without a key. */
  coingeckoKey: string | null;
};

export const PRICE_SETTINGS: SettingTable<PriceSettings> = {
  sources: {
    name: 'PRICE_SOURCES',
    default: 'coinbase,coingecko',
    form: `none, or some of ${PRICE_SOURCES.join(', ')}, comma-separated`,
    meaning: 'Where dollar prices come from. Two sources that disagree by more than 5 % give no price.',
    parse: (text) => {
      const named = text === 'none' ? [] : splitList(text);
      const known = named.flatMap((name) => PRICE_SOURCES.find((source) => source === name) ?? []);
      return known.length === named.length && new Set(known).size === known.length ? known : undefined;
    },
  },
  fixedPrices: {
    name: 'FIXED_PRICES',
    default: '',
    form: 'SYMBOL=dollars, comma-separated',
    meaning: 'The dollar prices of the source `fixed`: for tests, and where there is no internet.',
    parse: parsePrices,
  },
  coinbaseUrl: urlSetting({
    name: 'COINBASE_URL',
    default: 'https://api.coinbase.com',
    meaning: "Where Coinbase's API is.",
  }),
  coingeckoUrl: urlSetting({
    name: 'COINGECKO_URL',
    default: 'https://api.coingecko.com',
    meaning: "Where CoinGecko's API is.",
  }),
  coingeckoKey: keySetting({
    name: 'COINGECKO_API_KEY',
    meaning: 'The API key for CoinGecko. Empty: requests are sent without a key.',
  }),
};

/** CoinGecko has two kinds of keys, and each kind has a host and a header of its own. */
export function toCoingeckoHeaders({
  coingeckoUrl,
  coingeckoKey,
}: Pick<PriceSettings, 'coingeckoUrl' | 'coingeckoKey'>): Record<string, string> {
  if (coingeckoKey === null) return {};
  const isPro = new URL(coingeckoUrl).hostname.startsWith('pro-');
  return { [isPro ? 'x-cg-pro-api-key' : 'x-cg-demo-api-key']: coingeckoKey };
}

function parsePrices(text: string): Map<string, number> | undefined {
  const prices = new Map<string, number>();
  for (const part of splitList(text)) {
    const [, symbol, usd] = /^([A-Za-z0-9]{1,12})=(\d{1,12}(?:\.\d{1,12})?)$/.exec(part) ?? [];
    if (!symbol || !(Number(usd) > 0)) return undefined;
    prices.set(symbol, Number(usd));
  }
  return prices;
}
