// The price sources for the replay server: frames as they were recorded, amounts of the test's choice.

import { findPayload, recordedRoutes } from '../recordings/payloads.ts';
import type { Route } from './replay.ts';
import { ReplayResponse } from './replay.ts';

/** Prices by symbol, as text; a symbol that is not there is not known. */
export type PriceTable = Record<string, string>;

const IDS: Record<string, string> = {
  ethereum: 'ETH',
  solana: 'SOL',
  'polygon-ecosystem-token': 'POL',
  apecoin: 'APE',
};

/** The recorded answer where its amount is the wanted one, else the same with another amount, or of another currency. */
export function coinbaseRoutes(prices: PriceTable, toBase = (symbol: string) => symbol): Route[] {
  return [
    {
      path: /\/v2\/prices\/(?<symbol>[^/]+)-USD\/spot/,
      origin: 'recorded rows',
      answer: ({ groups: { symbol = '' } }) => {
        const amount = prices[symbol];
        return amount === undefined
          ? new ReplayResponse(404)
          : { data: { amount, base: toBase(symbol), currency: 'USD' } };
      },
    },
    ...recordedRoutes('coinbase'),
  ];
}

/** Numbers stand in its answers as they are written: as literals. */
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

/** The spot price that was recorded from Coinbase; null where the records are not there. */
export function readRecordedSpot(): { data: { amount: string; base: string; currency: string } } | null {
  const text = findPayload('coinbase/v2_prices_ETH-USD_spot.json');
  return text === null ? null : JSON.parse(text);
}
