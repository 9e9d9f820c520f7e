// A body of a few hundred kilobytes that unfolds to a quarter of a gigabyte.

import { gzipSync } from 'node:zlib';

const PART_BYTES = 2 ** 20;
const PARTS = 256;

let bytes: Buffer | null = null;

/**
 * Of many gzip members, so that making it takes neither time that others wait for, nor memory that a test would take for
 * held.
 */
export function gzipBomb(): Buffer {
  if (bytes) return bytes;
  const part = gzipSync(Buffer.alloc(PART_BYTES, ' '), { level: 1 });
  bytes = Buffer.concat(Array.from({ length: PARTS }, () => part));
  return bytes;
}
