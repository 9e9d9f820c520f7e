// Remembers the current disagreements between the endpoints of one chain. The status of the service shows them.

import type { Clock } from '../../../platform/core/clock.ts';

/**
 * What was read. `new`: a new block. `past`: a range of earlier blocks. `again`: a range that was stored before (../reread.ts). `call`: the state
 * of a contract, or a list of transactions.
 */
export type ReadKind = 'new' | 'past' | 'again' | 'call';

export type Dispute = {
  kind: ReadKind;
  /** The last of the blocks about which the endpoints disagree, or the block of the call. */
  block: number;
  since: number;
};

/**
 * A dispute is dropped if no read has found the same disagreement for this long. Without this limit, the disputes about reads that are made only
 * once, such as the reads for a submitted order, would remain for ever.
 */
const DISPUTE_MS = 10 * 60_000;
const DISPUTES_MAX = 1_000;

export class Disputes {
  readonly #clock: Clock;
  /** The oldest dispute is first. The topic identifies what was read. A repeated read has the same topic. */
  readonly #byTopic = new Map<string, Dispute & { seenAt: number }>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** The oldest dispute about a new block. If no dispute is about a new block, the oldest of all. Null while the endpoints agree. */
  first(): Dispute | null {
    this.#dropOld();
    const all = [...this.#byTopic.values()];
    const first = all.find(({ kind }) => kind === 'new') ?? all[0];
    return first ? { kind: first.kind, block: first.block, since: first.since } : null;
  }

  /**
   * Returns whether the dispute is new. A topic that is disputed at another block than before is the same dispute: while a chain has no cursor, each
   * step tries several blocks.
   */
  add(topic: string, { kind, block }: Omit<Dispute, 'since'>): boolean {
    this.#dropOld();
    const now = this.#clock();
    const known = this.#byTopic.get(topic);
    const [oldest] = this.#byTopic.keys();
    if (!known && oldest !== undefined && this.#byTopic.size >= DISPUTES_MAX) this.#byTopic.delete(oldest);
    this.#byTopic.set(topic, { kind, block, since: known?.since ?? now, seenAt: now });
    return !known;
  }

  end(topic: string): void {
    this.#byTopic.delete(topic);
  }

  #dropOld(): void {
    const now = this.#clock();
    for (const [topic, { seenAt }] of this.#byTopic) if (now - seenAt > DISPUTE_MS) this.#byTopic.delete(topic);
  }
}
