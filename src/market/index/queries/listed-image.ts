// Lists do not read large images from the database, because reading a hundred of them takes megabytes of memory for each request.

import { LISTED_IMAGE_LENGTH_MAX, UNREAD_INLINE_IMAGE } from '../../../platform/core/image-url.ts';

const BYTES_OF_CHARACTER_MAX = 4;

/**
 * A SQL expression for the image URL `image` in a row of a list. If the URL is longer than LISTED_IMAGE_LENGTH_MAX, it is UNREAD_INLINE_IMAGE for
 * an inline image, and null for any other URL. The size in bytes is compared first, because PostgreSQL knows it without reading the value. Of a
 * longer value, only the beginning is read.
 */
export const listedImageSql = (image: string) => {
  const unread = `case when lower(left(${image}, ${UNREAD_INLINE_IMAGE.length})) = '${UNREAD_INLINE_IMAGE}' then '${UNREAD_INLINE_IMAGE}' end`;
  return `case when octet_length(${image}) > ${BYTES_OF_CHARACTER_MAX * LISTED_IMAGE_LENGTH_MAX} then ${unread}
     else case when length(${image}) > ${LISTED_IMAGE_LENGTH_MAX} then ${unread} else ${image} end end`;
};
