// Lists do not read large images from the database, because reading a hundred of them takes megabytes of memory for each request.

import { LISTED_IMAGE_LENGTH_MAX } from '../../../platform/core/image-url.ts';

const BYTES_OF_CHARACTER_MAX = 4;

/**
 * A SQL expression for the image URL `image` in a row of a list: null if the URL is longer than LISTED_IMAGE_LENGTH_MAX. The size in bytes is compared
 * first, because PostgreSQL knows it without reading the value.
 */
export const listedImageSql = (image: string) =>
  `case when octet_length(${image}) <= ${BYTES_OF_CHARACTER_MAX * LISTED_IMAGE_LENGTH_MAX}
     then case when length(${image}) <= ${LISTED_IMAGE_LENGTH_MAX} then ${image} end end`;
