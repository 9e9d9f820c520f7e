// Builds the eth_getLogs requests for a set of contracts, and for the funds of a set of accounts. Joins their results, and compares the logs that were received with the bloom of a block.

import type { Address } from '../../../platform/core/address.ts';
import type { Hex } from '../../../platform/core/evm.ts';
import type { VerifiedLog } from '../protocols/event-decoder.ts';
import type { ProtocolContracts } from '../protocols/settlement-protocol.ts';
import { ANNOUNCEMENT_TOPICS, TOKEN_DECODERS } from '../protocols/token-standards.ts';
import { FUNDS_TOPICS } from '../protocols/erc20-funds.ts';
import { bloomContains, isBloomTooFull } from './log-bloom.ts';
import type { LogRequest } from './log-response.ts';
import { invalidResponse } from './rpc-failure.ts';
import type { RpcRequest } from './rpc-response.ts';
import type { BloomedHeader } from './rpc-values.ts';

/**
 * `unindexed`: the contracts whose transfers and approvals may have arguments that are not indexed (`toIndexed`). Default: none.
 * `isPast`: true for a read of past blocks. Then announcements of changed metadata are left out, because some contracts emit very many of
 * them. Default: false. `funds`: whose funds are followed. Default: none.
 */
export type EventFilter = {
  protocols: ProtocolContracts;
  contracts: readonly Address[];
  unindexed?: ReadonlySet<Address>;
  isPast?: boolean;
  funds?: FollowedFunds | null;
};

/** The accounts whose funds in a currency are followed, by the contract of the currency. */
export type FollowedFunds = ReadonlyMap<Address, ReadonlySet<Address>>;

/** The most contracts in one request. The lowest known limit of an endpoint is a few hundred. */
const ADDRESSES_MAX = 200;
/** The most accounts in one request. */
const ACCOUNTS_MAX = 500;
const TOKEN_TOPICS: readonly Hex[] = [...TOKEN_DECODERS.keys()];
const PAST_TOKEN_TOPICS = TOKEN_TOPICS.filter((topic) => !ANNOUNCEMENT_TOPICS.has(topic));

/** `further`: the topics after the first one; null selects any topic. */
type Selection = Pick<LogRequest, 'topics'> & {
  addresses: ReadonlySet<string>;
  further: readonly (readonly Hex[] | null)[];
};

export class LogQuery {
  readonly protocols: ProtocolContracts;
  /** Token contracts that are not protocols. */
  readonly contracts: ReadonlySet<Address>;
  readonly unindexed: ReadonlySet<Address>;
  readonly funds: FollowedFunds | null;
  readonly #protocolTopics: readonly Hex[];
  readonly #tokenTopics: readonly Hex[];
  readonly #selections: readonly Selection[];

  constructor(filter: EventFilter) {
    this.protocols = filter.protocols;
    this.contracts = new Set(filter.contracts).difference(this.protocols);
    this.unindexed = (filter.unindexed ?? new Set<Address>()).intersection(this.contracts);
    this.#protocolTopics = [...new Set([...this.protocols.values()].flatMap(({ decoders }) => [...decoders.keys()]))];
    this.#tokenTopics = filter.isPast ? PAST_TOKEN_TOPICS : TOKEN_TOPICS;
    this.funds = filter.funds ?? null;
    this.#selections = [...this.#toSelections(), ...toFundsSelections(this.funds)];
  }

  /** Returns requests for at most ADDRESSES_MAX contracts or ACCOUNTS_MAX accounts each. `where` selects a block or a range of blocks. */
  requests(where: Readonly<Record<string, Hex>>): RpcRequest[] {
    return this.#selections.map(({ addresses, topics, further }) => ({
      method: 'eth_getLogs',
      params: [{ ...where, address: [...addresses], topics: [[...topics], ...further] }],
    }));
  }

  /** Reads each result with `read`, and joins the logs in block order. Throws RpcFailure if two results contradict each other. */
  join(results: readonly unknown[], read: (result: unknown, selection: Selection) => VerifiedLog[]): VerifiedLog[] {
    const parts = this.#selections.map((selection, index) => read(results[index], selection));
    const [first = []] = parts;
    return parts.length <= 1 ? first : inChainOrder(parts.flat());
  }

  /**
   * The number of contracts that the bloom of a block contains but `logs` does not. Zero when the block has no bloom, or when so many bits
   * are set that a false positive is probable.
   */
  countOmitted({ header, bloom }: BloomedHeader, logs: readonly VerifiedLog[]): number {
    if (!bloom || isBloomTooFull(bloom, this.protocols.size + this.contracts.size)) return 0;
    const inBlock = logs.filter((log) => log.blockNumber === header.number);
    const present = new Set(inBlock.map((log) => log.address));
    const contains = (entry: Hex) => bloomContains(bloom, entry);
    const isOmitted = (address: Address) => !present.has(address) && contains(address as Hex);
    const protocols = [...this.protocols].filter(
      ([address, { decoders }]) => isOmitted(address) && [...decoders.keys()].some(contains),
    );
    const contracts = this.#tokenTopics.some(contains) ? [...this.contracts].filter(isOmitted) : [];
    return protocols.length + contracts.length;
  }

  #toSelections(): Selection[] {
    const all = [...this.protocols.keys(), ...this.contracts];
    const topics = new Set([...this.#protocolTopics, ...(this.contracts.size > 0 ? this.#tokenTopics : [])]);
    const selections: Selection[] = [];
    for (let from = 0; from < all.length; from += ADDRESSES_MAX) {
      selections.push({ addresses: new Set(all.slice(from, from + ADDRESSES_MAX)), topics, further: [] });
    }
    return selections;
  }
}

/** The requests for the logs of the currencies that name one of the accounts, in slices of accounts. */
function toFundsSelections(funds: FollowedFunds | null): Selection[] {
  return [...(funds ?? [])].flatMap(([currency, accounts]) => toSelectionsOf(currency, accounts));
}

function toSelectionsOf(currency: Address, accounts: ReadonlySet<Address>): Selection[] {
  const addresses = new Set([currency]);
  const words = [...accounts].map((account): Hex => `0x${account.slice(2).padStart(64, '0')}`);
  const selections: Selection[] = [];
  for (let from = 0; from < words.length; from += ACCOUNTS_MAX) {
    const slice = words.slice(from, from + ACCOUNTS_MAX);
    selections.push({ addresses, topics: new Set(FUNDS_TOPICS.second), further: [slice] });
    selections.push({ addresses, topics: new Set(FUNDS_TOPICS.third), further: [null, slice] });
  }
  return selections;
}

/** A log that several requests select is in the result once. */
function inChainOrder(logs: VerifiedLog[]): VerifiedLog[] {
  logs.sort((a, b) => a.blockNumber - b.blockNumber || a.logIndex - b.logIndex);
  const distinct: VerifiedLog[] = [];
  for (const log of logs) {
    const last = distinct.at(-1);
    const isRepeated = last?.blockNumber === log.blockNumber && last.logIndex === log.logIndex;
    if (
      last?.blockNumber === log.blockNumber &&
      (last.blockHash !== log.blockHash || (isRepeated && last.tx !== log.tx))
    ) {
      throw invalidResponse('two responses contradict each other');
    }
    if (!isRepeated) distinct.push(log);
  }
  return distinct;
}
