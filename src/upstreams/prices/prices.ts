// Dollar prices of native currencies as Coinbase and CoinGecko tell them. Read as text and checked: what is not a plain
// positive decimal of the currency that was asked for is refused, never guessed.

import { JsonNumber } from '../../core/json-text.ts';
import type { Quote } from './quotes.ts';
import { optionalInteger, rejectRow, RowRejection, toRow, toTime } from '../rows.ts';
import type { UpstreamClient } from '../upstream-client.ts';
import { toPath, UpstreamFailure } from '../upstream-client.ts';

/** The quotes of one source by symbol, and what it said that makes no sense. Symbols that it does not know are in neither. */
export type Quotes = { quotes: ReadonlyMap<string, Quote>; refused: string[] };

const BYTES_MAX = 64 * 1024;
/** A price that its source has not looked at for so long is none. */
const AGE_MAX_MS = 15 * 60_000;
/** Beyond a price's own patience, so that a paused source does not hold up the other one. */
const PATIENCE_MS = 5_000;

/** In seconds since the epoch. Off unless it is asked for. */
const UPDATED = 'last_updated_at';

const DECIMAL = /^\d{1,20}(\.\d{1,30})?([eE][+-]?\d{1,3})?$/;

/** One request a currency: `GET /v2/prices/ETH-USD/spot`. Throws UpstreamFailure when the source cannot be asked. */
export async function readCoinbasePrices(
  upstream: UpstreamClient,
  symbols: readonly string[],
  signal: AbortSignal,
): Promise<Quotes> {
  const quotes = new Map<string, Quote>();
  const refused: string[] = [];
  for (const symbol of symbols) {
    const path = toPath('v2', 'prices', `${symbol}-USD`, 'spot');
    const answer = await orNull(upstream.getJson(path, {}, { signal, bytesMax: BYTES_MAX, patienceMs: PATIENCE_MS }));
    if (answer === null) continue;
    collect(refused, () => {
      const data = toRow(toRow(answer, 'answer')['data'], 'data');
      if (data['base'] !== symbol) rejectRow('base', 'is another currency');
      if (data['currency'] !== 'USD') rejectRow('currency', 'is not USD');
      const { amount } = data;
      quotes.set(symbol, { source: upstream.name, usd: toUsd(typeof amount === 'string' ? amount : null, 'amount') });
    });
  }
  return { quotes, refused };
}

/**
 * One request for all currencies, given by symbol with CoinGecko's ids: `GET /api/v3/simple/price`. Throws UpstreamFailure when
 * the request fails.
 */
export async function readCoingeckoPrices(
  upstream: UpstreamClient,
  ids: ReadonlyMap<string, string>,
  { now, signal }: { now: number; signal: AbortSignal },
): Promise<Quotes> {
  const quotes = new Map<string, Quote>();
  const refused: string[] = [];
  if (ids.size === 0) return { quotes, refused };
  const query = {
    ids: [...ids.values()].join(','),
    vs_currencies: 'usd',
    include_last_updated_at: 'true',
    precision: 'full',
  };
  const path = toPath('api', 'v3', 'simple', 'price');
  const answer = await upstream.getJson(path, query, { signal, bytesMax: BYTES_MAX, patienceMs: PATIENCE_MS });
  collect(refused, () => {
    const byId = toRow(answer, 'answer');
    if ([...ids.values()].every((id) => byId[id] === undefined))
      rejectRow('answer', 'tells of no coin that was asked for');
    for (const [symbol, id] of ids) {
      if (byId[id] === undefined) continue;
      collect(refused, () => {
        const told = toRow(byId[id], id);
        const { usd } = told;
        if (usd === undefined || usd === null) return;
        // Without a time it says as much as Coinbase does, which tells none; a time that makes no sense says that it is not this.
        const seconds = optionalInteger(told, UPDATED);
        if (seconds !== null && now - Date.parse(toTime(seconds, UPDATED)) > AGE_MAX_MS) rejectRow(id, 'is too old');
        quotes.set(symbol, { source: upstream.name, usd: toUsd(usd instanceof JsonNumber ? usd.text : null, id) });
      });
    }
  });
  return { quotes, refused };
}

/** A price source that does not know a currency says so by 404. */
async function orNull(answer: Promise<unknown>): Promise<unknown> {
  try {
    return await answer;
  } catch (error) {
    if (error instanceof UpstreamFailure && error.reason === 'not-found') return null;
    throw error;
  }
}

function collect(refused: string[], read: () => void): void {
  try {
    read();
  } catch (error) {
    if (!(error instanceof RowRejection)) throw error;
    refused.push(error.message);
  }
}

function toUsd(text: string | null, field: string): number {
  if (text === null || !DECIMAL.test(text)) return rejectRow(field, 'is no decimal of dollars');
  const usd = Number(text);
  return Number.isFinite(usd) && usd > 0 ? usd : rejectRow(field, 'is no price');
}
