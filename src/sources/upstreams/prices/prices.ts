// Reads the dollar prices of native currencies from Coinbase and CoinGecko. A price is read as text, and rejected unless it is a positive
// decimal number for the requested currency.

import { JsonNumber } from '../../../platform/core/json-text.ts';
import type { Quote } from './quotes.ts';
import { optionalInteger, rejectRow, RowRejection, toRow, toTime } from '../response-rows.ts';
import type { UpstreamClient } from '../upstream-client.ts';
import { toPath, UpstreamFailure } from '../upstream-client.ts';

/** `quotes`: by symbol, without the symbols that the vendor does not have. `rejected`: the reasons for rejections. */
export type Quotes = { quotes: ReadonlyMap<string, Quote>; rejected: string[] };

const BYTES_MAX = 64 * 1024;
/** A price that was updated longer ago than this is rejected. */
const AGE_MAX_MS = 15 * 60_000;
/** If a vendor demands a longer pause than this, the request to the vendor fails at once. So the vendor does not delay the other vendor. */
const PATIENCE_MS = 5_000;

/** CoinGecko's field with the time of a price, in seconds since the epoch. CoinGecko includes it only on request. */
const UPDATED = 'last_updated_at';

const DECIMAL = /^\d{1,20}(\.\d{1,30})?([eE][+-]?\d{1,3})?$/;

/** Sends one request for each currency: `GET /v2/prices/ETH-USD/spot`. Throws UpstreamFailure when a request fails. */
export async function readCoinbasePrices(
  upstream: UpstreamClient,
  symbols: readonly string[],
  signal: AbortSignal,
): Promise<Quotes> {
  const quotes = new Map<string, Quote>();
  const rejected: string[] = [];
  for (const symbol of symbols) {
    const path = toPath('v2', 'prices', `${symbol}-USD`, 'spot');
    const response = await nullIfNotFound(
      upstream.getJson(path, {}, { signal, bytesMax: BYTES_MAX, patienceMs: PATIENCE_MS }),
    );
    if (response === null) continue;
    collect(rejected, () => {
      const data = toRow(toRow(response, 'response')['data'], 'data');
      if (data['base'] !== symbol) rejectRow('base', 'is another currency');
      if (data['currency'] !== 'USD') rejectRow('currency', 'is not USD');
      const { amount } = data;
      quotes.set(symbol, { source: upstream.name, usd: toUsd(typeof amount === 'string' ? amount : null, 'amount') });
    });
  }
  return { quotes, rejected };
}

/**
 * Sends one request for all currencies: `GET /api/v3/simple/price`. `ids`: CoinGecko's id of each currency by symbol. Throws
 * UpstreamFailure when the request fails.
 */
export async function readCoingeckoPrices(
  upstream: UpstreamClient,
  ids: ReadonlyMap<string, string>,
  { now, signal }: { now: number; signal: AbortSignal },
): Promise<Quotes> {
  const quotes = new Map<string, Quote>();
  const rejected: string[] = [];
  if (ids.size === 0) return { quotes, rejected };
  const query = {
    ids: [...ids.values()].join(','),
    vs_currencies: 'usd',
    include_last_updated_at: 'true',
    precision: 'full',
  };
  const path = toPath('api', 'v3', 'simple', 'price');
  const response = await upstream.getJson(path, query, { signal, bytesMax: BYTES_MAX, patienceMs: PATIENCE_MS });
  collect(rejected, () => {
    const byId = toRow(response, 'response');
    if ([...ids.values()].every((id) => byId[id] === undefined)) rejectRow('response', 'has no requested coin');
    for (const [symbol, id] of ids) {
      if (byId[id] === undefined) continue;
      collect(rejected, () => {
        const coin = toRow(byId[id], id);
        const { usd } = coin;
        if (usd === undefined || usd === null) return;
        // A price without a time is accepted, because prices of Coinbase have no time either. A price with a malformed time is rejected.
        const seconds = optionalInteger(coin, UPDATED);
        if (seconds !== null && now - Date.parse(toTime(seconds, UPDATED)) > AGE_MAX_MS) rejectRow(id, 'is too old');
        quotes.set(symbol, { source: upstream.name, usd: toUsd(usd instanceof JsonNumber ? usd.text : null, id) });
      });
    }
  });
  return { quotes, rejected };
}

/** Null for status 404: the vendor does not have the currency. */
async function nullIfNotFound(response: Promise<unknown>): Promise<unknown> {
  try {
    return await response;
  } catch (error) {
    if (error instanceof UpstreamFailure && error.reason === 'not-found') return null;
    throw error;
  }
}

function collect(rejected: string[], read: () => void): void {
  try {
    read();
  } catch (error) {
    if (!(error instanceof RowRejection)) throw error;
    rejected.push(error.message);
  }
}

function toUsd(text: string | null, field: string): number {
  if (text === null || !DECIMAL.test(text)) return rejectRow(field, 'is not a decimal number of dollars');
  const usd = Number(text);
  return Number.isFinite(usd) && usd > 0 ? usd : rejectRow(field, 'is not a price');
}
