// An event of the activity log as the stream keeps it in memory: encoded once for all subscribers.

/** Which events a subscriber receives. Null: all. */
export type StreamFilter = {
  collectionIds: ReadonlySet<string> | null;
  kinds: ReadonlySet<string> | null;
  /** Equal for equal filters. */
  key: string;
};

export type StreamEntry = {
  position: number;
  kind: string;
  /** Null for an event that concerns no single collection. */
  collectionId: string | null;
  /** When the event was put into the log, in milliseconds by the clock of the primary database. */
  loggedAt: number;
  /** The activity as JSON on one line. */
  json: string;
};

/**
 * An event without a collection passes every filter of collections, because it may void events of any collection. The removal of a collection
 * passes every filter.
 */
export function passesFilter({ collectionId, kind }: StreamEntry, { collectionIds, kinds }: StreamFilter): boolean {
  if (kind === 'remove') return true;
  if (kinds !== null && !kinds.has(kind)) return false;
  return collectionIds === null || collectionId === null || collectionIds.has(collectionId);
}

/** Whether the filter leaves out any events. */
export function isSelective({ collectionIds, kinds }: StreamFilter): boolean {
  return collectionIds !== null || kinds !== null;
}

export function toStreamFilter(collectionIds: readonly string[] | null, kinds: readonly string[] | null): StreamFilter {
  const toSet = (texts: readonly string[] | null) => texts && new Set([...texts].sort());
  const filter = { collectionIds: toSet(collectionIds), kinds: toSet(kinds) };
  return { ...filter, key: JSON.stringify([filter.collectionIds, filter.kinds].map((set) => set && [...set])) };
}
