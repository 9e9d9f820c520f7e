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

/** What happens to a listing, in the order in which it happens if the times are equal. */
const STEPS = ['open', 'end', 'forget'] as const;

/** The figures after each time before `end` at which a listing begins or ends. */
function* toMoments(listings: readonly PastListing[], end: number): Generator<Moment & { at: number }> {
  const book = new PastBook();
  const steps = listings.flatMap((listing) => {
    const times = [listing.from, listing.until, listing.mayEnd];
    return STEPS.map((step, index) => ({ at: times[index] ?? end, step, listing })).filter(({ at }) => at < end);
  });
  // The sort is stable, so the steps of one listing at the same time stay in their order.
  steps.sort((a, b) => a.at - b.at);
  for (const [index, { at, step, listing }] of steps.entries()) {
    book[step](listing);
    if (steps[index + 1]?.at !== at) yield { at, floorRaw: book.floor(), listed: book.listed() };
  }
}

/** The listings of one moment of the past. Each step takes time with the logarithm of the number of listings. */
class PastBook {
  readonly #open = new Map<string, OpenListings>();
  /** The ask of each asset, by price. */
  readonly #asks = new Heap(isCheaper);
  /** The listings that may be open. */
  readonly #uncertain = new Set<PastListing>();
  readonly #uncertainByPrice = new Heap(isCheaper);
  readonly #uncertainOf = new Map<string, { listings: number; own: number }>();
  /** How many listings may be open whose asset has no listing that is open. */
  #uncertainAlone = 0;

  open(listing: PastListing): void {
    const { asset } = listing;
    if (!this.#open.has(asset)) this.#uncertainAlone -= this.#uncertainOf.get(asset)?.listings ?? 0;
    const ofAsset = this.#open.get(asset) ?? new OpenListings();
    this.#open.set(asset, ofAsset);
    ofAsset.add(listing);
    this.#noteAsk(asset);
  }

  end(listing: PastListing): void {
    const { asset } = listing;
    const ofAsset = this.#open.get(asset);
    ofAsset?.delete(listing);
    if (ofAsset?.isEmpty()) {
      this.#open.delete(asset);
      this.#uncertainAlone += this.#uncertainOf.get(asset)?.listings ?? 0;
    } else this.#noteAsk(asset);
    this.#uncertain.add(listing);
    this.#uncertainByPrice.add(listing);
    this.#countUncertain(listing, 1);
  }

  forget(listing: PastListing): void {
    if (this.#uncertain.delete(listing)) this.#countUncertain(listing, -1);
  }

  listed(): number | null {
    return this.#uncertainAlone > 0 ? null : this.#open.size;
  }

  floor(): bigint | null {
    const ask = this.#asks.first((listing) => this.#open.get(listing.asset)?.first() === listing);
    const uncertain = this.#uncertainByPrice.first((listing) => this.#uncertain.has(listing));
    // The uncertain listing may have been the cheapest. At the price of the ask, the floor is the same with it and without it.
    if (uncertain && (!ask || uncertain.priceRaw < ask.priceRaw)) return null;
    // An own order may have replaced the cheapest.
    if (ask && (this.#uncertainOf.get(ask.asset)?.own ?? 0) > 0) return null;
    return ask?.priceRaw ?? null;
  }

  #noteAsk(asset: string): void {
    const ask = this.#open.get(asset)?.first();
    if (ask) this.#asks.add(ask);
  }

  #countUncertain({ asset, isOwn }: PastListing, change: number): void {
    const { listings, own } = this.#uncertainOf.get(asset) ?? { listings: 0, own: 0 };
    this.#uncertainOf.set(asset, { listings: listings + change, own: own + (isOwn ? change : 0) });
    if (!this.#open.has(asset)) this.#uncertainAlone += change;
  }
}

/** The open listings of an asset. */
class OpenListings {
  readonly #listings = new Set<PastListing>();
  readonly #byRank = new Heap((a, b) => (a.isOwn === b.isOwn ? isCheaper(a, b) : a.isOwn));

  add(listing: PastListing): void {
    this.#listings.add(listing);
    this.#byRank.add(listing);
  }

  delete(listing: PastListing): void {
    this.#listings.delete(listing);
  }

  isEmpty(): boolean {
    return this.#listings.size === 0;
  }

  /** The ask of the asset. */
  first(): PastListing | undefined {
    return this.#byRank.first((listing) => this.#listings.has(listing));
  }
}

function isCheaper(a: PastListing, b: PastListing): boolean {
  return a.priceRaw < b.priceRaw;
}

/** A binary heap. A listing that is not in use any more is removed when it becomes the first. */
class Heap {
  readonly #items: PastListing[] = [];
  readonly #isBetter: (a: PastListing, b: PastListing) => boolean;

  constructor(isBetter: (a: PastListing, b: PastListing) => boolean) {
    this.#isBetter = isBetter;
  }

  first(isUsed: (listing: PastListing) => boolean): PastListing | undefined {
    for (;;) {
      const [first] = this.#items;
      if (!first || isUsed(first)) return first;
      this.#removeFirst();
    }
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

  #removeFirst(): void {
    const items = this.#items;
    const last = items.pop();
    if (!last || items.length === 0) return;
    items[0] = last;
    for (let index = 0; ;) {
      let best = index;
      for (const child of [2 * index + 1, 2 * index + 2])
        if (child < items.length && this.#isBefore(child, best)) best = child;
      if (best === index) return;
      this.#swap(index, best);
      index = best;
    }
  }

  #isBefore(a: number, b: number): boolean {
    const [first, second] = [this.#items[a], this.#items[b]];
    return first !== undefined && second !== undefined && this.#isBetter(first, second);
  }

  #swap(a: number, b: number): void {
    const [first, second] = [this.#items[a], this.#items[b]];
    if (!first || !second) return;
    this.#items[a] = second;
    this.#items[b] = first;
  }
}
