// Numbers the changes of collections, to recognise cached responses that are out of date. A response is stored with the number of the
// latest change before its data was read. The response is out of date as soon as a collection of its cache tag has a change with a higher
// number.

/** The tag of responses about several collections. A change of any collection makes them out of date. */
export const ALL_COLLECTIONS = '*';

/** The tag of responses that no change of a collection makes out of date. */
export const NO_COLLECTION = '';

/** The most tags whose versions are kept. If there are more tags, all versions are dropped, and all tags count as changed. */
const TAGS_MAX = 100_000;

export class CollectionVersions {
  #latest = 0;
  /** The number of the last change that concerned all tags. */
  #allChangedAt = 0;
  readonly #changedAt = new Map<string, number>();

  /** The number of the latest change. Must be called before the data of a response is read. */
  latest(): number {
    return this.#latest;
  }

  /** The number of the last change that concerned `tag`: a collection id, ALL_COLLECTIONS or NO_COLLECTION. */
  versionOf(tag: string): number {
    return Math.max(this.#allChangedAt, this.#changedAt.get(tag) ?? 0);
  }

  note(collectionIds: Iterable<string>): void {
    this.#latest += 1;
    for (const id of collectionIds) this.#changedAt.set(id, this.#latest);
    this.#changedAt.set(ALL_COLLECTIONS, this.#latest);
    if (this.#changedAt.size > TAGS_MAX) this.noteEverything();
  }

  /** Makes all cached responses out of date, for example after a change of the dollar rates. */
  noteEverything(): void {
    this.#latest += 1;
    this.#allChangedAt = this.#latest;
    this.#changedAt.clear();
  }
}

/** What one committed write changed. */
export type Change = { collectionIds: ReadonlySet<string>; kinds: ReadonlySet<string> };

/** Must be called after the commit, so that cached responses with the earlier data count as out of date. */
export type OnChanged = (change: Change) => void;
