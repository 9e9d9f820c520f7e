// Counts the logs that were seen and could not be read, since the process started: by contract and, for settlement contracts, by protocol.
// A log that is read again, after a failed read or for another collection, is counted once.

import { LRUCache } from 'lru-cache';
import type { Address } from '../../../platform/core/address.ts';
import type { Log } from '../../../platform/core/log.ts';
import type { VerifiedLog } from '../protocols/event-decoder.ts';

const CONTRACTS_MAX = 1_000;
/** The most logs that are recognised when they are read again. */
const KNOWN_MAX = 10_000;

export class UnreadLogs {
  readonly #chain: string;
  readonly #log: Log;
  readonly #known = new LRUCache<string, true>({ max: KNOWN_MAX });
  readonly #byContract = new Map<Address, number>();
  readonly #byProtocol = new Map<string, number>();

  constructor(chain: string, log: Log) {
    this.#chain = chain;
    this.#log = log;
  }

  /** `protocol`: the name of the settlement protocol of the log; null for a log of a token contract. */
  count({ address, tx, blockHash, logIndex }: VerifiedLog, protocol: string | null, reason: string): void {
    const key = `${blockHash} ${logIndex}`;
    if (this.#known.has(key)) return;
    this.#known.set(key, true);
    if (protocol !== null) this.#byProtocol.set(protocol, (this.#byProtocol.get(protocol) ?? 0) + 1);
    const count = this.#byContract.get(address) ?? 0;
    if (count === 0 && this.#byContract.size >= CONTRACTS_MAX) return;
    this.#byContract.set(address, count + 1);
    this.#log[count === 0 ? 'warn' : 'debug']('a log cannot be read and is left out', {
      chain: this.#chain,
      protocol,
      contract: address,
      tx,
      logIndex,
      reason,
    });
  }

  byContract(): ReadonlyMap<Address, number> {
    return this.#byContract;
  }

  /** By the name of the protocol (`SettlementProtocol`). */
  byProtocol(): ReadonlyMap<string, number> {
    return this.#byProtocol;
  }
}
