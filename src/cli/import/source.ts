// The files that `mercat import` reads: from disk or standard input, decompressed where they are gzip, with the bytes
// counted as they come from the disk.

import { accessSync, constants, createReadStream, statSync } from 'node:fs';
import { pipeline, Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { describeError, OperatorError } from '../../core/errors.ts';

export type ImportSource = {
  /** As it is named in messages. */
  name: string;
  /** Bytes in the file, or null where that is not known. */
  size: number | null;
  bytesRead(): number;
  chunks: AsyncIterable<Uint8Array>;
  /** Lets go of the file, even in the middle of a read. */
  close(): void;
};

const GZIP_MAGIC = Buffer.from([0x1f, 0x8b]);

/** Refuses a file that cannot be read, before anything else is done. */
export function checkReadable(file: string): void {
  try {
    accessSync(file, constants.R_OK);
  } catch (cause) {
    throw new OperatorError(`${file} cannot be read: ${describeError(cause)}`, { exitCode: 2 });
  }
  if (statSync(file).isDirectory()) throw new OperatorError(`${file} is a directory`, { exitCode: 2 });
}

export function openSource(file: string, stdin: Readable): ImportSource {
  const stream = file === '-' ? stdin : createReadStream(file);
  const stat = file === '-' ? null : statSync(file);
  let bytes = 0;
  async function* counted(): AsyncGenerator<Uint8Array> {
    for await (const chunk of stream as AsyncIterable<Uint8Array>) {
      bytes += chunk.length;
      yield chunk;
    }
  }
  return {
    name: file === '-' ? 'stdin' : file,
    size: stat?.isFile() ? stat.size : null,
    bytesRead: () => bytes,
    chunks: decompress(counted()),
    close: () => stream.destroy(),
  };
}

/** Gzip is known by its first bytes, which neither JSON nor CSV text can begin with. */
async function* decompress(source: AsyncGenerator<Uint8Array>): AsyncGenerator<Uint8Array> {
  let head = Buffer.alloc(0);
  while (head.length < GZIP_MAGIC.length) {
    const next = await source.next();
    if (next.done) break;
    head = Buffer.concat([head, next.value]);
  }
  async function* whole(): AsyncGenerator<Uint8Array> {
    yield head;
    yield* source;
  }
  if (!head.subarray(0, GZIP_MAGIC.length).equals(GZIP_MAGIC)) {
    yield* whole();
    return;
  }
  const gunzip = createGunzip();
  // An error of either end reaches the loop below through the last stream.
  pipeline(Readable.from(whole()), gunzip, () => undefined);
  yield* gunzip as AsyncIterable<Uint8Array>;
}
