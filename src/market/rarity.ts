// Ranks the tokens of a collection by the information content of their traits, for collections whose ranks no source reports. Pure.

/** The name of the method, which is served as the provenance of the ranks. */
export const RARITY_METHOD = 'information-content';

/** The bounds of the memory of one ranking. A collection beyond them is not ranked. */
const TOKENS_MAX = 200_000;
const VALUES_MAX = 300_000;

/** Without duplicates. A trait may have several values. */
export type RankedTraits = readonly { name: string; value: string }[];

/** 1 is the rarest. */
export type TokenRank = { asset: string; rank: number };

/** Scores that differ by less are equal: the sum of the same logarithms in another order differs by a rounding error. In bits. */
const SCORE_TOLERANCE = 1e-9;
/** The number of traits of a token counts as a trait with this name. No other trait has an empty name. */
const TRAIT_COUNT = '';

/**
 * The score of a token is the sum of -log2(share) over the traits of the collection, where `share` is the share of the tokens with the same
 * value. The share of a token without a trait is that of all tokens without this trait. Each value of a trait with several values counts.
 * The number of traits counts as a trait. This is the method of OpenRarity (https://github.com/ProjectOpenSea/open-rarity), except that
 * OpenRarity puts tokens with unique values first.
 */
export class RarityRanking {
  readonly #max: { tokens: number; values: number };
  readonly #assets: string[] = [];
  /** The numbers of the values of each token. */
  readonly #valuesOf: Uint32Array[] = [];
  /** By name and value. */
  readonly #valueNumbers = new Map<string, number>();
  readonly #tokensWithValue: number[] = [];
  /** By the number of a value: the number of its trait. */
  readonly #traitOf: number[] = [];
  readonly #traitNumbers = new Map<string, number>();
  readonly #tokensWithTrait: number[] = [];

  /** `max`: the most tokens and the most different values. */
  constructor(max = { tokens: TOKENS_MAX, values: VALUES_MAX }) {
    this.#max = max;
  }

  /** Whether a token has a trait. Without traits, all tokens have the same rank. */
  get hasTraits(): boolean {
    return this.#traitNumbers.size > 1;
  }

  /** False if the collection is too large to be ranked. Then the ranking must not be used. */
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
   * The rarest first, and tokens of the same rank by id. Tokens with the same score have the same rank, and the next rank is then skipped:
   * 1, 2, 2, 4.
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
   * The score, less the score of a token without any trait. That is the same for all tokens, so the order does not change, and only the
   * traits that the token has need to be summed.
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

/** As numbers for token ids, which have no leading zeros. */
function compareIds(a: string, b: string): number {
  return a.length - b.length || (a < b ? -1 : a === b ? 0 : 1);
}
