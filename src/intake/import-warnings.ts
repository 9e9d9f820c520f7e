// Notes what may be wrong with accepted records: doubtful prices and times, prices that cannot be served, repeated products, and collections
// without a collection record.

import type { Chains } from '../platform/core/chains.ts';
import { OTHER_CURRENCY } from '../platform/core/sale-text.ts';
import type { Queryable } from '../platform/database/port.ts';
import { toKnownTotal } from '../market/index/known-total.ts';
import { listRecordedIds } from '../market/reads/queries/collections.ts';
import type { IntakeRecord, NumberedRecord } from './records/parse.ts';
import { collectionIdOf } from './records/parse.ts';

/**
 * - `unreadablePrice`: the price of a sale is not an integer of base units. The sale is stored, but not served by /v1.
 * - `unknownCurrency`: the price of a sale is an amount whose currency is not known. The sale is stored, but not served by /v1.
 * - `otherCurrency`: the price of a sale is in another currency than the chain's. The sale is stored, but not served by /v1.
 * - `zeroPrice`: a sale, listing or order at 0, or a floor or buyer total of 0. The sale is served and does not count in volume and sales. The
 *   listing or order is not listed. The floor or buyer total is stored as unknown.
 * - `lowBuyerTotal`: the buyer total of a listing is below its price. It is stored as unknown.
 * - `tinyPrice`: the price is above 0 and below a millionth of the native unit.
 * - `doubtfulTime`: the time of a sale, listing, order or bid is more than a day in the future, or before 2015. No token existed before 2015.
 * - `repeatedSlug`: an earlier product of the import has the same shop and slug. The later record has changed this product.
 */
export const WARNING_CODES = [
  'unreadablePrice',
  'unknownCurrency',
  'otherCurrency',
  'zeroPrice',
  'lowBuyerTotal',
  'tinyPrice',
  'doubtfulTime',
  'repeatedSlug',
] as const;
export type WarningCode = (typeof WARNING_CODES)[number];

/** The number of records with this warning, and the line and the value of the first of these records. */
export type ImportWarning = { count: number; line: number; value: string };

export type ImportWarnings = Partial<Record<WarningCode, ImportWarning>>;

/** A price below 10 to the power of -TINY_DECIMALS native units is noted as tiny. */
const TINY_DECIMALS = 6;
/** Ethereum, the chain of the first tokens, began in 2015. */
const TIME_MIN = Date.UTC(2015, 0, 1);
/** A time further in the future than this is doubtful. A smaller difference may come from a wrong clock. */
const FUTURE_MAX_MS = 24 * 60 * 60_000;
/** The largest number of collections for which one import checks whether a collection record exists. */
const COLLECTIONS_MAX = 10_000;
/** The largest number of products whose slugs are compared. So many slugs take about 25 MB of memory. */
const SLUGS_MAX = 200_000;

export class RecordNotes {
  readonly #chains: Chains;
  readonly #timeMax: number;
  readonly #warnings: ImportWarnings = {};
  readonly #slugs = new Set<string>();
  /** The number of records of each collection, by collection id. */
  readonly #recordsOf = new Map<string, number>();
  readonly #recorded = new Set<string>();

  /** `now`: the time of the import, in milliseconds. */
  constructor(chains: Chains, now: number) {
    this.#chains = chains;
    this.#timeMax = now + FUTURE_MAX_MS;
  }

