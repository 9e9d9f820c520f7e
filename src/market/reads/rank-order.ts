// Defines the order of the list of collections. Launched collections come first, unless the list is sorted by the value alone. Collections are then sorted by the value of the chosen sort,
// from high to low. Collections whose value is unknown come last. Collections with equal values are sorted by id. An ascending list has the
// collections with a known value in the reverse order, from low to high; unknown values come last here too.
// Within a chain, values are compared as they are stored. Across chains, volumes and floors are compared in dollars by the newest known rate.
// Volumes and floors on chains without a rate follow those in dollars, and are compared in native units. All comparisons are exact: two
// different values of one chain never tie, and each page begins exactly where the previous page ended.

import type { Chain } from '../../platform/core/chains.ts';
import type { Rates } from '../../platform/core/price.ts';
import type { ChainBounds, RankKey, Sort } from '../index/queries/ranks.ts';

/**
 * How the values of a chain are compared with those of other chains. The class `dollars` comes before the class `native`. Within a class,
 * the products of value and `weight` are compared.
 */
type Measure = { rankClass: 'dollars' | 'native'; weight: Exact };

/** The number digits * 2^twos / 10^tens. */
type Exact = { digits: bigint; twos: number; tens: number };

const ONE: Exact = { digits: 1n, twos: 0, tens: 0 };

export class RankOrder {
  readonly #sort: Sort;
  readonly #isAscending: boolean;
  readonly #isLaunchedFirst: boolean;
  readonly #rates: Rates | null;
  readonly #chainOf: (id: string) => Chain | null;
  readonly #measures = new Map<string, Measure>();

  /** `rates` is null for the list of one chain, whose values are compared as they are stored. */
  constructor(
    { sort, isAscending, isLaunchedFirst }: { sort: Sort; isAscending: boolean; isLaunchedFirst: boolean },
    { rates, chainOf }: { rates: Rates | null; chainOf: (id: string) => Chain | null },
  ) {
    this.#sort = sort;
    this.#isAscending = isAscending;
    this.#isLaunchedFirst = isLaunchedFirst;
    this.#rates = sort === 'volume' || sort === 'floor' ? rates : null;
    this.#chainOf = chainOf;
  }

