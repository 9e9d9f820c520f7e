// Slugs: lower-case words joined by hyphens, made from names in any script.

import anyAscii from 'any-ascii';

export const SLUG_LENGTH_MAX = 180;
/** Room that is left for the number of a clash. */
const SUFFIX_LENGTH_MAX = 10;
const FALLBACK = 'product';

/** A slug of a name: letters of other scripts are transliterated, and a name without any letter still gets one. */
export function toSlug(name: string): string {
  const words = anyAscii(name.normalize('NFKC'))
    .toLowerCase()
    .replaceAll(/['’]/g, '')
    .replaceAll(/[^a-z0-9]+/g, '-');
  const slug = words
    .replace(/^-+/, '')
    .slice(0, SLUG_LENGTH_MAX - SUFFIX_LENGTH_MAX)
    .replace(/-+$/, '');
  return slug === '' ? FALLBACK : slug;
}

/** The slug, or with the smallest number from 2 up that makes it one that is not taken. */
export function toFreeSlug(slug: string, taken: ReadonlySet<string>): string {
  if (!taken.has(slug)) return slug;
  let number = 2;
  while (taken.has(`${slug}-${number}`)) number += 1;
  return `${slug}-${number}`;
}
