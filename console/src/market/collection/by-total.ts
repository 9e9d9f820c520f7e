// Sorts tokens by what a buyer pays. The service sorts them by what the sellers ask. No total is below its ask, so among the tokens of which the
// asks were read, those with a total of at most the last ask that was read have their final places.

import type { Token } from '../../../../client/src/market.ts';

/**
 * `tokens`: the cheapest asks first, then the tokens that are not listed. `isComplete`: whether all tokens were read. Leaves out the tokens whose
 * places are not final. A token whose total is not known stands where its ask puts it.
 */
export function sortByTotal(tokens: readonly Token[], isComplete: boolean): readonly Token[] {
  const listed = tokens.filter(({ listing }) => listing !== null);
  const others = tokens.filter(({ listing }) => listing === null);
  const sorted = listed.toSorted((a, b) => compare(totalOf(a), totalOf(b)));
  const last = others.length === 0 && !isComplete ? listed.at(-1)?.listing?.price.raw : undefined;
  return [...(last === undefined ? sorted : sorted.filter((token) => totalOf(token) <= last)), ...others];
}

function totalOf({ listing }: Token): bigint {
  return listing?.buyerTotal?.raw ?? listing?.price.raw ?? 0n;
}

function compare(a: bigint, b: bigint): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
