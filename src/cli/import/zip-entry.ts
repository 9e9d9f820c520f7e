// Reads the file in a zip archive that contains exactly one file.

import type { Readable } from 'node:stream';
import type { Entry, ZipFile } from 'yauzl';
import { describeError, OperatorError } from '../../platform/core/errors.ts';

const NAMES_MAX = 10;

/** The only file of an archive. Disposing of the entry closes the archive. */
export type ZipEntry = Disposable & { name: string; size: number; open: () => Promise<Readable> };

/**
 * Throws an OperatorError if the archive is damaged, is a workbook, or does not have exactly one file. The caller puts the name of the archive
 * before the message.
 */
export async function openZipEntry(path: string): Promise<ZipEntry> {
  const { openPromise } = await import('yauzl');
  const archive = await openPromise(path, { autoClose: false }).catch(rejectDamaged);
  try {
    const entry = await findOnlyEntry(archive);
    return {
      name: entry.fileName,
      size: entry.uncompressedSize,
      open: () => archive.openReadStreamPromise(entry).catch(rejectDamaged),
      [Symbol.dispose]: () => archive.close(),
    };
  } catch (error) {
    archive.close();
    throw error;
  }
}

async function findOnlyEntry(archive: ZipFile): Promise<Entry> {
  const entries: Entry[] = [];
  try {
    for await (const entry of archive.eachEntry()) {
      if (entry.fileName === 'xl/workbook.xml') throw new OperatorError(WORKBOOK);
      if (!isIgnored(entry.fileName)) entries.push(entry);
    }
  } catch (error) {
    if (error instanceof OperatorError) throw error;
    return rejectDamaged(error);
  }
  const [only, other] = entries;
  if (only && !other) return only;
  if (!only) throw new OperatorError('is a zip archive without files');
  const names = entries.slice(0, NAMES_MAX).map(({ fileName }) => fileName);
  const more = entries.length > NAMES_MAX ? ', …' : '';
  throw new OperatorError(
    `is a zip archive of ${entries.length} files (${names.join(', ')}${more}); unzip it, and import the files by name`,
  );
}

const WORKBOOK =
  'is an Excel workbook; save its sheet as CSV in UTF-8, or convert it: libreoffice --convert-to csv:"Text - txt - csv (StarCalc)":44,34,76 FILE';

/** Whether the entry is a directory or a file that macOS adds. */
function isIgnored(name: string): boolean {
  return name.endsWith('/') || name.startsWith('__MACOSX/') || name.endsWith('.DS_Store');
}

function rejectDamaged(error: unknown): never {
  throw new OperatorError(`is a zip archive that cannot be read: ${describeError(error)}`, { cause: error });
}
