// Numbers the changes of collections, so that cached responses that are out of date are recognised. Before the data of a response is
// read, the number of the latest change is read, and this number is stored with the response. The response is out of date as soon as
// the collections of its cache tag have a change with a higher number.

/** The tag of responses about several collections: a change of any collection makes them out of date. */
export const ALL_COLLECTIONS = '*';

/** The tag of responses that no change of a collection makes out of date. */
export const NO_COLLECTION = '';

/** The largest number of tags whose versions are kept. Beyond this number all versions are dropped, and all tags count as changed. */
const TAGS_MAX = 100_000;

export class CollectionVersions {
  #latest = 0;
  /** The number of the last change that concerned all tags. */
  #allChangedAt = 0;
  readonly #changedAt = new Map<string, number>();

  /** The number of the latest change. Whoever makes a response calls this before reading the data. */
  latest(): number {
    return this.#latest;
  }

  /** The number of the last change that concerned `tag`: a collection id, ALL_COLLECTIONS or NO_COLLECTION. */
  versionOf(tag: string): number {
    return Math.max(this.#allChangedAt, this.#changedAt.get(tag) ?? 0);
  }

  /** Records one change of these collections. */
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

/** Called after the commit, so that cached responses with the earlier data count as out of date. */
export type OnChanged = (change: Change) => void;
