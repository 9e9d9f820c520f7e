// What logs are wanted, as the questions of eth_getLogs that endpoints take, and whether a bloom shows more than came.

import type { Address } from '../../core/address.ts';
import type { BloomedHeader } from './results.ts';
import type { EventFilter } from './chain-reads.ts';
import type { VerifiedLog } from '../protocols/event-decoder.ts';
import { PROTOCOL_DECODERS } from '../protocols/registry.ts';
import { TOKEN_DECODERS } from '../protocols/token-standards.ts';
import type { LogQuestion } from './log-result.ts';
import { bloomShows, isBloomTooFull } from './log-bloom.ts';
import { lie } from './rpc-failure.ts';
import type { Call } from './rpc-wire.ts';
import type { Hex } from '../../core/evm.ts';

type Asked = Pick<LogQuestion, 'addresses' | 'topics'>;

export type Wanted = {
  readonly protocols: ReadonlySet<Address>;
  readonly contracts: ReadonlySet<Address>;
  /** How many contracts in all. */
  readonly addresses: number;
  /** The questions, each over some of the contracts; `where` is the block or the range. */
  calls(where: Record<string, Hex>): Call[];
  /** Reads each answer against its question and joins them in the order of the chain. */
  join(answers: readonly unknown[], read: (answer: unknown, asked: Asked) => VerifiedLog[]): VerifiedLog[];
};

/** Endpoints bound how many contracts one question may name; the strictest seen takes some hundreds. */
const ADDRESSES_MAX = 200;
const PROTOCOL_TOPICS: readonly Hex[] = [...PROTOCOL_DECODERS.keys()];
const TOKEN_TOPICS: readonly Hex[] = [...TOKEN_DECODERS.keys()];
const ALL_TOPICS: readonly Hex[] = [...PROTOCOL_TOPICS, ...TOKEN_TOPICS];

export function toWanted(filter: EventFilter): Wanted {
  const protocols = new Set(filter.protocols);
  const contracts = new Set(filter.contracts.filter((address) => !protocols.has(address)));
  const all = [...protocols, ...contracts];
  const questions: Asked[] = [];
  const topics = new Set<string>(
    protocols.size === 0 ? TOKEN_TOPICS : contracts.size === 0 ? PROTOCOL_TOPICS : ALL_TOPICS,
  );
  for (let from = 0; from < all.length; from += ADDRESSES_MAX)
    questions.push({ addresses: new Set(all.slice(from, from + ADDRESSES_MAX)), topics });
  return {
    protocols,
    contracts,
    addresses: all.length,
    calls: (where) =>
      questions.map((question) => ({
        method: 'eth_getLogs',
        params: [{ ...where, address: [...question.addresses], topics: [[...question.topics]] }],
      })),
    join: (answers, read) => {
      const [first, ...more] = questions.map((question, index) => read(answers[index], question));
      return more.length === 0 ? (first ?? []) : inChainOrder([first ?? [], ...more].flat());
    },
  };
}

function inChainOrder(logs: VerifiedLog[]): VerifiedLog[] {
  logs.sort((a, b) => a.blockNumber - b.blockNumber || a.logIndex - b.logIndex);
  for (const [index, log] of logs.entries()) {
    const next = logs[index + 1];
    if (!next || next.blockNumber !== log.blockNumber) continue;
    if (next.logIndex === log.logIndex || next.blockHash !== log.blockHash)
      throw lie('answers that contradict each other');
  }
  return logs;
}

/**
 * Of how many contracts the bloom of the last block shows logs of wanted kinds while none came. Zero where the block has no
 * bloom, or one so full that it would show as much by coincidence.
 */
export function missingByBloom({ header, bloom }: BloomedHeader, logs: readonly VerifiedLog[], wanted: Wanted): number {
  if (!bloom || isBloomTooFull(bloom, wanted.addresses)) return 0;
  const came = new Set<Address>();
  for (const log of logs) if (log.blockNumber === header.number) came.add(log.address);
  const countOf = (addresses: ReadonlySet<Address>, topics: readonly Hex[]) => {
    if (addresses.size === 0 || !topics.some((topic) => bloomShows(bloom, topic))) return 0;
    return [...addresses].filter((address) => !came.has(address) && bloomShows(bloom, address as Hex)).length;
  };
  return countOf(wanted.protocols, PROTOCOL_TOPICS) + countOf(wanted.contracts, TOKEN_TOPICS);
}