  /** Negative when `a` comes first. */
  compare(a: RankKey, b: RankKey): number {
    if (this.#isLaunchedFirst && a.launched !== b.launched) return a.launched ? -1 : 1;
    if (a.value === null || b.value === null) {
      return Number(a.value === null) - Number(b.value === null) || compareIds(a.id, b.id);
    }
    const measured = this.#compareClasses(a.chain, b.chain);
    if (measured !== 0) return measured;
    const order = this.#compareValues(a.chain, a.value, b.chain, b.value) || compareIds(a.id, b.id);
    return this.#isAscending ? -order : order;
  }

  /** The first `limit` keys of several sorted lists. */
  merge(lists: readonly (readonly RankKey[])[], limit: number): RankKey[] {
    const heads = lists.map((keys) => ({ keys, next: 0 }));
    const merged: RankKey[] = [];
    while (merged.length < limit) {
      let first: { key: RankKey; head: (typeof heads)[number] } | null = null;
      for (const head of heads) {
        const key = head.keys[head.next];
        if (key && (first === null || this.compare(key, first.key) < 0)) first = { key, head };
      }
      if (!first) break;
      merged.push(first.key);
      first.head.next += 1;
    }
    return merged;
  }

  /** The bounds of the collections of `chain` that follow the position `after` in the ranking. `after` is null for the first page. */
  boundsOf(chain: string, after: RankKey | null): ChainBounds {
    const all = this.#isAscending ? null : Number.POSITIVE_INFINITY;
    if (after === null) return { chain, equal: null, bound: all };
    const { value } = after;
    if (value === null) return { chain, equal: { key: null }, bound: null };
    const position = this.#measureOf(after.chain);
    const own = this.#measureOf(chain);
    if (chain === after.chain || own === position) return { chain, equal: { key: value }, bound: value };
    // If the position is in the class `native`, all known values of the class `dollars` come before it. The bound 0 of a descending ranking then
    // selects only unknown values, because known values are not negative.
    if (own.rankClass !== position.rankClass) {
      const none = this.#isAscending ? Number.POSITIVE_INFINITY : 0;
      return { chain, equal: null, bound: own.rankClass === 'native' ? all : none };
    }
    const target = multiply(toExact(value), position.weight);
    const key = typeof value === 'bigint' ? divide(target, own.weight) : findLargestDouble(target, own.weight);
    const isEqual = compareExact(multiply(toExact(key), own.weight), target) === 0;
    if (isEqual) return { chain, equal: { key }, bound: key };
    // `key` is the greatest value that is less than the position.
    if (this.#isAscending) return { chain, equal: null, bound: key };
    return { chain, equal: null, bound: typeof key === 'bigint' ? key + 1n : nextUp(key) };
  }

  #compareClasses(a: string, b: string): number {
    const [one, other] = [this.#measureOf(a), this.#measureOf(b)];
    if (one.rankClass === other.rankClass) return 0;
    return one.rankClass === 'dollars' ? -1 : 1;
  }

  /** Negative when `a` is greater. */
  #compareValues(chainOfA: string, a: number | bigint, chainOfB: string, b: number | bigint): number {
    const [one, other] = [this.#measureOf(chainOfA), this.#measureOf(chainOfB)];
    if (chainOfA === chainOfB || one === other) return a === b ? 0 : a > b ? -1 : 1;
    return -compareExact(multiply(toExact(a), one.weight), multiply(toExact(b), other.weight));
  }

  #measureOf(chainId: string): Measure {
    let measure = this.#measures.get(chainId);
    if (!measure) {
      measure = this.#measure(this.#chainOf(chainId));
      this.#measures.set(chainId, measure);
    }
    return measure;
  }

  #measure(chain: Chain | null): Measure {
    if (this.#rates === null) return AS_STORED;
    const rate = chain ? this.#rates.get(chain.symbol) : undefined;
    const tens = this.#sort === 'floor' && chain ? chain.decimals : 0;
    const usd = rate ? toExact(rate.usd) : ONE;
    return { rankClass: rate ? 'dollars' : 'native', weight: { ...usd, tens } };
  }
}

function compareIds(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

const AS_STORED: Measure = { rankClass: 'native', weight: ONE };

const DOUBLE_FRACTION_BITS = 52n;
const DOUBLE_EXPONENT_BIAS = 1_075;
const bits = new DataView(new ArrayBuffer(8));

function toBits(value: number): bigint {
  bits.setFloat64(0, value);
  return bits.getBigUint64(0);
}

/** `value` is an integer or a non-negative, finite double. */
function toExact(value: number | bigint): Exact {
  if (typeof value === 'bigint') return { digits: value, twos: 0, tens: 0 };
  const stored = toBits(value);
  const exponent = Number(stored >> DOUBLE_FRACTION_BITS);
  const fraction = stored & ((1n << DOUBLE_FRACTION_BITS) - 1n);
  if (exponent === 0) return { digits: fraction, twos: 1 - DOUBLE_EXPONENT_BIAS, tens: 0 };
  return { digits: fraction | (1n << DOUBLE_FRACTION_BITS), twos: exponent - DOUBLE_EXPONENT_BIAS, tens: 0 };
}

function toDouble(stored: bigint): number {
  bits.setBigUint64(0, stored);
  return bits.getFloat64(0);
}

function nextUp(value: number): number {
  return toDouble(toBits(value) + 1n);
}

function multiply(a: Exact, b: Exact): Exact {
  return { digits: a.digits * b.digits, twos: a.twos + b.twos, tens: a.tens + b.tens };
}

function compareExact(a: Exact, b: Exact): number {
  const [left, right] = toCommonUnit(a, b);
  return left === right ? 0 : left > right ? 1 : -1;
}

/** The quotient, rounded down. */
function divide(a: Exact, b: Exact): bigint {
  const [left, right] = toCommonUnit(a, b);
  return left / right;
}

function toCommonUnit(a: Exact, b: Exact): [bigint, bigint] {
  const left = a.digits * 10n ** BigInt(b.tens);
  const right = b.digits * 10n ** BigInt(a.tens);
  const shift = a.twos - b.twos;
  return shift >= 0 ? [left << BigInt(shift), right] : [left, right << BigInt(-shift)];
}

/**
 * The largest double whose product with `weight` is not above `target`. The search is over the bits of the double, because the bits of
 * non-negative doubles, read as integers, have the same order as the doubles.
 */
function findLargestDouble(target: Exact, weight: Exact): number {
  let [low, high] = [0n, toBits(Number.MAX_VALUE)];
  while (low < high) {
    const middle = (low + high + 1n) / 2n;
    if (compareExact(multiply(toExact(toDouble(middle)), weight), target) > 0) high = middle - 1n;
    else low = middle;
  }
  return toDouble(low);
}
