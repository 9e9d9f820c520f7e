// Image URLs come from outside and are opened by browsers, so only URLs of schemes that cannot run code are accepted and served.

/** The beginning of an accepted URL. Both letter cases are spelled out, because patterns of JSON Schema have no flags. */
export const IMAGE_URL_PATTERN =
  '^([hH][tT][tT][pP][sS]?://|[iI][pP][fF][sS]://|[aA][rR]://|[dD][aA][tT][aA]:[iI][mM][aA][gG][eE]/)';
const SERVABLE = new RegExp(IMAGE_URL_PATTERN);

/** The beginnings of the accepted URLs, for messages. */
export const IMAGE_URL_FORMS = 'http://, https://, ipfs://, ar:// or data:image/';

export function isImageUrl(url: string): boolean {
  return SERVABLE.test(url);
}

/** The longest image URL in a row of a list, in characters. A longer URL is an inline image (`data:`), and a list of them would have megabytes. */
export const LISTED_IMAGE_LENGTH_MAX = 8_192;

/** Null when the scheme of the URL is not http, https, ipfs, ar or data:image. */
export function toServedImage(url: string | null): string | null {
  return url !== null && isImageUrl(url) ? url : null;
}
