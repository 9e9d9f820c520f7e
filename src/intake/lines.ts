// Splits a stream of bytes into records: lines, or for CSV the rows of a file whose quoted cells may hold line breaks.
// Bytes that are not UTF-8 spoil one record, not its neighbours, and no more than one record is ever held.

import { isUtf8 } from 'node:buffer';

/** One record: its text without the line end, or why there is none. `number` is the line of the file that it begins on. */
export type Line = { number: number; text: string } | { number: number; text: null; reason: string };

/** The most bytes of one record. */
export const LINE_SIZE_MAX = 1024 * 1024;

/** Work is done on pieces of this many bytes, however large the chunks that come in. */
const PIECE_SIZE_MAX = 64 * 1024;

const LF = 0x0a;
const CR = 0x0d;
const QUOTE = 0x22;
const COMMA = 0x2c;
const BOM = Buffer.from('\u{feff}');
const OVERSIZE = `longer than ${LINE_SIZE_MAX} bytes`;

export type LineOptions = {
  /** Line breaks inside double quotes do not end a record. */
  quoted?: boolean;
};

/** The records of a source, those of one piece at a time. Blank ones are left out, and a byte-order mark in front. */
export async function* splitLines(
  source: AsyncIterable<Uint8Array>,
  { quoted = false }: LineOptions = {},
): AsyncGenerator<Line[]> {
  const splitter = quoted
    ? createSplitter(createQuotedSearch(), `${OVERSIZE}: is a quote not closed?`)
    : createSplitter(findLineEnd, OVERSIZE);
  for await (const chunk of source) {
    for (let at = 0; at < chunk.length; at += PIECE_SIZE_MAX) {
      const lines = splitter.push(toBuffer(chunk.subarray(at, at + PIECE_SIZE_MAX)));
      if (lines.length > 0) yield lines;
    }
  }
  const last = splitter.end();
  if (last.length > 0) yield last;
}

/** The offset of the next line break that ends a record, from `from` on, or -1 when the piece has none. */
type Search = (piece: Buffer, from: number, restart: boolean) => number;

function createSplitter(findEnd: Search, oversize: string) {
  /** What has come of the record that the last piece broke off in; null while it is being skipped for its size. */
  let held: Buffer[] | null = [];
  let heldSize = 0;
  let number = 1;

  const skip = (rest: Buffer, lines: Line[]) => {
    lines.push({ number, text: null, reason: oversize });
    for (const part of [...(held ?? []), rest]) number += countLineEnds(part);
    held = null;
    heldSize = 0;
  };

  /** Ends a record with the given bytes. */
  const finish = (tail: Buffer, lines: Line[]) => {
    if (held !== null && heldSize + tail.length > LINE_SIZE_MAX) skip(tail, lines);
    if (held !== null) {
      const bytes = held.length === 0 ? tail : Buffer.concat([...held, tail]);
      const line = toLine(bytes, number);
      if (line) lines.push(line);
      number += countLineEnds(bytes);
    }
    number += 1;
    held = [];
    heldSize = 0;
  };

  return {
    push(piece: Buffer): Line[] {
      const lines: Line[] = [];
      let start = 0;
      for (;;) {
        // A record that is being skipped ends at the next line break, quoted or not: its quotes are not to be trusted.
        const end = held === null ? piece.indexOf(LF, start) : findEnd(piece, start, held.length === 0);
        const fits = start + LINE_SIZE_MAX - heldSize;
        if (end >= 0) {
          finish(piece.subarray(start, end), lines);
          start = end + 1;
        } else if (held !== null && fits < piece.length) {
          skip(piece.subarray(start, fits), lines);
          start = fits;
        } else break;
      }
      const rest = piece.subarray(start);
      if (held !== null && rest.length > 0) {
        // Copied, because the source may use its chunk again.
        held.push(Buffer.from(rest));
        heldSize += rest.length;
      }
      return lines;
    },
    end(): Line[] {
      const lines: Line[] = [];
      if (heldSize > 0) finish(Buffer.alloc(0), lines);
      return lines;
    },
  };
}

function findLineEnd(piece: Buffer, from: number): number {
  return piece.indexOf(LF, from);
}

/** A search that remembers between pieces whether it is inside quotes. Only a quote that opens a cell opens quotes. */
function createQuotedSearch(): Search {
  let state: 'cell start' | 'bare' | 'quoted' | 'quote in quoted' = 'cell start';
  return (piece, from, restart) => {
    if (restart) state = 'cell start';
    for (let at = from; at < piece.length; at += 1) {
      const byte = piece[at];
      if (state === 'quoted') {
        if (byte === QUOTE) state = 'quote in quoted';
      } else if (byte === LF) {
        state = 'cell start';
        return at;
      } else if (byte === COMMA) {
        state = 'cell start';
      } else if (byte === QUOTE && state !== 'bare') {
        state = 'quoted';
      } else {
        state = 'bare';
      }
    }
    return -1;
  };
}

/** The record of these bytes, or null when it is blank. */
function toLine(bytes: Buffer, number: number): Line | null {
  let end = bytes.length;
  if (end > 0 && bytes[end - 1] === CR) end -= 1;
  const start = number === 1 && bytes.subarray(0, BOM.length).equals(BOM) ? BOM.length : 0;
  const content = bytes.subarray(start, end);
  if (!isUtf8(content)) return { number, text: null, reason: 'not UTF-8' };
  const text = content.toString('utf8');
  return text.trim() === '' ? null : { number, text };
}

function countLineEnds(bytes: Buffer): number {
  let count = 0;
  for (let at = bytes.indexOf(LF); at >= 0; at = bytes.indexOf(LF, at + 1)) count += 1;
  return count;
}

function toBuffer(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
