// The task that keeps dollar rates fresh. A source that cannot be asked leaves the others; two that disagree give no price,
// and the last rate grows old by itself. It never writes a rate that it did not just read.

import { listRates } from '../../market/queries/rates.ts';
import type { Quote } from './quotes.ts';
import { decidePrice } from './quotes.ts';
import { nameAt } from '../../core/chains.ts';
import { describeError } from '../../core/errors.ts';
import type { Log } from '../../core/log.ts';
import { readCoinbasePrices, readCoingeckoPrices } from './prices.ts';
import type { Quotes } from './prices.ts';
import type { PriceSettings, PriceSource } from './settings.ts';
import { toCoingeckoHeaders } from './settings.ts';
import type { UpstreamPace } from '../upstream-client.ts';
import { UpstreamClient } from '../upstream-client.ts';
import { createIngester } from '../ingester.ts';
import type { Task } from '../../tasks/task.ts';
import type { UpstreamContext } from '../context.ts';

/** With a tenth more, and a request that hangs, still within a minute: a source that is back is heard again while the other goes on. */
const PERIOD_MS = 45_000;
const DEADLINE_MS = 45_000;
const TIMEOUT_MS = 8_000;

type PriceReader = { upstream: UpstreamClient | null; read(signal: AbortSignal): Promise<Quotes> };

export function createPriceTasks(
  context: UpstreamContext,
  settings: PriceSettings,
  { timeoutMs = TIMEOUT_MS }: UpstreamPace,
): Task[] {
  const symbols = [...new Set([...context.chains.values()].map((chain) => chain.symbol))];
  const readers = settings.sources.map((source) => createReader(context, settings, { source, symbols, timeoutMs }));
  return [
    {
      name: 'prices',
      periodMs: PERIOD_MS,
      deadlineMs: DEADLINE_MS,
      upstreams: () => readers.flatMap(({ upstream }) => (upstream ? [upstream.status()] : [])),
      run: (signal) => syncPrices(context, { readers, symbols, signal }),
    },
  ];
}

async function syncPrices(
  context: UpstreamContext,
  { readers, symbols, signal }: { readers: readonly PriceReader[]; symbols: readonly string[]; signal: AbortSignal },
) {
  const ingester = createIngester(context);
  const problems: string[] = [];
  const readings = await Promise.allSettled(readers.map((reader) => reader.read(signal)));
  const told: Quotes[] = [];
  for (const reading of readings) {
    if (reading.status === 'fulfilled') told.push(reading.value);
    else problems.push(describeFailure(reading.reason));
  }
  signal.throwIfAborted();
  if (told.length === 0) throw new Error(problems.join('; '));
  for (const { refused } of told) for (const reason of refused) ingester.refuse(reason);
  const known = new Map((await listRates(context.main)).map((rate) => [rate.symbol, rate]));
  const now = context.clock();
  const at = new Date(now).toISOString();
  const records = symbols.flatMap((symbol) => {
    const quotes = told.flatMap((one): Quote[] => {
      const quote = one.quotes.get(symbol);
      return quote ? [quote] : [];
    });
    const decision = decidePrice(quotes, known.get(symbol) ?? null, now);
    if (decision.usd !== null) return [{ kind: 'rate', symbol, usd: decision.usd, at }];
    // A currency that nobody trades is no news; one that is told wrongly is.
    if (decision.why !== 'unknown') problems.push(toProblem(symbol, decision.why, quotes));
    return [];
  });
  await ingester.land(records, signal);
  return ingester.result({ problems });
}

function toProblem(symbol: string, why: 'disagreement' | 'absurd', quotes: readonly Quote[]): string {
  if (why === 'absurd') return `${symbol}: the price makes no sense`;
  return `${symbol}: ${quotes.map(({ source }) => source).join(' and ')} disagree by more than 5 %`;
}

/** An upstream's own words name no address. */
function describeFailure(error: unknown): string {
  return error instanceof Error ? error.message : describeError(error);
}

function createReader(
  context: UpstreamContext,
  settings: PriceSettings,
  { source, symbols, timeoutMs }: { source: PriceSource; symbols: readonly string[]; timeoutMs: number },
): PriceReader {
  const { chains, clock, log, random } = context;
  const common = { name: source, timeoutMs, clock, random, log: quiet(log) };
  if (source === 'coinbase') {
    const upstream = new UpstreamClient({ ...common, baseUrl: settings.coinbaseUrl });
    return { upstream, read: (signal) => readCoinbasePrices(upstream, symbols, signal) };
  }
  if (source === 'coingecko') {
    const ids = new Map<string, string>();
    for (const chain of chains.values()) {
      const id = nameAt(chain, source);
      if (id !== null) ids.set(chain.symbol, id);
    }
    const baseUrl = settings.coingeckoUrl;
    const upstream = new UpstreamClient({ ...common, baseUrl, headers: toCoingeckoHeaders(settings) });
    return { upstream, read: (signal) => readCoingeckoPrices(upstream, ids, { now: clock(), signal }) };
  }
  const quotes = new Map([...settings.fixedPrices].map(([symbol, usd]) => [symbol, { source, usd }]));
  return { upstream: null, read: () => Promise.resolve({ quotes, refused: [] }) };
}

/** The task tells once that prices cannot be had: on a machine without a way out that is enough. */
function quiet(log: Log): Log {
  return { ...log, warn: log.debug, info: log.debug };
}
