// Makes a body of a few hundred kilobytes that decompresses to a quarter of a gigabyte.

import { gzipSync } from 'node:zlib';

const PART_BYTES = 2 ** 20;
const PARTS = 256;

let bytes: Buffer | null = null;

/**
 * The body repeats one compressed gzip member many times. So the body is made fast, and hardly adds to the memory that a test
 * measures.
 */
export function gzipBomb(): Buffer {
  if (bytes) return bytes;
  const part = gzipSync(Buffer.alloc(PART_BYTES, ' '), { level: 1 });
  bytes = Buffer.concat(Array.from({ length: PARTS }, () => part));
  return bytes;
}
