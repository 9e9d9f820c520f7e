// Writes, checks and reads the file of a backup. The file has a zstd frame with the content, and then a skippable zstd frame with the
// SHA-256 of all bytes before the hash. The file gets its final name when it is complete. Without `force`, an existing file of this name is
// an error. Exception: on a file system without hard links, the backup replaces a file that another program has given this name meanwhile.

import type { Hash } from 'node:crypto';
import { createHash, randomBytes } from 'node:crypto';
import type { ReadStream } from 'node:fs';
import { createReadStream, statSync } from 'node:fs';
import { link, open, rename, rm, stat } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import path from 'node:path';
import { pipeline } from 'node:stream/promises';
import { Readable } from 'node:stream';
import { constants, createZstdCompress, createZstdDecompress } from 'node:zlib';
import { OperatorError, describeError } from '../../core/errors.ts';

/** Only the owner may read the file, because a backup holds secrets. */
const FILE_MODE = 0o600;
const ZSTD_MAGIC = Buffer.from('28b52ffd', 'hex');
/** The magic number of a skippable frame and its content size, 32 (RFC 8878, 3.1.2). */
const TAIL_HEAD = Buffer.from('5b2a4d1820000000', 'hex');
const DIGEST_BYTES = 32;
const TAIL_BYTES = TAIL_HEAD.length + DIGEST_BYTES;
/** The largest number of text chunks that wait for the compressor. */
const CHUNKS_AHEAD = 4;
const READ_BYTES = 256 * 1024;
/** Errors of file systems without hard links. */
const NO_LINKS = new Set(['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK']);

/** `file` is an absolute path. With `force`, an existing file is replaced after the new file is complete. */
export type BackupTarget = { file: string; force: boolean };

/** The file is truncated, was altered, or is not a backup. */
export class DamagedBackup extends OperatorError {}

type Fill = (write: (chunks: AsyncIterable<string>) => Promise<void>) => Promise<void>;
type WriteOptions = { signal: AbortSignal; onBytes: (bytes: number) => void };

/** Writes the content that `fill` provides, and returns the size in bytes. After a failure, removes the incomplete file. */
export async function writeBackupFile(target: BackupTarget, options: WriteOptions, fill: Fill): Promise<number> {
  await checkTarget(target);
  const draft = `${target.file}.part-${process.pid}-${randomBytes(4).toString('hex')}`;
  const handle = await describing(target.file, open(draft, 'wx', FILE_MODE));
  try {
    let bytes = 0;
    try {
      await fill(async (chunks) => {
        bytes = await compressInto(handle, target.file, chunks, options);
      });
      options.signal.throwIfAborted();
      await describing(target.file, handle.sync());
    } finally {
      await handle.close();
    }
    await publish(draft, target);
    return bytes;
  } catch (error) {
    await rm(draft, { force: true });
    throw error;
  }
}

async function checkTarget({ file, force }: BackupTarget): Promise<void> {
  const found = await stat(file).catch((error: unknown) => {
    if ((error as { code?: string }).code === 'ENOENT') return null;
    throw notWritten(file, error);
  });
  if (found && !found.isFile()) throw new OperatorError(`${file} is not a file`);
  if (found && !force) throw exists(file);
}

async function compressInto(
  handle: FileHandle,
  file: string,
  chunks: AsyncIterable<string>,
  { signal, onBytes }: WriteOptions,
): Promise<number> {
  const digest = createHash('sha256');
  let bytes = 0;
  const write = async (chunk: Uint8Array) => {
    await describing(file, handle.writeFile(chunk));
    bytes += chunk.length;
    onBytes(bytes);
  };
  const source = Readable.from(chunks, { highWaterMark: CHUNKS_AHEAD });
  const compressor = createZstdCompress({ params: { [constants.ZSTD_c_checksumFlag]: 1 } });
  const sink = async (compressed: AsyncIterable<Buffer>) => {
    for await (const chunk of compressed) {
      digest.update(chunk);
      await write(chunk);
    }
  };
  await pipeline(source, compressor, sink, { signal });
  digest.update(TAIL_HEAD);
  await write(Buffer.concat([TAIL_HEAD, digest.digest()]));
  return bytes;
}

/**
 * Gives the draft its final name: with `force` by a rename, otherwise by a hard link. A hard link cannot be made if a file of that name has
 * appeared meanwhile. A rename would replace that file.
 */
