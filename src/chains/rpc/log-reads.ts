// Reads of events: of one block, or of as long a range as the endpoint takes. An answer counts when the same endpoint showed
// that it has the last block, when every log in it can be true, and when the bloom does not speak against what is missing.

import type { Address } from '../../core/address.ts';
import type { BlockHeader, ChainEvent } from '../../chain-log/chain-event.ts';
import type { Log } from '../../core/log.ts';
import { UndecodableData } from '../protocols/abi-words.ts';
import { readHeader, toQuantity } from './results.ts';
import type { BloomedHeader } from './results.ts';
import type { EventFilter } from './chain-reads.ts';
import { decodeLog } from '../protocols/event-decoder.ts';
import type { VerifiedLog } from '../protocols/event-decoder.ts';
import { PROTOCOL_DECODERS } from '../protocols/registry.ts';
import { TOKEN_DECODERS } from '../protocols/token-standards.ts';
import type { Endpoint } from './endpoint.ts';
import { readLogs } from './log-result.ts';
import { missingByBloom, toWanted } from './log-wanted.ts';
import type { Wanted } from './log-wanted.ts';
import type { Pool } from './pool.ts';
import { lie, RpcFailure } from './rpc-failure.ts';
import type { Call } from './rpc-wire.ts';
import type { Hex } from '../../core/evm.ts';
import { ZERO_HASH } from '../../core/evm.ts';

export type LogReads = {
  eventsOfBlock(header: BlockHeader, filter: EventFilter): Promise<ChainEvent[]>;
  eventsOfRange(from: number, to: number, filter: EventFilter): Promise<{ to: number; events: ChainEvent[] }>;
  skipped(): ReadonlyMap<Address, number>;
};

type LogReadsContext = { pool: Pool; log: Log; bestHead: () => number | null };

/** Halvings of a range within one read, for an error that does not speak of its size. */
const GUESSES_MAX = 3;
/** Contracts whose unreadable logs are counted one by one. */
const SKIPPED_CONTRACTS_MAX = 10_000;

/** The logs of some blocks from one endpoint, with the header of the last of them. */
type Answer = { endpoint: Endpoint; logs: VerifiedLog[]; last: BloomedHeader; to: number };

