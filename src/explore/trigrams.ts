// Trigrams of names: three letters in a row of each word, with two spaces before the word and one after it. The function main.trigrams of
// the database gives the same. Pure.

/** ASCII letters in lower case. The databases compare other letters as they are. */
export const toSearchText = (text: string): string => text.replaceAll(/[A-Z]/g, (letter) => letter.toLowerCase());

const NOT_A_WORD = /[ -/:-@[-`{-~]+/;

/** In the order of the text, each once. */
export function toTrigrams(text: string): string[] {
  const words = toSearchText(text).split(NOT_A_WORD);
  const trigrams = words.flatMap((word) => {
    const padded = word === '' ? [] : Array.from(`  ${word} `);
    return padded.slice(2).map((_, place) => padded.slice(place, place + 3).join(''));
  });
  return [...new Set(trigrams)];
}

/**
 * Parts of the trigrams of a query. A name that is spelt almost like the query has all trigrams of one part at least: one wrong letter changes
 * three trigrams in a row. The end of the last word is left out, because the query may be the beginning of a name.
 */
export function toParts(query: string): string[][] {
  const trigrams = toTrigrams(query);
  const known = trigrams.length > 2 && trigrams.at(-1)?.endsWith(' ') ? trigrams.slice(0, -1) : trigrams;
  // Three trigrams in a row are in two of three parts at most, if a part has two or more. A shorter query has parts of one.
  const size = known.length < 4 ? known.length : known.length === 4 ? 1 : Math.ceil(known.length / 3);
  const starts = known.flatMap((_, place) => (place % size === 0 ? [place] : []));
  return starts.map((start) => known.slice(start, start + size));
}

/** From 0 to 1: how much of the query is in the name, and a little less how alike the two are. */
export function similarityOf(query: string, name: string): number {
  const wanted = toTrigrams(query);
  const found = new Set(toTrigrams(name));
  const common = wanted.filter((trigram) => found.has(trigram)).length;
  if (common === 0) return 0;
  return (0.7 * common) / wanted.length + (0.3 * 2 * common) / (wanted.length + found.size);
}
