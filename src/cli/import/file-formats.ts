// Recognises the format of a file by its first bytes. For a format that `mercat import` does not read, the message says how to
// convert the file.

import { OperatorError } from '../../platform/core/errors.ts';

/** The formats that `mercat import` reads. `text` is UTF-8. */
export type FileFormat = 'text' | 'gzip' | 'zstd' | 'zip' | 'utf-16le' | 'utf-16be';

/** The number of bytes at the beginning of a file that are enough to recognise its format. */
export const FORMAT_HEAD_SIZE = 512;

const READABLE: readonly (readonly [format: FileFormat, magic: readonly number[]])[] = [
  ['gzip', [0x1f, 0x8b]],
  ['zstd', [0x28, 0xb5, 0x2f, 0xfd]],
  ['zip', [0x50, 0x4b, 0x03, 0x04]],
  ['zip', [0x50, 0x4b, 0x05, 0x06]],
  ['utf-16le', [0xff, 0xfe]],
  ['utf-16be', [0xfe, 0xff]],
];

type UnreadableFormat = { name: string; magic: string | readonly number[]; at?: number; convert: string };

const UNREADABLE: readonly UnreadableFormat[] = [
  { name: 'a bzip2 file', magic: 'BZh91AY&SY', convert: 'bzip2 -dc FILE | mercat import -' },
  { name: 'an xz file', magic: [0xfd, 0x37, 0x7a, 0x58, 0x5a, 0x00], convert: 'xz -dc FILE | mercat import -' },
  { name: 'an lz4 file', magic: [0x04, 0x22, 0x4d, 0x18], convert: 'lz4 -dc FILE | mercat import -' },
  { name: 'a 7-Zip archive', magic: [0x37, 0x7a, 0xbc, 0xaf, 0x27, 0x1c], convert: '7z x FILE' },
  { name: 'a RAR archive', magic: 'Rar!', convert: 'unrar x FILE' },
  { name: 'a tar archive', magic: 'ustar', at: 257, convert: 'tar -xf FILE' },
  {
    name: 'a text file in UTF-32',
    magic: [0xff, 0xfe, 0x00, 0x00],
    convert: 'iconv -f UTF-32 -t UTF-8 FILE > FILE.utf8',
  },
  {
    name: 'a text file in UTF-32',
    magic: [0x00, 0x00, 0xfe, 0xff],
    convert: 'iconv -f UTF-32 -t UTF-8 FILE > FILE.utf8',
  },
  {
    name: 'an Excel workbook in the format .xls',
    magic: [0xd0, 0xcf, 0x11, 0xe0],
    convert: 'libreoffice --convert-to csv FILE',
  },
  { name: 'a Parquet file', magic: 'PAR1', convert: `duckdb -c "copy (from 'FILE') to 'FILE.csv' (header)"` },
  {
    name: 'an SQLite database',
    magic: 'SQLite format 3',
    convert: 'export one of its tables as CSV',
  },
  { name: 'a PDF document', magic: '%PDF-', convert: 'export its data as CSV' },
];

/** Throws an OperatorError for a format that `mercat import` does not read. The message says how to convert the file. */
export function recogniseFormat(head: Buffer): FileFormat {
  const unreadable = UNREADABLE.find(({ magic, at = 0 }) => hasMagic(head, magic, at));
  if (unreadable) throw new OperatorError(`is ${unreadable.name}; convert it: ${unreadable.convert}`);
  const found = READABLE.find(([, magic]) => hasMagic(head, magic));
  return found ? found[0] : (recogniseUnmarkedUtf16(head) ?? 'text');
}

function hasMagic(head: Buffer, magic: string | readonly number[], at = 0): boolean {
  const bytes = Buffer.from(magic as string);
  return head.subarray(at, at + bytes.length).equals(bytes);
}

/** Recognises UTF-16 without a byte-order mark: every second byte of ASCII text is zero, and files to import begin with ASCII characters. */
function recogniseUnmarkedUtf16(head: Buffer): FileFormat | null {
  const [first, second, third, fourth] = head;
  if (first === undefined || second === undefined) return null;
  const isZero = (byte: number | undefined) => byte === 0 || byte === undefined;
  if (first !== 0 && second === 0 && third !== 0 && isZero(fourth)) return 'utf-16le';
  return first === 0 && second !== 0 && isZero(third) && fourth !== 0 ? 'utf-16be' : null;
}

/** Yields the text in UTF-8, without a byte-order mark. Throws an OperatorError for bytes that are not UTF-16. */
export async function* fromUtf16(
  source: AsyncIterable<Uint8Array>,
  encoding: 'utf-16le' | 'utf-16be',
): AsyncGenerator<Uint8Array> {
  const decoder = new TextDecoder(encoding, { fatal: true });
  const decode = (chunk?: Uint8Array) => {
    try {
      return Buffer.from(decoder.decode(chunk, { stream: chunk !== undefined }));
    } catch (cause) {
      throw new OperatorError(`the file is not valid ${encoding.toUpperCase()}`, { cause });
    }
  };
  for await (const chunk of source) yield decode(chunk);
  yield decode();
}
