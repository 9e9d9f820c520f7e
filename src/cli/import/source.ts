// Opens the files of an import, from disk or standard input, as UTF-8 text. Decompresses files and converts UTF-16.

import { accessSync, closeSync, constants, createReadStream, openSync, readSync, statSync } from 'node:fs';
import type { Duplex } from 'node:stream';
import { pipeline, Readable } from 'node:stream';
import { createGunzip, createZstdDecompress } from 'node:zlib';
import { describeError, OperatorError } from '../../platform/core/errors.ts';
import { peek } from '../../intake/peek.ts';
import { FORMAT_HEAD_SIZE, fromUtf16, recogniseFormat } from './file-formats.ts';
import type { ZipEntry } from './zip-entry.ts';
import { openZipEntry } from './zip-entry.ts';

/** An open file. Disposing of the source closes the file, even during a read. */
export type ImportSource = Disposable & {
  /** The name in messages. */
  name: string;
  /** The number of bytes that have been read, and the size of the file. `total` is null if the size is unknown, as for standard input. */
  position(): { done: number; total: number | null };
  chunks: AsyncIterable<Uint8Array>;
};

/** Throws OperatorError if the file cannot be read, is a directory, or has a format that `mercat import` does not read. */
export function requireReadable(file: string): void {
  try {
    accessSync(file, constants.R_OK);
  } catch (cause) {
    throw new OperatorError(`${file} cannot be read: ${describeError(cause)}`, { exitCode: 2 });
  }
  const stat = statSync(file);
  if (stat.isDirectory()) throw new OperatorError(`${file} is a directory`, { exitCode: 2 });
  // The first bytes of a pipe cannot be read twice. So the format of a pipe is not checked here.
  if (!stat.isFile()) return;
  try {
    recogniseFormat(readHead(file));
  } catch (error) {
    throw new OperatorError(`${file} ${describeError(error)}`, { exitCode: 2, cause: error });
  }
}

function readHead(file: string): Buffer {
  const head = Buffer.alloc(FORMAT_HEAD_SIZE);
  const descriptor = openSync(file, 'r');
  try {
    return head.subarray(0, readSync(descriptor, head));
  } finally {
    closeSync(descriptor);
  }
}

/** If the file is in UTF-16, `onNote` is called with a note before the first chunk. */
export function openSource(
  file: string,
  { stdin, onNote = () => undefined }: { stdin: Readable; onNote?: (note: string) => void },
): ImportSource {
  return file === '-'
    ? new StreamSource('stdin', stdin, onNote)
    : new StreamSource(file, createReadStream(file), onNote);
}

class StreamSource implements ImportSource {
  readonly name: string;
  readonly chunks: AsyncIterable<Uint8Array>;
  readonly #stream: Readable;
  readonly #onNote: (note: string) => void;
  #zip: ZipEntry | null = null;
  #done = 0;
  #total: number | null;

  constructor(name: string, stream: Readable, onNote: (note: string) => void) {
    this.name = name;
    this.#stream = stream;
    this.#onNote = onNote;
    const stat = name === 'stdin' ? null : statSync(name);
    this.#total = stat?.isFile() ? stat.size : null;
    this.chunks = this.#decode(this.#counted(stream));
  }

  position(): { done: number; total: number | null } {
    return { done: this.#done, total: this.#total };
  }

  [Symbol.dispose](): void {
    this.#stream.destroy();
    this.#zip?.[Symbol.dispose]();
  }

  async *#counted(stream: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    for await (const chunk of stream) {
      this.#done += chunk.length;
      yield chunk;
    }
  }

  /** Decompresses and unpacks the bytes until they are text, because compressions can be nested. */
  async *#decode(bytes: AsyncIterable<Uint8Array>, isUnpacked = false): AsyncGenerator<Uint8Array> {
    const { head, source } = await peek(bytes, ({ length }) => length >= FORMAT_HEAD_SIZE);
    const format = recogniseFormat(head);
    if (format === 'gzip') yield* this.#decode(decompress(source, createGunzip()), true);
    else if (format === 'zstd') yield* this.#decode(decompress(source, createZstdDecompress()), true);
    else if (format === 'zip') yield* this.#decode(await this.#openZip(isUnpacked), true);
    else if (format === 'text') yield* source;
    else {
      this.#onNote(`is in ${format.toUpperCase()}`);
      yield* fromUtf16(source, format);
    }
  }

  /** The directory of a zip archive is at the end of the archive. So the archive must be a file, not standard input or a part of another archive. */
  async #openZip(isUnpacked: boolean): Promise<AsyncIterable<Uint8Array>> {
    if (isUnpacked) throw new OperatorError('has a zip archive inside an archive; unpack the outer archive first');
    if (this.#total === null) {
      throw new OperatorError(
        'is a zip archive, which can be read from a file only; unzip it: unzip -p FILE | mercat import -',
      );
    }
    this.#stream.destroy();
    this.#zip = await openZipEntry(this.name);
    this.#done = 0;
    this.#total = this.#zip.size;
    return this.#counted(await this.#zip.open());
  }
}

function decompress(source: AsyncIterable<Uint8Array>, decompressor: Duplex): AsyncIterable<Uint8Array> {
  // The errors of both streams are thrown where the decompressor is read, so the callback does nothing.
  pipeline(Readable.from(source), decompressor, () => undefined);
  return decompressor as AsyncIterable<Uint8Array>;
}
