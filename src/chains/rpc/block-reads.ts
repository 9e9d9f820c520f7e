// Reads of blocks and transactions: the newest block and whether it is plausible, headers, finality, ends of calldata.

import type { BlockHeader } from '../../chain-log/chain-event.ts';
import type { Clock } from '../../core/clock.ts';
import { readBytes, readHash, readHeader, readObject, toQuantity } from './results.ts';
import type { Endpoint } from './endpoint.ts';
import type { Pool } from './pool.ts';
import { ChainUnavailable, lie, RpcFailure } from './rpc-failure.ts';
import type { Hex } from '../../core/evm.ts';

export type BlockReads = {
  head(): Promise<BlockHeader>;
  header(number: number): Promise<BlockHeader | null>;
  finalizedNumber(): Promise<number | null>;
  callDataTails(txs: readonly Hex[]): Promise<Map<Hex, Hex>>;
  /** The highest plausible head that any endpoint showed; null before the first. */
  bestHead(): number | null;
};

/** Blocks by which a newest block may be behind one that was seen: nodes behind a balancer differ by some. */
export const BACK_MAX = 64;
/** The fastest chains make ten blocks a second. */
const BLOCKS_A_SECOND_MAX = 20;
const AHEAD_MAX = 5_000;
/** What every endpoint says again and again for this long is so, however odd: a chain may be set back. */
const DOUBT_MS = 60_000;
/** How often the heads of all endpoints are compared, so that one that stands still is noticed. */
const SURVEY_MS = 15_000;
const TAIL_DIGITS = 8;

export function createBlockReads({ pool, clock }: { pool: Pool; clock: Clock }): BlockReads {
  let best: { number: number; seenAt: number } | null = null;
  let doubtsSince: number | null = null;
  let surveyedAt = Number.NEGATIVE_INFINITY;

  const latest = async (endpoint: Endpoint): Promise<BlockHeader> => {
    const [answer] = await endpoint.callAll([{ method: 'eth_getBlockByNumber', params: ['latest', false] }]);
    const read = readHeader(answer);
    if (!read) throw lie('no newest block');
    return read.header;
  };

  const isPlausible = (number: number) => {
    if (!best) return true;
    const ahead = AHEAD_MAX + (BLOCKS_A_SECOND_MAX * (clock() - best.seenAt)) / 1000;
    return number >= best.number - BACK_MAX && number <= best.number + ahead;
  };

  const accept = (endpoint: Endpoint, number: number) => {
    endpoint.head = number;
    doubtsSince = null;
    if (!best || number > best.number) best = { number, seenAt: clock() };
  };

  const believableHead = async (endpoint: Endpoint): Promise<BlockHeader> => {
    const header = await latest(endpoint);
    if (isPlausible(header.number)) {
      accept(endpoint, header.number);
      return header;
    }
    // Too far back it lags, and is asked after the others; too far ahead nothing of it counts.
    if (best && header.number < best.number) endpoint.head = header.number;
    const again = await latest(endpoint);
    const steady = isNear(again.number, header.number);
    if (steady && (await confirmed(endpoint, again.number))) {
      best = null;
      accept(endpoint, again.number);
      return again;
    }
    throw new RpcFailure('doubtful-head', `${header.number} after ${best?.number ?? 'none'}`);
  };

  /** An implausible head counts when another endpoint shows it too, and where there is none to ask, when it stays. */
  const confirmed = async (endpoint: Endpoint, number: number) => {
    doubtsSince ??= clock();
    const other = pool.second(endpoint);
    if (other === endpoint) {
      const isAhead = best !== null && number > best.number;
      return (isAhead && pool.endpoints.length === 1) || clock() - doubtsSince >= DOUBT_MS;
    }
    const header = await tryLatest(other);
    return header !== null && isNear(header.number, number);
  };

  const tryLatest = async (endpoint: Endpoint) => {
    try {
      return await pool.attempt(endpoint, latest);
    } catch (error) {
      if (error instanceof RpcFailure) return null;
      throw error;
    }
  };

  /** Never throws: an endpoint that cannot say counts its failure and keeps its last head. */
  const survey = async () => {
    surveyedAt = clock();
    const awake = pool.endpoints.filter((endpoint) => endpoint.restsUntil() <= clock());
    if (awake.length < 2) return;
    const heads = await Promise.all(
      awake.map(async (endpoint) => {
        const header = await tryLatest(endpoint);
        return header && { endpoint, header };
      }),
    );
    // At the start nothing is known but the time: the newest block of a live chain is the one nearest to it.
    const seen = heads.filter((head) => head !== null).sort((a, b) => age(a.header) - age(b.header));
    for (const { endpoint, header } of seen) {
      if (isPlausible(header.number)) accept(endpoint, header.number);
      else if (best && header.number < best.number) endpoint.head = header.number;
    }
  };
  const age = (header: BlockHeader) => Math.abs(clock() - header.time);

  const blockByNumber = async (number: number) =>
    pool.ask(async (endpoint) => {
      const call = { method: 'eth_getBlockByNumber', params: [toQuantity(number), false] };
      const [answer] = await endpoint.callAll([call]);
      const read = readHeader(answer);
      if (read && read.header.number !== number) throw lie('another block than the one asked for');
      if (!read && best && number <= best.number) throw new RpcFailure('absent');
      return read?.header ?? null;
    });

  return {
    bestHead: () => best?.number ?? null,
    head: async () => {
      if (clock() - surveyedAt >= SURVEY_MS) await survey();
      return pool.ask(believableHead);
    },
    header: async (number) => orNull(blockByNumber(number)),
    finalizedNumber: async () => {
      const asked = pool.ask(async (endpoint) => {
        const read = readHeader(await finalizedBlock(endpoint));
        if (read && best && read.header.number > best.number + AHEAD_MAX) throw lie('finality beyond the newest block');
        return read?.header.number ?? null;
      });
      return orNull(asked);
    },
    callDataTails: async (txs) => {
      const tails = new Map<Hex, Hex>();
      const wanted = [...new Set(txs)];
      for (let from = 0; from < wanted.length; from += TXS_AT_ONCE) {
        const some = wanted.slice(from, from + TXS_AT_ONCE);
        for (const [tx, tail] of await tailsOf(pool, some)) tails.set(tx, tail);
      }
      return tails;
    },
  };
}