async function publish(draft: string, { file, force }: BackupTarget): Promise<void> {
  try {
    if (force) await rename(draft, file);
    else await linkOrRename(draft, file);
  } catch (error) {
    throw (error as { code?: string }).code === 'EEXIST' ? exists(file) : notWritten(file, error);
  }
  if (process.platform === 'win32') return;
  const directory = await open(path.dirname(file), 'r');
  try {
    await directory.sync();
  } finally {
    await directory.close();
  }
}

async function linkOrRename(draft: string, file: string): Promise<void> {
  try {
    await link(draft, file);
  } catch (error) {
    if (!NO_LINKS.has((error as { code?: string }).code ?? '')) throw error;
    await rename(draft, file);
    return;
  }
  await rm(draft);
}

async function describing<T>(file: string, work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    throw notWritten(file, error);
  }
}

function notWritten(file: string, error: unknown): OperatorError {
  const reason = (error as { code?: string }).code === 'ENOSPC' ? 'the disk is full' : describeError(error);
  return new OperatorError(`${file} cannot be written: ${reason}`, { cause: error });
}

function exists(file: string): OperatorError {
  return new OperatorError(`${file} exists: choose another name, or replace it with --force`);
}

/** The size of a file. Throws if the file is missing or is not a regular file. */
export function checkBackupFile(file: string): number {
  try {
    const found = statSync(file);
    if (found.isFile()) return found.size;
  } catch (error) {
    throw new OperatorError(`${file} cannot be read: ${describeError(error)}`, { exitCode: 2, cause: error });
  }
  throw new OperatorError(`${file} is not a file`, { exitCode: 2 });
}

type ReadOptions = { signal: AbortSignal; onBytes?: (bytes: number) => void };

/** Throws DamagedBackup if the SHA-256 in the file does not match its content. The content is neither decompressed nor parsed. */
export async function checkIntact(file: string, { signal }: ReadOptions): Promise<void> {
  const digest = createHash('sha256');
  for await (const chunk of openContent(file, await checkEnds(file))) {
    signal.throwIfAborted();
    digest.update(chunk);
  }
  await checkDigest(file, digest);
}

/** Yields the decompressed content. Throws DamagedBackup if the file is not intact, possibly only after the last chunk. */
export async function* readBackupFile(file: string, { signal, onBytes }: ReadOptions): AsyncGenerator<Buffer> {
  const digest = createHash('sha256');
  const source = openContent(file, await checkEnds(file));
  let bytes = 0;
  const counted = async function* (chunks: AsyncIterable<Buffer>) {
    for await (const chunk of chunks) {
      digest.update(chunk);
      bytes += chunk.length;
      onBytes?.(bytes);
      yield chunk;
    }
  };
  const decompressor = createZstdDecompress();
  // After a failure the pipeline destroys the decompressor. `yield*` below then throws the error.
  pipeline(source, counted, decompressor, { signal }).catch(() => undefined);
  try {
    yield* decompressor as AsyncIterable<Buffer>;
  } catch (error) {
    signal.throwIfAborted();
    throw damaged(file, error);
  }
  await checkDigest(file, digest);
}

function openContent(file: string, bytes: number): ReadStream {
  return createReadStream(file, { end: bytes - 1, highWaterMark: READ_BYTES });
}

async function checkDigest(file: string, digest: Hash): Promise<void> {
  const size = checkBackupFile(file);
  const tail = await readAt(file, size - TAIL_BYTES, TAIL_BYTES);
  if (!tail.equals(Buffer.concat([TAIL_HEAD, digest.update(TAIL_HEAD).digest()]))) throw damaged(file);
}

export function damaged(file: string, cause?: unknown): DamagedBackup {
  return new DamagedBackup(`${file} was cut off or altered after it was written: nothing of it was restored`, {
    cause,
  });
}

/** Checks the first bytes of the file and the head of its tail. Returns the number of bytes before the tail. */
async function checkEnds(file: string): Promise<number> {
  const size = checkBackupFile(file);
  const head = await readAt(file, 0, ZSTD_MAGIC.length);
  if (!head.equals(ZSTD_MAGIC)) throw new DamagedBackup(`${file} is no backup of mercat`);
  const tailStart = size - TAIL_BYTES;
  if (tailStart <= ZSTD_MAGIC.length) throw damaged(file);
  if (!(await readAt(file, tailStart, TAIL_HEAD.length)).equals(TAIL_HEAD)) throw damaged(file);
  return tailStart;
}

async function readAt(file: string, position: number, length: number): Promise<Buffer> {
  const handle = await open(file, 'r').catch((error: unknown) => {
    throw new OperatorError(`${file} cannot be read: ${describeError(error)}`, { cause: error });
  });
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(length), 0, length, position);
    return buffer.subarray(0, bytesRead);
  } finally {
    await handle.close();
  }
}
