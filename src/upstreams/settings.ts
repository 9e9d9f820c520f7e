// The settings of the marketplaces, feeds and price sources that the service reads.

import { parseHttpUrl, parseInteger, parseToken, settingOf, splitList } from '../core/setting.ts';

export const PRICE_SOURCES = ['coinbase', 'coingecko', 'fixed'] as const;
export type PriceSource = (typeof PRICE_SOURCES)[number];

export type UpstreamSettings = {
  /** Null: OpenSea is not read. */
  openseaKey: string | null;
  openseaUrl: string;
  openseaHourlyBudget: number;
  magicedenKey: string | null;
  magicedenUrl: string;
  magicedenEvmUrl: string;
  /** Null: no tokens of Solana are read. May hold a key. */
  dasUrl: string | null;
  /** Null: there is no feed. */
  feedUrl: string | null;
  feedToken: string | null;
  priceSources: readonly PriceSource[];
  /** Dollars by symbol. */
  fixedPrices: ReadonlyMap<string, number>;
  coinbaseUrl: string;
  coingeckoUrl: string;
  coingeckoKey: string | null;
};

const setting = settingOf<UpstreamSettings>();

const URL_FORM = 'an http or https URL';
const KEY_FORM = 'a key';

export const UPSTREAM_SETTINGS = [
  setting({
    key: 'openseaKey',
    name: 'OPENSEA_API_KEY',
    default: '',
    form: KEY_FORM,
    meaning: 'The API key for OpenSea. Empty: OpenSea is not read.',
    secret: true,
    parse: parseToken,
  }),
  setting({
    key: 'openseaUrl',
    name: 'OPENSEA_URL',
    default: 'https://api.opensea.io',
    form: URL_FORM,
    meaning: "Where OpenSea's API is.",
    parse: parseHttpUrl,
  }),
  setting({
    key: 'openseaHourlyBudget',
    name: 'OPENSEA_HOURLY_BUDGET',
    default: '600',
    form: 'an integer from 1 to 1000000',
    meaning: 'Requests an hour that the key may make, spread over what is followed and looked at.',
    parse: (text) => parseInteger(text, 1, 1_000_000),
  }),
  setting({
    key: 'magicedenKey',
    name: 'MAGICEDEN_API_KEY',
    default: '',
    form: KEY_FORM,
    meaning: 'The API key for Magic Eden, which answers without one too, more slowly.',
    secret: true,
    parse: parseToken,
  }),
  setting({
    key: 'magicedenUrl',
    name: 'MAGICEDEN_URL',
    default: 'https://api-mainnet.magiceden.dev',
    form: URL_FORM,
    meaning: "Where Magic Eden's API for Solana is.",
    parse: parseHttpUrl,
  }),
  setting({
    key: 'magicedenEvmUrl',
    name: 'MAGICEDEN_EVM_URL',
    default: 'https://api-mainnet.magiceden.us',
    form: URL_FORM,
    meaning: "Where Magic Eden's API for EVM chains is.",
    parse: parseHttpUrl,
  }),
  setting({
    key: 'dasUrl',
    name: 'DAS_URL',
    default: '',
    form: URL_FORM,
    meaning: 'A Solana endpoint that speaks DAS, for tokens and their owners. Empty: none is read.',
    secret: true,
    parse: (text) => (text === '' ? null : parseHttpUrl(text, { bare: false })),
  }),
  setting({
    key: 'feedUrl',
    name: 'FEED_URL',
    default: '',
    form: URL_FORM,
    meaning: 'A feed of records of your own (newline-delimited JSON, docs/records.md), read about every two minutes.',
    secret: true,
    parse: (text) => (text === '' ? null : parseHttpUrl(text, { bare: false })),
  }),
  setting({
    key: 'feedToken',
    name: 'FEED_TOKEN',
    default: '',
    form: 'a token',
    meaning: 'Sent to the feed as a bearer token.',
    secret: true,
    parse: parseToken,
  }),
  setting({
    key: 'priceSources',
    name: 'PRICE_SOURCES',
    default: 'coinbase,coingecko',
    form: `none, or some of ${PRICE_SOURCES.join(', ')}, comma-separated`,
    meaning: 'Where dollar prices come from. Two that disagree by more than 5 % give none.',
    parse: (text) => {
      const named = text === 'none' ? [] : splitList(text);
      const known = named.flatMap((name) => PRICE_SOURCES.find((source) => source === name) ?? []);
      return known.length === named.length && new Set(known).size === known.length ? known : undefined;
    },
  }),
  setting({
    key: 'fixedPrices',
    name: 'FIXED_PRICES',
    default: '',
    form: 'SYMBOL=dollars, comma-separated',
    meaning: 'The dollar prices of the source `fixed`: for tests, and where there is no internet.',
    parse: parsePrices,
  }),
  setting({
    key: 'coinbaseUrl',
    name: 'COINBASE_URL',
    default: 'https://api.coinbase.com',
    form: URL_FORM,
    meaning: "Where Coinbase's API is.",
    parse: parseHttpUrl,
  }),
  setting({
    key: 'coingeckoUrl',
    name: 'COINGECKO_URL',
    default: 'https://api.coingecko.com',
    form: URL_FORM,
    meaning: "Where CoinGecko's API is.",
    parse: parseHttpUrl,
  }),
  setting({
    key: 'coingeckoKey',
    name: 'COINGECKO_API_KEY',
    default: '',
    form: KEY_FORM,
    meaning: 'The API key for CoinGecko, which answers without one too.',
    secret: true,
    parse: parseToken,
  }),
] as const;

function parsePrices(text: string): Map<string, number> | undefined {
  const prices = new Map<string, number>();
  for (const part of splitList(text)) {
    const [, symbol, usd] = /^([A-Za-z0-9]{1,12})=(\d{1,12}(?:\.\d{1,12})?)$/.exec(part) ?? [];
    if (!symbol || !(Number(usd) > 0)) return undefined;
    prices.set(symbol, Number(usd));
  }
  return prices;
}
