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

/** The longest image URL that a row of a list is read with, in characters. A longer URL is an inline image (`data:`), and a list of them would have megabytes. */
export const LISTED_IMAGE_LENGTH_MAX = 8_192;

/** What a list reads in place of a longer inline image. It is not the URL of an image, so it is not served. */
export const UNREAD_INLINE_IMAGE = 'data:image';

/** The largest inline image in a response of the explore interface. A larger one has a URL of its own. */
export const INLINE_IMAGE_BYTES_MAX = 2_048;

/** Whether an image that was read for a response is an inline image above INLINE_IMAGE_BYTES_MAX. */
export function isLargeInlineImage(image: string): boolean {
  if (image === UNREAD_INLINE_IMAGE) return true;
  return /^data:image\//i.test(image) && Buffer.byteLength(image) > INLINE_IMAGE_BYTES_MAX;
}

/** `type`: the media type, such as `image/png`. */
export type InlineImage = { type: string; bytes: Buffer };

/** The fields of a media type are tokens without a meaning for headers. The content begins after the first comma. */
const INLINE_IMAGE = /^data:(image\/[a-z0-9][a-z0-9.+-]{0,60})(;[^,]*)?,(.*)$/is;

/** Decodes an inline image as browsers do (https://fetch.spec.whatwg.org/#data-url-processor). Null if the URL is not an inline image. */
export function parseInlineImage(url: string): InlineImage | null {
  const [, type, parameters = '', content = ''] = INLINE_IMAGE.exec(url) ?? [];
  if (type === undefined) return null;
  const bytes = decodePercent(content);
  const isBase64 = /;\s*base64\s*$/i.test(parameters);
  return { type: type.toLowerCase(), bytes: isBase64 ? Buffer.from(bytes.toString('latin1'), 'base64') : bytes };
}

/** A percent sign without two hexadecimal digits stands for itself: drawings have `width='100%'`. */
function decodePercent(text: string): Buffer {
  const bytes = Buffer.from(text).toString('latin1');
  const decoded = bytes.replace(/%([0-9a-f]{2})/gi, (_all, digits: string) =>
    String.fromCharCode(parseInt(digits, 16)),
  );
  return Buffer.from(decoded, 'latin1');
}

/** Null when the scheme of the URL is not http, https, ipfs, ar or data:image. */
export function toServedImage(url: string | null): string | null {
  return url !== null && isImageUrl(url) ? url : null;
}
