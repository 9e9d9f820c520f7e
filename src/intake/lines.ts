// Splits a stream of bytes into lines or, for CSV, into rows whose quoted cells may contain line breaks. Bytes that are not UTF-8
// invalidate only their own line. Between two chunks, at most one incomplete line is held in memory.

import { isUtf8 } from 'node:buffer';

/** The text of a line without its line end, or the reason why the line is rejected. `number` is the line of the file on which it begins, from 1. */
export type Line = { number: number; text: string } | { number: number; text: null; reason: string };

/** The longest line that is accepted, in bytes. */
export const LINE_SIZE_MAX = 1024 * 1024;

/** Chunks are processed in pieces of at most this many bytes, so that few lines are held at once even if a chunk is large. */
const PIECE_SIZE_MAX = 64 * 1024;

const LF = 0x0a;
const CR = 0x0d;
const QUOTE = 0x22;
const COMMA = 0x2c;
const BOM = Buffer.from('\u{feff}');
const OVERSIZE = `longer than ${LINE_SIZE_MAX} bytes`;

export type LineOptions = {
  /** Line breaks inside double quotes do not end a line. */
  quoted?: boolean;
};

/** Yields the lines of a source, in one group for each piece. Leaves out blank lines, and a byte-order mark at the start. */
export async function* splitLines(
  source: AsyncIterable<Uint8Array>,
  { quoted = false }: LineOptions = {},
): AsyncGenerator<Line[]> {
  const splitter = quoted
    ? new LineSplitter(new QuotedLineEnds(), `${OVERSIZE}: check that every quote is closed`)
    : new LineSplitter(PLAIN_LINE_ENDS, OVERSIZE);
  for await (const chunk of source) {
    for (let start = 0; start < chunk.length; start += PIECE_SIZE_MAX) {
      const lines = splitter.push(toBuffer(chunk.subarray(start, start + PIECE_SIZE_MAX)));
      if (lines.length > 0) yield lines;
    }
  }
  const last = splitter.end();
  if (last.length > 0) yield last;
}

/** Finds the line break that ends a line. */
type LineEnds = {
  /** Returns the offset of the first line end at or after `from`, or -1 when there is none. `isNewLine`: a line begins at `from`. */
  find(piece: Buffer, from: number, isNewLine: boolean): number;
};

/** Splits the pieces of a stream into lines, and joins the parts of a line that begins in one piece and ends in another. */
class LineSplitter {
  readonly #lineEnds: LineEnds;
  readonly #oversize: string;
  /** The beginning of a line that continues in the next piece. Null while the rest of an oversized line is skipped. */
  #held: Buffer[] | null = [];
  #heldSize = 0;
  #number = 1;

  /** `oversize`: the reason with which a line that is too long is rejected. */
  constructor(lineEnds: LineEnds, oversize: string) {
    this.#lineEnds = lineEnds;
    this.#oversize = oversize;
  }

  /** Returns the lines that end in this piece. */
  push(piece: Buffer): Line[] {
    const lines: Line[] = [];
    let start = 0;
    for (;;) {
      // An oversized line ends at the next line break, quoted or not: it may be oversized because a quote is not closed.
      const end =
        this.#held === null ? piece.indexOf(LF, start) : this.#lineEnds.find(piece, start, this.#held.length === 0);
      const limit = start + LINE_SIZE_MAX - this.#heldSize;
      if (end >= 0) {
        this.#finish(piece.subarray(start, end), lines);
        start = end + 1;
      } else if (this.#held !== null && limit < piece.length) {
        this.#skip(piece.subarray(start, limit), lines);
        start = limit;
      } else break;
    }
    this.#hold(piece.subarray(start));
    return lines;
  }

  /** Returns the last line if the stream does not end with a line break. */
  end(): Line[] {
    const lines: Line[] = [];
    if (this.#heldSize > 0) this.#finish(Buffer.alloc(0), lines);
    return lines;
  }

  #hold(rest: Buffer): void {
    if (this.#held === null || rest.length === 0) return;
    // Copied, because the source may reuse its chunk.
    this.#held.push(Buffer.from(rest));
    this.#heldSize += rest.length;
  }

  /** Ends the current line with these bytes. */
  #finish(tail: Buffer, lines: Line[]): void {
    if (this.#held !== null && this.#heldSize + tail.length > LINE_SIZE_MAX) this.#skip(tail, lines);
    if (this.#held !== null) {
      const bytes = this.#held.length === 0 ? tail : Buffer.concat([...this.#held, tail]);
      const line = toLine(bytes, this.#number);
      if (line) lines.push(line);
      this.#number += countLineBreaks(bytes);
    }
    this.#number += 1;
    this.#held = [];
    this.#heldSize = 0;
  }

  /** Reports the current line as oversized and drops its held bytes. */
  #skip(rest: Buffer, lines: Line[]): void {
    lines.push({ number: this.#number, text: null, reason: this.#oversize });
    for (const part of [...(this.#held ?? []), rest]) this.#number += countLineBreaks(part);
    this.#held = null;
    this.#heldSize = 0;
  }
}

const PLAIN_LINE_ENDS: LineEnds = { find: (piece, from) => piece.indexOf(LF, from) };

/**
 * Finds line ends outside quoted cells. A cell may continue in the next piece. Only a quote at the start of a cell opens a quoted cell.
 */
class QuotedLineEnds implements LineEnds {
  #state: 'cell start' | 'bare' | 'quoted' | 'quote in quoted' = 'cell start';

  find(piece: Buffer, from: number, isNewLine: boolean): number {
    // The state is kept in a local variable for speed, because this loop runs for every byte of the file.
    let state = isNewLine ? 'cell start' : this.#state;
    let found = -1;
    for (let offset = from; offset < piece.length && found < 0; offset += 1) {
      const byte = piece[offset];
      if (state === 'quoted') {
        if (byte === QUOTE) state = 'quote in quoted';
      } else if (byte === LF) {
        state = 'cell start';
        found = offset;
      } else if (byte === COMMA) {
        state = 'cell start';
      } else if (byte === QUOTE && state !== 'bare') {
        state = 'quoted';
      } else {
        state = 'bare';
      }
    }
    this.#state = state;
    return found;
  }
}

/** Returns the line that these bytes are, or null when it is blank. */
function toLine(bytes: Buffer, number: number): Line | null {
  let end = bytes.length;
  if (end > 0 && bytes[end - 1] === CR) end -= 1;
  const start = number === 1 && bytes.subarray(0, BOM.length).equals(BOM) ? BOM.length : 0;
  const content = bytes.subarray(start, end);
  if (!isUtf8(content)) return { number, text: null, reason: 'not UTF-8' };
  const text = content.toString('utf8');
  return text.trim() === '' ? null : { number, text };
}

function countLineBreaks(bytes: Buffer): number {
  let count = 0;
  for (let offset = bytes.indexOf(LF); offset >= 0; offset = bytes.indexOf(LF, offset + 1)) count += 1;
  return count;
}

function toBuffer(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
