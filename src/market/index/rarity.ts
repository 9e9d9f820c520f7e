// Ranks the tokens of a collection by the information content of their traits, for collections whose ranks no source reports. Pure.

/** The name of the method, which is served as the provenance of the ranks. */
export const RARITY_METHOD = 'information-content';

/** These limits bound the memory of one ranking. A larger collection is not ranked. */
const TOKENS_MAX = 200_000;
const VALUES_MAX = 300_000;

/** The traits of one token, without duplicates. A token can have several values of one trait. */
export type RankedTraits = readonly { name: string; value: string }[];

/** 1 is the rarest. */
export type TokenRank = { asset: string; rank: number };

/**
 * In bits. Scores that differ by less than this count as equal, because sums of the same logarithms in different orders differ by rounding
 * errors.
 */
const SCORE_TOLERANCE = 1e-9;
/** The number of traits of a token counts as a trait with this name. No other trait has an empty name. */
const TRAIT_COUNT = '';

/**
 * The score of a token is the sum of -log2(share) over the traits of the collection. `share` is the share of the collection's tokens that
 * have the same value of the trait. If the token does not have the trait, `share` is the share of the tokens without the trait. If the token
 * has several values of one trait, each value adds its own -log2(share). The number of traits of a token counts as one more trait. This is
 * the method of OpenRarity (https://github.com/ProjectOpenSea/open-rarity), except that OpenRarity puts tokens with unique values first.
 */
export class RarityRanking {
  readonly #max: { tokens: number; values: number };
  readonly #assets: string[] = [];
  /** For each token, the numbers that `#valueNumbers` gives to its values. */
  readonly #valuesOf: Uint32Array[] = [];
  /** The number of each different value. The key consists of the name of the trait and the value. */
  readonly #valueNumbers = new Map<string, number>();
  readonly #tokensWithValue: number[] = [];
  /** The number of the trait to which each value belongs. The index is the number of the value. */
  readonly #traitOf: number[] = [];
  readonly #traitNumbers = new Map<string, number>();
  readonly #tokensWithTrait: number[] = [];

  /** `max`: the most tokens and the most different values. */
  constructor(max = { tokens: TOKENS_MAX, values: VALUES_MAX }) {
    this.#max = max;
  }

  /** Whether any token has a trait. Without traits, all tokens have the same rank. */
  get hasTraits(): boolean {
    return this.#traitNumbers.size > 1;
  }

  /** Adds a token. Returns false if the collection is too large to be ranked. After false, the ranking must not be used. */
  add(asset: string, traits: RankedTraits): boolean {
    const counted = [...traits, { name: TRAIT_COUNT, value: String(traits.length) }];
    const values = Uint32Array.from(counted, ({ name, value }) => this.#numberOf(name, value));
    this.#assets.push(asset);
    this.#valuesOf.push(values);
    for (const value of values) increment(this.#tokensWithValue, value);
    for (const trait of this.#traitsOf(values)) increment(this.#tokensWithTrait, trait);
    return this.#assets.length <= this.#max.tokens && this.#valueNumbers.size <= this.#max.values;
  }

  /**
   * The ranks of all tokens, the rarest token first. Tokens with the same score have the same rank, and the ranks after it are skipped:
   * 1, 2, 2, 4. Tokens of the same rank are sorted by id.
   */
  ranks(): TokenRank[] {
    const scores = Float64Array.from(this.#valuesOf, (values) => this.#score(values));
    const scoreOf = (index: number) => scores[index] ?? 0;
    const order = Uint32Array.from(scores, (_, index) => index).sort(
      (a, b) => scoreOf(b) - scoreOf(a) || compareIds(this.#assets[a] ?? '', this.#assets[b] ?? ''),
    );
    const ranked: { asset: string; rank: number; score: number }[] = [];
    for (const [position, index] of order.entries()) {
      const score = scoreOf(index);
      const before = ranked.at(-1);
      const isTie = before !== undefined && before.score - score < SCORE_TOLERANCE;
      ranked.push({ asset: this.#assets[index] ?? '', rank: isTie ? before.rank : position + 1, score });
    }
    return ranked
      .map(({ asset, rank }) => ({ asset, rank }))
      .sort((a, b) => a.rank - b.rank || compareIds(a.asset, b.asset));
  }

  /**
   * The score of a token, minus the score that a token without any trait would have. The subtracted score is the same for all tokens, so
   * the order of the tokens does not change. The difference needs only the sum over the traits that the token has.
   */
  #score(values: Uint32Array): number {
    let score = 0;
    for (const value of values) score += this.#bits(this.#tokensWithValue[value] ?? 0);
    for (const trait of this.#traitsOf(values)) {
      const without = this.#assets.length - (this.#tokensWithTrait[trait] ?? 0);
      if (without > 0) score -= this.#bits(without);
    }
    return score;
  }

  #bits(tokens: number): number {
    return Math.log2(this.#assets.length / tokens);
  }

  #traitsOf(values: Uint32Array): Set<number> {
    return new Set(Array.from(values, (value) => this.#traitOf[value] ?? 0));
  }

  #numberOf(name: string, value: string): number {
    const key = JSON.stringify([name, value]);
    const known = this.#valueNumbers.get(key);
    if (known !== undefined) return known;
    const number = this.#valueNumbers.size;
    this.#valueNumbers.set(key, number);
    const trait = this.#traitNumbers.get(name) ?? this.#traitNumbers.size;
    this.#traitNumbers.set(name, trait);
    this.#traitOf.push(trait);
    return number;
  }
}

function increment(counts: number[], index: number): void {
  counts[index] = (counts[index] ?? 0) + 1;
}

/** Sorts token ids in the order of their numbers: token ids have no leading zeros, so a longer id is a larger number. */
function compareIds(a: string, b: string): number {
  return a.length - b.length || (a < b ? -1 : a === b ? 0 : 1);
}
