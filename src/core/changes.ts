// What has changed since something was read. Whoever keeps an answer notes the moment it began to read; an import raises
// the version of what it touched, and what was read before counts no more, even if it is still being read.

/** The subject of everything that lists collections. */
export const ALL_COLLECTIONS = '*';

/** The subject of what no import changes. */
export const NO_COLLECTION = '';

export type Changes = {
  /** The version of the newest change of all: to be noted before reading. */
  latest(): number;
  /** The version at which a collection, or `ALL_COLLECTIONS`, last changed. */
  versionOf(subject: string): number;
  note(collectionIds: Iterable<string>): void;
  /** Everything is old: dollar rates, for one, are part of every answer. */
  noteEverything(): void;
};

/** Subjects remembered one by one. Past it everything is held to have changed, and the memory starts anew. */
const SUBJECTS_MAX = 100_000;

export function createChanges(): Changes {
  let latest = 0;
  let everything = 0;
  const bySubject = new Map<string, number>();
  const noteEverything = () => {
    latest += 1;
    everything = latest;
    bySubject.clear();
  };
  return {
    latest: () => latest,
    versionOf: (subject) => Math.max(everything, bySubject.get(subject) ?? 0),
    note: (collectionIds) => {
      latest += 1;
      for (const id of collectionIds) bySubject.set(id, latest);
      bySubject.set(ALL_COLLECTIONS, latest);
      if (bySubject.size > SUBJECTS_MAX) noteEverything();
    },
    noteEverything,
  };
}

/** What one committed write changed: the kinds of records, and the collections that they are about. */
export type Change = { collectionIds: ReadonlySet<string>; kinds: ReadonlySet<string> };

/** Called after the commit, so that cached responses can be dropped. */
export type OnChanged = (change: Change) => void;
