// Announces that changes were merged into the activity log. An announcement is a hint: it may be lost, so its receivers also poll.

/** The channel on which PostgreSQL announces merges to all processes. */
export const ACTIVITY_CHANNEL = 'mercat_activity';

/** Announces the merges of this process to its other parts. */
export class MergeNotice {
  readonly #listeners = new Set<() => void>();

  onMerged(listener: () => void): void {
    this.#listeners.add(listener);
  }

  announce(): void {
    for (const listener of this.#listeners) listener();
  }
}
