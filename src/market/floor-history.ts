// Computes the past floors and listed counts of a collection from its listings. Each listing states when it began, and its end or expiry says
// until when it was open. The rule is that of the present floor: an own order replaces the mirrored listings of its asset, otherwise the
// cheapest listing of the asset counts.

/**
 * A listing with a price above zero. Times in milliseconds. From `from` to `until` the listing was open, and from `until` to `mayEnd` it may
 * have been open. If the end is known, both are equal. Infinity: the listing has not ended.
 */
export type PastListing = {
  asset: string;
  isOwn: boolean;
  priceRaw: bigint;
  from: number;
  until: number;
  mayEnd: number;
};

/** The figures of one hour, as `indexer.market_hour` stores them. `hour`: the beginning of the hour in milliseconds. */
export type PastHour = {
  hour: number;
  highRaw: bigint | null;
  lowRaw: bigint | null;
  closeRaw: bigint | null;
  listed: number | null;
};

const HOUR_MS = 60 * 60_000;

/** One hour for each hour before `end` in which the floor or the listed count changed, the earliest first. `end` is the beginning of an hour. */
export function toPastHours(listings: readonly PastListing[], end: number): PastHour[] {
  const hours: PastHour[] = [];
  let before: Moment = { floorRaw: null, listed: 0 };
  for (const { at, ...moment } of toMoments(listings, end)) {
    if (moment.floorRaw === before.floorRaw && moment.listed === before.listed) continue;
    const hour = Math.floor(at / HOUR_MS) * HOUR_MS;
    const { floorRaw, listed } = moment;
    const last = hours.at(-1);
    if (last?.hour === hour) {
      last.highRaw = extremeOf(last.highRaw, floorRaw, (a, b) => a > b);
      last.lowRaw = extremeOf(last.lowRaw, floorRaw, (a, b) => a < b);
      last.closeRaw = floorRaw;
      last.listed = listed;
    } else {
      hours.push({ hour, highRaw: floorRaw, lowRaw: floorRaw, closeRaw: floorRaw, listed });
    }
    before = moment;
  }
  return hours;
}

function extremeOf(a: bigint | null, b: bigint | null, isBeyond: (a: bigint, b: bigint) => boolean): bigint | null {
  if (a === null || b === null) return a ?? b;
  return isBeyond(a, b) ? a : b;
}

/** Null if the figure is not known; the floor is null also if nothing was listed. */
type Moment = { floorRaw: bigint | null; listed: number | null };

/** The figures after each time before `end` at which a listing begins or ends. */
function* toMoments(listings: readonly PastListing[], end: number): Generator<Moment & { at: number }> {
  const book = new PastBook();
  const steps = listings.flatMap((listing) =>
    [
      { at: listing.from, apply: () => book.open(listing) },
      { at: listing.until, apply: () => book.end(listing) },
      { at: listing.mayEnd, apply: () => book.forget(listing) },
    ].filter(({ at }) => at < end),
  );
  // Of the steps of one listing at the same time, the earlier comes first, because the sort is stable.
  steps.sort((a, b) => a.at - b.at);
  for (const [index, { at, apply }] of steps.entries()) {
    apply();
    if (steps[index + 1]?.at !== at) yield { at, floorRaw: book.floor(), listed: book.listed() };
  }
}

/** The listings of one moment of the past. */
class PastBook {
  readonly #open = new Map<string, Set<PastListing>>();
  readonly #uncertain = new Set<PastListing>();
  /** The asks by their prices. An ask that is not the ask of its asset any more is left out when it becomes the first. */
  readonly #asks = new Heap();

  open(listing: PastListing): void {
    const ofAsset = this.#open.get(listing.asset) ?? new Set();
    this.#open.set(listing.asset, ofAsset.add(listing));
    this.#noteAsk(listing.asset);
  }

  end(listing: PastListing): void {
    const ofAsset = this.#open.get(listing.asset);
    ofAsset?.delete(listing);
    if (ofAsset?.size === 0) this.#open.delete(listing.asset);
    else this.#noteAsk(listing.asset);
    this.#uncertain.add(listing);
  }

  forget(listing: PastListing): void {
    this.#uncertain.delete(listing);
  }

  listed(): number | null {
    for (const { asset } of this.#uncertain) if (!this.#open.has(asset)) return null;
    return this.#open.size;
  }

  floor(): bigint | null {
    let first = this.#asks.first();
    while (first && this.#askOf(first.asset) !== first) {
      this.#asks.removeFirst();
      first = this.#asks.first();
    }
    for (const { asset, isOwn, priceRaw } of this.#uncertain) {
      // The listing may have been the cheapest. An own order may also have replaced the cheapest.
      if (!first || priceRaw <= first.priceRaw || (isOwn && asset === first.asset)) return null;
    }
    return first?.priceRaw ?? null;
  }

  #noteAsk(asset: string): void {
    const ask = this.#askOf(asset);
    if (ask) this.#asks.add(ask);
  }

  #askOf(asset: string): PastListing | null {
    let ask: PastListing | null = null;
    for (const listing of this.#open.get(asset) ?? []) {
      const isBetter = !ask || (listing.isOwn === ask.isOwn ? listing.priceRaw < ask.priceRaw : listing.isOwn);
      if (isBetter) ask = listing;
    }
    return ask;
  }
}

/** A binary heap with the lowest price first. */
class Heap {
  readonly #items: PastListing[] = [];

  first(): PastListing | undefined {
    return this.#items[0];
  }

  add(listing: PastListing): void {
    const items = this.#items;
    let index = items.push(listing) - 1;
    while (index > 0) {
      const parent = (index - 1) >> 1;
      if (!this.#isBefore(index, parent)) return;
      this.#swap(index, parent);
      index = parent;
    }
  }

  removeFirst(): void {
    const items = this.#items;
    const last = items.pop();
    if (!last || items.length === 0) return;
    items[0] = last;
    for (let index = 0; ;) {
      let lowest = index;
      for (const child of [2 * index + 1, 2 * index + 2])
        if (child < items.length && this.#isBefore(child, lowest)) lowest = child;
      if (lowest === index) return;
      this.#swap(index, lowest);
      index = lowest;
    }
  }

  #isBefore(a: number, b: number): boolean {
    const [first, second] = [this.#items[a], this.#items[b]];
    return first !== undefined && second !== undefined && first.priceRaw < second.priceRaw;
  }

  #swap(a: number, b: number): void {
    const [first, second] = [this.#items[a], this.#items[b]];
    if (!first || !second) return;
    this.#items[a] = second;
    this.#items[b] = first;
  }
}