export function createLogReads({ pool, log }: LogReadsContext): LogReads {
  const skippedLogs = new Map<Address, number>();

  const skip = (one: VerifiedLog, reason: string) => {
    const count = skippedLogs.get(one.address) ?? 0;
    if (count === 0 && skippedLogs.size >= SKIPPED_CONTRACTS_MAX) return;
    skippedLogs.set(one.address, count + 1);
    const where = { chain: pool.chain.id, contract: one.address, tx: one.tx, logIndex: one.logIndex };
    if (count === 0) log.warn('a log of a followed contract cannot be read and is left out', { ...where, reason });
    else log.debug('a log is left out', { ...where, reason });
  };

  const decodeAll = (logs: readonly VerifiedLog[], wanted: Wanted, timeOf: (one: VerifiedLog) => number) => {
    const events: ChainEvent[] = [];
    for (const one of logs) {
      const isProtocol = wanted.protocols.has(one.address);
      try {
        // Without a transaction it has no identity.
        if (one.tx === ZERO_HASH) throw new UndecodableData('no transaction');
        decodeLog(one, isProtocol ? PROTOCOL_DECODERS : TOKEN_DECODERS, timeOf(one), events);
      } catch (error) {
        if (!(error instanceof UndecodableData)) throw error;
        if (isProtocol) throw new RpcFailure('undecodable', `${error.message}, log ${one.logIndex} of ${one.tx}`);
        skip(one, error.message);
      }
    }
    return events;
  };

  /**
   * Asks a second time, elsewhere where possible, when the bloom shows a contract of which there is no log. Whoever shows
   * more is believed; two that leave out the same are believed too, for a bloom may show what is not there.
   */
  const doubleCheck = async (answer: Answer, wanted: Wanted, again: (endpoint: Endpoint) => Promise<Answer>) => {
    const { last, logs, endpoint } = answer;
    const missing = missingByBloom(last, logs, wanted);
    if (missing === 0) return answer;
    const other = pool.second(endpoint);
    const second = await tryOther(other, async () => pool.attempt(other, again));
    if (!second || second.last.header.hash !== last.header.hash) return answer;
    const missingAgain = missingByBloom(second.last, second.logs, wanted);
    if (missingAgain === missing) return answer;
    const [fuller, liar] = missingAgain < missing ? [second, endpoint] : [answer, other];
    log.warn('an endpoint left logs out', { chain: pool.chain.id, endpoint: liar.position, block: last.header.number });
    if (liar !== fuller.endpoint) liar.settle(lie(`logs left out of block ${last.header.number}`));
    return fuller;
  };

  const blockLogs = async (endpoint: Endpoint, header: BlockHeader, wanted: Wanted): Promise<Answer> => {
    const byHash = { method: 'eth_getBlockByHash', params: [header.hash, false] };
    const [block, ...answers] = await endpoint.callAll([byHash, ...wanted.calls({ blockHash: header.hash })]);
    const last = readHeader(block);
    if (!last) throw new RpcFailure('absent', `block ${header.number}`);
    if (last.header.hash !== header.hash || last.header.number !== header.number) throw lie('another block');
    const range = { from: header.number, to: header.number, hashes: new Map([[header.number, header.hash]]) };
    const logs = wanted.join(answers, (answer, question) => readLogs(answer, { ...range, ...question }));
    return { endpoint, logs, last, to: header.number };
  };

  const rangeLogs = async (endpoint: Endpoint, from: number, to: number, wanted: Wanted): Promise<Answer> => {
    const lastBlock: Call = { method: 'eth_getBlockByNumber', params: [toQuantity(to), false] };
    const span = { fromBlock: toQuantity(from), toBlock: toQuantity(to) };
    const [block, ...answers] = await endpoint.callAll([lastBlock, ...wanted.calls(span)]);
    const last = readHeader(block);
    if (!last) throw new RpcFailure('absent', `block ${to}`);
    if (last.header.number !== to) throw lie('another block');
    const range = { from, to, hashes: new Map([[to, last.header.hash]]) };
    const logs = wanted.join(answers, (answer, question) => readLogs(answer, { ...range, ...question }));
    if (logs.some((one) => one.time !== null && one.time > last.header.time)) throw lie('a log after its last block');
    return { endpoint, logs, last, to };
  };

  /** As many blocks as the endpoint takes, from `from`. */
  const adaptiveRange = async (endpoint: Endpoint, from: number, to: number, wanted: Wanted): Promise<Answer> => {
    for (let guesses = 0; ;) {
      const asked = Math.min(endpoint.range.now(), to - from + 1);
      try {
        const answer = await rangeLogs(endpoint, from, from + asked - 1, wanted);
        endpoint.range.grow(asked);
        return answer;
      } catch (error) {
        if (!(error instanceof RpcFailure)) throw error;
        const { kind } = error;
        if (kind === 'range' || kind === 'too-large') endpoint.range.refuse(asked);
        else if (SHRINKING.has(kind)) endpoint.range.shrink(asked);
        if (kind === 'error') guesses += 1;
        const smaller = kind === 'range' || kind === 'too-large' || (kind === 'error' && guesses <= GUESSES_MAX);
        if (!smaller || asked === 1) throw error;
        log.debug('an endpoint takes fewer blocks', { chain: pool.chain.id, endpoint: endpoint.position, asked });
      }
    }
  };

  return {
    skipped: () => skippedLogs,
    eventsOfBlock: async (header, filter) => {
      const wanted = toWanted(filter);
      if (wanted.addresses === 0) return [];
      return pool.ask(async (endpoint) => {
        const first = await blockLogs(endpoint, header, wanted);
        const answer = await doubleCheck(first, wanted, async (other) => blockLogs(other, header, wanted));
        return decodeAll(answer.logs, wanted, () => header.time);
      });
    },
    eventsOfRange: async (from, to, filter) => {
      if (!(from >= 0 && to >= from)) throw new Error(`no range of blocks: ${from} to ${to}`);
      const wanted = toWanted(filter);
      return pool.ask(async (endpoint) => {
        const first = await adaptiveRange(endpoint, from, to, wanted);
        const answer = await doubleCheck(first, wanted, async (other) => rangeLogs(other, from, first.to, wanted));
        const times = await missingTimes(answer);
        const timeOf = (one: VerifiedLog) => one.time ?? times.get(one.blockNumber) ?? answer.last.header.time;
        return { to: answer.to, events: decodeAll(answer.logs, wanted, timeOf) };
      });
    },
  };
}

/** A range may be too much for these as well, but they are not asked again at once: that would be unkind or slow. */
const SHRINKING: ReadonlySet<string> = new Set(['timeout', 'server', 'error', 'unreachable']);

async function tryOther<T>(other: Endpoint, ask: () => Promise<T>): Promise<T | null> {
  try {
    return await ask();
  } catch (error) {
    if (error instanceof RpcFailure && error.kind !== 'closed') return null;
    throw error;
  }
}

/** The times of blocks whose logs do not say it, from the endpoint that showed the logs. */
async function missingTimes({ endpoint, logs, last }: Answer): Promise<Map<number, number>> {
  const hashes = new Map<number, Hex>();
  for (const one of logs) if (one.time === null) hashes.set(one.blockNumber, one.blockHash);
  const times = new Map<number, number>();
  if (hashes.delete(last.header.number)) times.set(last.header.number, last.header.time);
  const numbers = [...hashes.keys()];
  const calls = numbers.map((number) => ({ method: 'eth_getBlockByNumber', params: [toQuantity(number), false] }));
  for (const [index, answer] of (await endpoint.callAll(calls)).entries()) {
    const number = numbers[index] ?? 0;
    const read = readHeader(answer);
    if (!read) throw new RpcFailure('absent', `block ${number}`);
    if (read.header.hash !== hashes.get(number)) throw lie(`logs of another block ${number}`);
    times.set(number, read.header.time);
  }
  return times;
}
