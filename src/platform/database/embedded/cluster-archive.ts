// Packs the files of a new PostgreSQL cluster into one file, and unpacks this file. The first start of a database unpacks it instead of
// running initdb, which takes seconds and 600 MB of memory.

import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { constants, zstdCompressSync, zstdDecompressSync } from 'node:zlib';

/** `npm run generate` writes this file. */
export const NEW_CLUSTER = new URL('./new-cluster.zst', import.meta.url);

/** The packed file begins with this table as one line of JSON. The contents of the files follow. */
type Table = {
  /** The version of PGlite that made the cluster. */
  pglite: string;
  directories: string[];
  files: PackedFile[];
};

/** The content is `length` bytes at `offset`, followed by zeros up to `size` bytes. Files with equal content share these bytes. */
type PackedFile = { name: string; size: number; offset: number; length: number };

const COMPRESSION_LEVEL = 19;
const NEWLINE = 10;

/** Creates the files of the packed cluster in the empty directory `dir`. Throws if `packed` is damaged. */
export function unpackCluster(packed: Uint8Array, dir: string): void {
  const { table, contents } = readPacked(packed);
  for (const name of table.directories) mkdirSync(path.join(dir, name));
  for (const { name, size, offset, length } of table.files) {
    const content = Buffer.alloc(size);
    contents.copy(content, 0, offset, offset + length);
    writeFileSync(path.join(dir, name), content);
  }
}

/** The version of PGlite that made the packed cluster. */
export function pgliteVersionOf(packed: Uint8Array): string {
  return readPacked(packed).table.pglite;
}

/** Packs the cluster in `dir`, which must have been shut down. */
export function packCluster(dir: string, pglite: string): Buffer {
  const entries = readdirSync(dir, { recursive: true, withFileTypes: true })
    .map((entry) => ({ name: path.relative(dir, path.join(entry.parentPath, entry.name)), entry }))
    .toSorted((a, b) => (a.name < b.name ? -1 : 1));
  const table: Table = { pglite, directories: [], files: [] };
  const parts: Buffer[] = [];
  const offsets = new Map<string, number>();
  let end = 0;
  for (const { name, entry } of entries) {
    if (entry.isDirectory()) {
      table.directories.push(name);
      continue;
    }
    const content = readFileSync(path.join(dir, name));
    const used = content.subarray(0, content.findLastIndex((byte) => byte !== 0) + 1);
    const digest = createHash('sha256').update(used).digest('hex');
    const offset = offsets.get(digest) ?? end;
    table.files.push({ name, size: content.length, offset, length: used.length });
    if (offsets.has(digest)) continue;
    offsets.set(digest, offset);
    parts.push(used);
    end += used.length;
  }
  const text = Buffer.concat([Buffer.from(`${JSON.stringify(table)}\n`), ...parts]);
  // The checksum makes the unpacking of a damaged file fail. Without it, the new database could be damaged.
  return zstdCompressSync(text, {
    params: { [constants.ZSTD_c_compressionLevel]: COMPRESSION_LEVEL, [constants.ZSTD_c_checksumFlag]: 1 },
  });
}

function readPacked(packed: Uint8Array): { table: Table; contents: Buffer } {
  const text = decompress(packed);
  const end = text.indexOf(NEWLINE);
  // The table is not checked, because only packCluster writes it.
  const table = JSON.parse(text.toString('utf8', 0, end)) as Table;
  return { table, contents: text.subarray(end + 1) };
}

function decompress(packed: Uint8Array): Buffer {
  try {
    return zstdDecompressSync(packed);
  } catch (error) {
    throw new Error('new-cluster.zst, from which a new embedded database is made, is damaged: install Mercat again', {
      cause: error,
    });
  }
}
