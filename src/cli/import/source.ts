// The files of an import, from disk or standard input. Gzip is decompressed. Progress counts the bytes before decompression.

import { accessSync, constants, createReadStream, statSync } from 'node:fs';
import { pipeline, Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { describeError, OperatorError } from '../../core/errors.ts';

/** An open file. Disposing of it closes the file, even during a read. */
export type ImportSource = Disposable & {
  /** The name in messages. */
  name: string;
  /** The size of the file in bytes, before decompression. Null when it is unknown, as for standard input. */
  size: number | null;
  /** How many bytes of the file have been read, before decompression. */
  bytesRead(): number;
  chunks: AsyncIterable<Uint8Array>;
};

const GZIP_MAGIC = Buffer.from([0x1f, 0x8b]);

/** Throws OperatorError when the file cannot be read, or is a directory. */
export function requireReadable(file: string): void {
  try {
    accessSync(file, constants.R_OK);
  } catch (cause) {
    throw new OperatorError(`${file} cannot be read: ${describeError(cause)}`, { exitCode: 2 });
  }
  if (statSync(file).isDirectory()) throw new OperatorError(`${file} is a directory`, { exitCode: 2 });
}

export function openSource(file: string, io: { stdin: Readable }): ImportSource {
  const stream = file === '-' ? io.stdin : createReadStream(file);
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
    [Symbol.dispose]: () => void stream.destroy(),
  };
}

/** Decompresses gzip, and passes other bytes on. The first two bytes of gzip cannot begin a JSON or CSV text in UTF-8. */
async function* decompress(source: AsyncGenerator<Uint8Array>): AsyncGenerator<Uint8Array> {
  let head = Buffer.alloc(0);
  while (head.length < GZIP_MAGIC.length) {
    const next = await source.next();
    if (next.done) break;
    head = Buffer.concat([head, next.value]);
  }
  async function* complete(): AsyncGenerator<Uint8Array> {
    yield head;
    yield* source;
  }
  if (!head.subarray(0, GZIP_MAGIC.length).equals(GZIP_MAGIC)) {
    yield* complete();
    return;
  }
  const gunzip = createGunzip();
  // Reading `gunzip` below throws the errors of both streams, so the callback needs to do nothing.
  pipeline(Readable.from(complete()), gunzip, () => undefined);
  yield* gunzip as AsyncIterable<Uint8Array>;
}
