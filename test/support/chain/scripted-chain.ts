// A chain in memory: blocks with decoded events that a test makes, and a reader that serves them to the follower. It has no
// contracts, so a test must not make events that contradict each other.

import type { BlockHeader, ChainEvent, EventPosition } from '../../../src/market/chain-log/chain-event.ts';
import type { ChainReader } from '../../../src/sources/chains/rpc/chain-reader.ts';
import type { Chain } from '../../../src/platform/core/chains.ts';
import type { Hex } from '../../../src/platform/core/evm.ts';
import { createTestReader } from './reader.ts';

/** An event without its position, which the chain assigns. */
type Unplaced<E> = E extends ChainEvent ? Omit<E, keyof EventPosition> : never;
export type ScriptedEvent = Unplaced<ChainEvent>;

type Block = { header: BlockHeader; events: ChainEvent[] };

export class ScriptedChain {
  readonly reader: ChainReader;
  #startedAt: number;
  #blocks: Block[] = [];
  /** Part of every hash, so that the blocks after a reorganisation have other hashes. */
  #branch = 0;

  /** `startedAt` is the time of the first block in milliseconds. The following blocks are one second apart. */
  constructor(chain: Chain, startedAt: number) {
    this.#startedAt = startedAt;
    this.reader = createTestReader({ chain, urls: ['http://127.0.0.1:9'] });
    const { blocks, events, comparison } = this.reader;
    blocks.head = async () => this.#at(this.height).header;
    blocks.header = async (number) => this.#blocks[number]?.header ?? null;
    comparison.isStillContinued = async () => false;
    events.ofBlock = async ({ number, hash }) => {
      const block = this.#at(number);
      if (block.header.hash !== hash) throw new Error(`block ${hash} was replaced`);
      return block.events;
    };
    events.ofRange = async (from, to) => ({
      to,
      last: this.#at(to).header,
      events: this.#blocks.slice(from, to + 1).flatMap((block) => block.events),
      logs: [],
    });
    this.reader.transactions = async () => new Map();
    this.reader.pools.swaps = async () => [];
    this.mine();
  }

  get height(): number {
    return this.#blocks.length - 1;
  }

  /** All events of the chain, oldest first. */
  events(): ChainEvent[] {
    return this.#blocks.flatMap((block) => block.events);
  }

  /** Adds a block. Each argument is the list of the events of one transaction. */
  mine(...transactions: readonly (readonly ScriptedEvent[])[]): void {
    const number = this.#blocks.length;
    const blockTime = this.#startedAt + number * 1_000;
    let logIndex = 0;
    const events = transactions.flatMap((transaction, index) => {
      const tx = toHash(`${this.#branch}${number}${index}f`);
      return transaction.map((event): ChainEvent => {
        logIndex += 1;
        return { ...event, blockNumber: number, blockTime, tx, logIndex, part: 0 };
      });
    });
    const parentHash = this.#blocks.at(-1)?.header.hash ?? toHash('0');
    const hash = toHash(`${this.#branch}${number}a`);
    this.#blocks.push({ header: { number, hash, parentHash, time: blockTime }, events });
  }

  /** Adds `ms` to the times of all blocks that are mined from now on. */
  skip(ms: number): void {
    this.#startedAt += ms;
  }

  /** Removes the newest blocks, but never the first. Blocks that are mined afterwards have other hashes. */
  rollBack(depth: number): void {
    this.#branch += 1;
    this.#blocks = this.#blocks.slice(0, Math.max(1, this.#blocks.length - depth));
  }

  #at(number: number): Block {
    const block = this.#blocks[number];
    if (!block) throw new Error(`there is no block ${number}`);
    return block;
  }
}

function toHash(digits: string): Hex {
  return `0x${digits.padStart(64, '0')}`;
}
