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
  /** The collections of the events that a `reorg` takes back. Null if they are not known, and for other events. */
  reorgIds: readonly string[] | null;
  /** When the event was put into the log, in milliseconds by the clock of the primary database. */
  loggedAt: number;
  /** The activity as JSON on one line. */
  json: string;
};

/**
 * An event without a collection passes a filter of collections if it voids an event of one of them, or if it is not known of which collections it voids
 * events. The removal of a collection passes every filter.
 */
export function passesFilter(
  { collectionId, kind, reorgIds }: StreamEntry,
  { collectionIds, kinds }: StreamFilter,
): boolean {
  if (kind === 'remove') return true;
  if (kinds !== null && !kinds.has(kind)) return false;
  if (collectionIds === null) return true;
  if (collectionId !== null) return collectionIds.has(collectionId);
  return reorgIds === null || reorgIds.some((id) => collectionIds.has(id));
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
