// The listings window: the 250 cheapest assets of a collection, one row an asset, from the own order book and the mirror.

/** What the merge needs to know of a listing; `orderId` breaks ties of price. */
export type WindowEntry = { asset: string; raw: bigint; orderId: string };

/** The most assets a window holds. */
export const WINDOW_SIZE_MAX = 250;

/** Cheapest first, then by order id in code-unit order, as the databases sort it. */
export function compareEntries(a: WindowEntry, b: WindowEntry): number {
  if (a.raw !== b.raw) return a.raw < b.raw ? -1 : 1;
  if (a.orderId === b.orderId) return 0;
  return a.orderId < b.orderId ? -1 : 1;
}

/** The first entry of each asset, in the order given: of rows sorted by price, the cheapest one. */
export function keepFirstPerAsset<E extends WindowEntry>(entries: Iterable<E>): E[] {
  const byAsset = new Map<string, E>();
  for (const entry of entries) if (!byAsset.has(entry.asset)) byAsset.set(entry.asset, entry);
  return [...byAsset.values()];
}

/**
 * Merges the two books. An own row wins over every mirrored row of its asset, even when it is dearer: `ownAssets` names
 * all assets with an own row, those beyond the window included.
 */
export function mergeWindow<E extends WindowEntry>(own: E[], mirrored: E[], ownAssets: ReadonlySet<string>): E[] {
  const external = mirrored.filter((entry) => !ownAssets.has(entry.asset));
  return keepFirstPerAsset([...own, ...external].sort(compareEntries)).slice(0, WINDOW_SIZE_MAX);
}
