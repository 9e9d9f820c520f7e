// Computes the trigrams of a name. Accents are left out. Each word gets two spaces before it and one space after it, and every three successive
// characters are a trigram. Each character of Chinese, Japanese and Korean script is a part of its own too. The database function main.trigrams
// returns the same parts.

/** Converts ASCII letters to lower case. Other letters stay as they are. The SQL of the search does the same. */
export const toSearchText = (text: string): string => text.replaceAll(/[A-Z]/g, (letter) => letter.toLowerCase());

/** The text without accents of Latin, Greek and Cyrillic letters, in the composed form. */
export const withoutAccents = (text: string): string =>
  text
    .normalize('NFD')
    .replaceAll(/[\u0300-\u036F]/g, '')
    .normalize('NFC');

/** A character that is a word of its own. */
const IDEOGRAPH = /[\u3040-\u30FF\u3400-\u4DBF\u4E00-\u9FFF\uAC00-\uD7A3]/g;

/** Whether the text has characters that are words of their own. */
export const hasIdeographs = (text: string): boolean => text.search(IDEOGRAPH) !== -1;

const NOT_A_WORD = /[ -/:-@[-`{-~]+/;

/** Returns each part of the database function once. */
export function toIndexedParts(text: string): string[] {
  return [...toTrigrams(text), ...toIdeographs(text)];
}

function toIdeographs(text: string): string[] {
  return [...new Set(withoutAccents(text).match(IDEOGRAPH))];
}

/** Returns each trigram once, in the order of the text. */
export function toTrigrams(text: string): string[] {
  const words = toSearchText(withoutAccents(text)).split(NOT_A_WORD);
  const trigrams = words.flatMap((word) => {
    const padded = word === '' ? [] : Array.from(`  ${word} `);
    return padded.slice(2).map((_, place) => padded.slice(place, place + 3).join(''));
  });
  return [...new Set(trigrams)];
}

/**
 * Splits the trigrams of a query into parts. One wrong letter changes three successive trigrams. If the query has four or more trigrams, a
 * name that differs from the query by one letter therefore has all trigrams of at least one part. The trigram at the end of the last word is
 * omitted, because the query may be only the beginning of a name. The characters that are words of their own are one more part.
 */
export function toParts(query: string): string[][] {
  const trigrams = toTrigrams(query);
  const known = trigrams.length > 2 && trigrams.at(-1)?.endsWith(' ') ? trigrams.slice(0, -1) : trigrams;
  // Five or more trigrams are split into three parts, and three successive trigrams are in at most two of them. Four trigrams are split into
  // four parts. Fewer trigrams are one part, so a similar name must have all of them.
  const size = known.length < 4 ? known.length : known.length === 4 ? 1 : Math.ceil(known.length / 3);
  const starts = known.flatMap((_, place) => (place % size === 0 ? [place] : []));
  const ideographs = toIdeographs(query);
  return [...starts.map((start) => known.slice(start, start + size)), ...(ideographs.length > 0 ? [ideographs] : [])];
}

/**
 * How similar a name is to the query, from 0 to 1. Two shares are computed: the share of the query's trigrams that the name has too, and the
 * Dice coefficient of both sets of trigrams. The first counts 70 %, the second 30 %.
 */
export function similarityOf(query: string, name: string): number {
  const wanted = toTrigrams(query);
  const found = new Set(toTrigrams(name));
  const common = wanted.filter((trigram) => found.has(trigram)).length;
  if (common === 0) return 0;
  return (0.7 * common) / wanted.length + (0.3 * 2 * common) / (wanted.length + found.size);
}
