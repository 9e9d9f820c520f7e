// Lets the replay server stand in for the price sources Coinbase and CoinGecko. It serves the prices that a test sets.

import { parseFixture } from '../fixtures.ts';
import { recordedRoutes } from '../recordings/payloads.ts';
import type { Route } from './replay.ts';
import { ReplayResponse } from './replay.ts';

/** Prices by symbol, as text. The price source has no other symbols. */
export type PriceTable = Record<string, string>;

const IDS: Record<string, string> = {
  ethereum: 'ETH',
  solana: 'SOL',
  'polygon-ecosystem-token': 'POL',
  apecoin: 'APE',
};

/** `toBase` returns the currency in the response. A test can replace it to return another currency than the requested one. */
export function coinbaseRoutes(prices: PriceTable, toBase = (symbol: string) => symbol): Route[] {
  return [
    {
      path: /\/v2\/prices\/(?<symbol>[^/]+)-USD\/spot/,
      origin: 'recorded rows',
      answer: ({ groups: { symbol = '' } }) => {
        const amount = prices[symbol];
        const { data } = parseFixture('coinbase/spot.json');
        return amount === undefined ? new ReplayResponse(404) : { data: { ...data, amount, base: toBase(symbol) } };
      },
    },
    ...recordedRoutes('coinbase'),
  ];
}

/** The response contains the prices as they are written in the table. */
export function coingeckoRoutes(prices: PriceTable, updatedAt: () => number): Route[] {
  return [
    {
      path: /\/api\/v3\/simple\/price/,
      origin: 'recorded rows',
      answer: ({ query }) => {
        const wanted = (query.get('ids') ?? '').split(',');
        const entries = wanted.flatMap((id) => {
          const usd = prices[IDS[id] ?? ''];
          return usd === undefined ? [] : [`"${id}":{"usd":${usd},"last_updated_at":${updatedAt()}}`];
        });
        return `{${entries.join(',')}}`;
      },
    },
    ...recordedRoutes('coingecko'),
  ];
}
