// Slugs: lower-case words joined by hyphens, derived from names in any script.

import anyAscii from 'any-ascii';

export const SLUG_LENGTH_MAX = 180;
/** This many characters of SLUG_LENGTH_MAX are reserved for the hyphen and the number that `toFreeSlug` may append. */
const NUMBER_LENGTH_MAX = 10;
/** A slug is made from this many characters of a name. The time of the normalisation grows with the square of the length. */
const NAME_LENGTH_READ = 1_000;
const FALLBACK = 'product';

/** The slug of a name. Letters of other scripts are transliterated. A name without letters and digits becomes `product`. */
export function toSlug(name: string): string {
  const words = anyAscii(name.slice(0, NAME_LENGTH_READ).normalize('NFKC'))
    .toLowerCase()
    .replaceAll(/['’]/g, '')
    .replaceAll(/[^a-z0-9]+/g, '-');
  const slug = words
    .replace(/^-+/, '')
    .slice(0, SLUG_LENGTH_MAX - NUMBER_LENGTH_MAX)
    .replace(/-+$/, '');
  return slug === '' ? FALLBACK : slug;
}

/** Returns the slug if it is not in `used`, otherwise the slug with the smallest unused number from 2 on. */
export function toFreeSlug(slug: string, used: ReadonlySet<string>): string {
  if (!used.has(slug)) return slug;
  let number = 2;
  while (used.has(`${slug}-${number}`)) number += 1;
  return `${slug}-${number}`;
}
