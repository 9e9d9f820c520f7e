// Versions of collections, by which cached responses are found to be out of date. A reader notes the latest version before it
// reads; a write raises the versions of the collections that it changed.

/** The tag of responses that list collections. */
export const ALL_COLLECTIONS = '*';

/** The tag of responses that no write changes. */
export const NO_COLLECTION = '';

/** The largest number of tags whose versions are kept. Beyond it all versions are dropped, and all tags count as changed. */
const TAGS_MAX = 100_000;

export class CollectionVersions {
  #latest = 0;
  /** The version at which all tags changed last. */
  #allChangedAt = 0;
  readonly #changedAt = new Map<string, number>();

  /** The version of the newest change. A reader calls this before it reads. */
  latest(): number {
    return this.#latest;
  }

  /** The version at which a collection, or `ALL_COLLECTIONS`, changed last. */
  versionOf(tag: string): number {
    return Math.max(this.#allChangedAt, this.#changedAt.get(tag) ?? 0);
  }

  note(collectionIds: Iterable<string>): void {
    this.#latest += 1;
    for (const id of collectionIds) this.#changedAt.set(id, this.#latest);
    this.#changedAt.set(ALL_COLLECTIONS, this.#latest);
    if (this.#changedAt.size > TAGS_MAX) this.noteEverything();
  }

  /** Makes all cached responses out of date, for example after a change of the dollar rates, which many responses contain. */
  noteEverything(): void {
    this.#latest += 1;
    this.#allChangedAt = this.#latest;
    this.#changedAt.clear();
  }
}

/** What one committed write changed: the kinds of its records, and their collections. */
export type Change = { collectionIds: ReadonlySet<string>; kinds: ReadonlySet<string> };

/** Called after the commit, so that cached responses can be dropped. */
export type OnChanged = (change: Change) => void;
