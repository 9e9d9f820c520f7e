// Counts rejected rows by reason, with one example for each reason. The number of reasons is limited.

import type { RejectionCount } from '../../platform/tasks/task.ts';

/** The most reasons that are counted separately. All further reasons are counted together. */
const REASONS_MAX = 20;
const OTHER_REASONS = 'other reasons';
/** Longer reasons and examples are cut to this many characters. */
const LENGTH_MAX = 200;

export class RejectionCounter {
  readonly #byReason = new Map<string, { count: number; example: string }>();

  add(reason: string, example: unknown): void {
    const clipped = reason.slice(0, LENGTH_MAX);
    const counted = this.#byReason.has(clipped) || this.#byReason.size < REASONS_MAX ? clipped : OTHER_REASONS;
    const known = this.#byReason.get(counted);
    if (known) known.count += 1;
    else this.#byReason.set(counted, { count: 1, example: toExample(example) });
  }

  list(): RejectionCount[] {
    return [...this.#byReason].map(([reason, { count, example }]) => ({ reason, count, example }));
  }
}

function toExample(value: unknown): string {
  const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? String(value));
  return text.length > LENGTH_MAX ? `${text.slice(0, LENGTH_MAX)}…` : text;
}
