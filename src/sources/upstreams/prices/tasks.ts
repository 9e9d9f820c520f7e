// Creates the task that keeps dollar rates fresh. If one vendor fails, the other vendors are used. If two vendors disagree, no new
// rate is stored, and the stored rate grows old.

import { listRates } from '../../../market/reads/queries/rates.ts';
import type { Quote } from './quotes.ts';
import { decidePrice } from './quotes.ts';
import { nameAt } from '../../../platform/core/chains.ts';
import { describeError } from '../../../platform/core/errors.ts';
import type { Log } from '../../../platform/core/log.ts';
import { readCoinbasePrices, readCoingeckoPrices } from './prices.ts';
import type { Quotes } from './prices.ts';
import type { PriceSettings, PriceSource } from './settings.ts';
import { toCoingeckoHeaders } from './settings.ts';
import type { UpstreamPace } from '../upstream-client.ts';
import { UpstreamClient } from '../upstream-client.ts';
import { Ingester } from '../ingester.ts';
import type { Task, TaskResult } from '../../../platform/tasks/task.ts';
import type { UpstreamContext } from '../context.ts';

/**
 * With this period, a recovered vendor is read again within a minute. The minute includes the jitter (a tenth of the period) and a request
 * that hangs.
 */
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
): Promise<TaskResult> {
  const ingester = new Ingester(context);
  const problems: string[] = [];
  const received: Quotes[] = [];
  for (const result of await Promise.allSettled(readers.map((reader) => reader.read(signal)))) {
    if (result.status === 'fulfilled') received.push(result.value);
    else problems.push(describeFailure(result.reason));
  }
  signal.throwIfAborted();
  if (received.length === 0) throw new Error(problems.join('; '));
  for (const { rejected } of received) for (const reason of rejected) ingester.reject(reason);
  const known = new Map((await listRates(context.main)).map((rate) => [rate.symbol, rate]));
  const now = context.clock();
  const at = new Date(now).toISOString();
  const records = symbols.flatMap((symbol) => {
    const quotes = received.flatMap((one) => one.quotes.get(symbol) ?? []);
    const decision = decidePrice(quotes, known.get(symbol) ?? null, now);
    if (decision.usd !== null) return [{ kind: 'rate', symbol, usd: decision.usd, at }];
    // `unknown` means that no vendor has a price for the currency, which is not a problem.
    if (decision.why !== 'unknown') problems.push(toProblem(symbol, decision.why, quotes));
    return [];
  });
  await ingester.ingest(records, signal);
  return ingester.result({ problems });
}

function toProblem(symbol: string, why: 'disagreement' | 'absurd', quotes: readonly Quote[]): string {
  if (why === 'absurd') return `${symbol}: the price is not plausible`;
  return `${symbol}: ${quotes.map(({ source }) => source).join(' and ')} disagree by more than 5 %`;
}

/** The message of an UpstreamFailure contains no URL, so it may be published in the status. */
function describeFailure(error: unknown): string {
  return error instanceof Error ? error.message : describeError(error);
}

function createReader(
  context: UpstreamContext,
  settings: PriceSettings,
  { source, symbols, timeoutMs }: { source: PriceSource; symbols: readonly string[]; timeoutMs: number },
): PriceReader {
  const { chains, clock, log, random } = context;
  const common = { name: source, timeoutMs, clock, random, log: withoutWarnings(log) };
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
  return { upstream: null, read: () => Promise.resolve({ quotes, rejected: [] }) };
}

/** Lowers the log messages of the clients to the level debug. On a machine without internet access, the warning of the task is enough. */
function withoutWarnings(log: Log): Log {
  return { ...log, warn: log.debug, info: log.debug };
}