async function finalizedBlock(endpoint: Endpoint): Promise<unknown> {
  try {
    const [answer] = await endpoint.callAll([{ method: 'eth_getBlockByNumber', params: ['finalized', false] }]);
    return answer;
  } catch (error) {
    // Where the tag is unknown each says so in its own way.
    if (error instanceof RpcFailure && error.kind === 'error') throw new RpcFailure('unsupported');
    throw error;
  }
}

const isNear = (a: number, b: number) => Math.abs(a - b) <= BACK_MAX;

/** What no endpoint has or knows is unknown. */
async function orNull<T>(asked: Promise<T | null>): Promise<T | null> {
  try {
    return await asked;
  } catch (error) {
    if (error instanceof RpcFailure && UNKNOWN.has(error.kind)) return null;
    if (error instanceof ChainUnavailable && [...error.failures.values()].every(({ kind }) => UNKNOWN.has(kind)))
      return null;
    throw error;
  }
}
const UNKNOWN: ReadonlySet<string> = new Set(['absent', 'unsupported']);

const TXS_AT_ONCE = 200;

/** Transactions that an endpoint does not have are asked of the next; those that none has are left out. */
async function tailsOf(pool: Pool, txs: readonly Hex[]): Promise<Map<Hex, Hex>> {
  const tails = new Map<Hex, Hex>();
  const fetchMissing = async (endpoint: Endpoint) => {
    const missing = txs.filter((tx) => !tails.has(tx));
    const calls = missing.map((tx) => ({ method: 'eth_getTransactionByHash', params: [tx] }));
    const answers = await endpoint.callAll(calls);
    for (const [index, tx] of missing.entries()) {
      const tail = readTail(answers[index], tx);
      if (tail) tails.set(tx, tail);
    }
    if (tails.size < txs.length) throw new RpcFailure('absent', 'a transaction');
  };
  try {
    await pool.ask(fetchMissing);
  } catch (error) {
    if (!(error instanceof RpcFailure && error.kind === 'absent')) throw error;
  }
  return tails;
}

function readTail(answer: unknown, tx: Hex): Hex | null {
  if (answer === null || answer === undefined) return null;
  const transaction = readObject(answer, 'a transaction');
  if (readHash(transaction['hash'], 'the hash of a transaction') !== tx) throw lie('another transaction');
  const input = readBytes(transaction['input'] ?? transaction['data'], 'calldata');
  return `0x${input.slice(2).slice(-TAIL_DIGITS)}`;
}