  get warnings(): ImportWarnings {
    return structuredClone(this.#warnings);
  }

  get collections(): string[] {
    return [...this.#recorded].sort();
  }

  /** All collections that the records name. */
  get mentioned(): string[] {
    return [...new Set([...this.#recorded, ...this.#recordsOf.keys()])];
  }

  add({ line, record }: NumberedRecord): void {
    const price = this.#judgePrice(record);
    if (price !== null) this.#warn(price.code, line, price.value);
    const time = timeOf(record);
    if (time !== null && (time < TIME_MIN || time > this.#timeMax)) {
      this.#warn('doubtfulTime', line, new Date(time).toISOString());
    }
    if (record.kind === 'product') this.#addSlug(line, record.row);
    this.#addCollection(record);
  }

  /**
   * Finds the collections that have a collection record neither in the import nor in the database. Returns the number of imported records
   * of each such collection. `created`: the collections whose records the import created. After a dry run these records are no longer in
   * the database, because the dry run has rolled them back.
   */
  async findUnknownCollections(
    main: Queryable,
    created: ReadonlySet<string> = new Set(),
  ): Promise<Record<string, number>> {
    const ids = [...this.#recordsOf.keys()].filter((id) => !this.#recorded.has(id) && !created.has(id));
    const stored = new Set(ids.length > 0 ? await listRecordedIds(main, ids) : []);
    const unknown = ids.filter((id) => !stored.has(id)).sort();
    return Object.fromEntries(unknown.map((id) => [id, this.#recordsOf.get(id) ?? 0]));
  }

  #judgePrice(record: IntakeRecord): { code: WarningCode; value: string } | null {
    if (listPrices(record).includes(0n)) return { code: 'zeroPrice', value: '0' };
    if (!isPriced(record)) return null;
    const { priceRaw } = record.row;
    if (
      record.kind === 'listing' &&
      record.row.buyerTotalRaw !== toKnownTotal(record.row.priceRaw, record.row.buyerTotalRaw)
    ) {
      return { code: 'lowBuyerTotal', value: String(record.row.buyerTotalRaw) };
    }
    if (priceRaw === null) return judgeUnreadable(record.kind === 'sale' ? record.row.price : '');
    const decimals = this.#chains.get(record.row.chain)?.decimals ?? 0;
    const isTiny = priceRaw < 10n ** BigInt(Math.max(0, decimals - TINY_DECIMALS));
    return isTiny ? { code: 'tinyPrice', value: priceRaw.toString() } : null;
  }

  #addSlug(line: number, { shop, slug }: { shop: string; slug: string }): void {
    const key = `${shop} ${slug}`;
    if (this.#slugs.has(key)) this.#warn('repeatedSlug', line, slug);
    else if (this.#slugs.size < SLUGS_MAX) this.#slugs.add(key);
  }

  #addCollection(record: IntakeRecord): void {
    const id = collectionIdOf(record);
    if (id === null) return;
    if (record.kind === 'collection') {
      if (this.#recorded.size < COLLECTIONS_MAX) this.#recorded.add(id);
      return;
    }
    const records = this.#recordsOf.get(id);
    if (records !== undefined || this.#recordsOf.size < COLLECTIONS_MAX) this.#recordsOf.set(id, (records ?? 0) + 1);
  }

  #warn(code: WarningCode, line: number, value: string): void {
    const warning = (this.#warnings[code] ??= { count: 0, line, value });
    warning.count += 1;
  }
}

type PricedRecord = Extract<IntakeRecord, { kind: 'sale' | 'listing' | 'order' | 'bid' }>;

const isPriced = (record: IntakeRecord): record is PricedRecord =>
  record.kind === 'sale' || record.kind === 'listing' || record.kind === 'order' || record.kind === 'bid';

/** The prices, floors and buyer totals that a record states in base units. Null for each that it leaves out. */
function listPrices({ kind, row }: IntakeRecord): readonly (bigint | null)[] {
  if (kind === 'collection') return [row.snapshot.floorRaw];
  if (kind === 'stats' || kind === 'analytics') return [row.floorRaw];
  if (kind === 'listing') return [row.priceRaw, row.buyerTotalRaw];
  return kind === 'sale' || kind === 'order' ? [row.priceRaw] : [];
}

/** The time at which a sale was made, or a listing, order or bid was created. Null for other records. */
function timeOf({ kind, row }: IntakeRecord): number | null {
  if (kind === 'sale') return row.soldAt;
  if (kind === 'listing') return row.listedAt;
  return kind === 'order' || kind === 'bid' ? row.createdAt : null;
}

/** An amount, followed by a text that names no currency. */
const IN_UNKNOWN_CURRENCY = /^\d[\d.,]*(?:e[+-]?\d+)? \S/i;

function judgeUnreadable(price: string): { code: WarningCode; value: string } {
  if (OTHER_CURRENCY.test(price)) return { code: 'otherCurrency', value: price };
  return { code: IN_UNKNOWN_CURRENCY.test(price) ? 'unknownCurrency' : 'unreadablePrice', value: price };
}

/** Adds the counts. Keeps the line and the value of the earlier warning. */
export function addWarnings(earlier: ImportWarnings, later: ImportWarnings): ImportWarnings {
  const sum = structuredClone(earlier);
  for (const code of WARNING_CODES) {
    const added = later[code];
    if (added) sum[code] = { ...(sum[code] ?? added), count: (sum[code]?.count ?? 0) + added.count };
  }
  return sum;
}
