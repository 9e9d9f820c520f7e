// Splits a stream of bytes into lines or, for CSV, into rows whose quoted cells may contain line breaks. Bytes that are not UTF-8
// invalidate one line only, and no more than one line is held in memory.

import { isUtf8 } from 'node:buffer';

/** A line's text without the line end, or why there is none. `number` is the line of the file that it begins on, from 1. */
export type Line = { number: number; text: string } | { number: number; text: null; reason: string };

/** The largest line, in bytes. */
export const LINE_SIZE_MAX = 1024 * 1024;

/** Chunks are processed in pieces of at most this many bytes, so that little is held however large the chunks are. */
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

/** The lines of a source, those of one piece at a time. Blank lines and a byte-order mark at the start are left out. */
export async function* splitLines(
  source: AsyncIterable<Uint8Array>,
  { quoted = false }: LineOptions = {},
): AsyncGenerator<Line[]> {
  const splitter = quoted
    ? new LineSplitter(new QuotedLineEnds(), `${OVERSIZE}: check that every quote is closed`)
    : new LineSplitter(PLAIN_LINE_ENDS, OVERSIZE);
  for await (const chunk of source) {
    for (let at = 0; at < chunk.length; at += PIECE_SIZE_MAX) {
      const lines = splitter.push(toBuffer(chunk.subarray(at, at + PIECE_SIZE_MAX)));
      if (lines.length > 0) yield lines;
    }
  }
  const last = splitter.end();
  if (last.length > 0) yield last;
}

/** Finds the line break that ends a line. */
type LineEnds = {
  /** The offset of the next line end from `from` on, or -1 when the piece has none. `isNewLine`: a line begins at `from`. */
  find(piece: Buffer, from: number, isNewLine: boolean): number;
};

/** Joins the pieces of a stream to lines. */
class LineSplitter {
  readonly #lineEnds: LineEnds;
  readonly #oversize: string;
  /** The beginning of a line that continues in the next piece; null while an oversized line is skipped. */
  #held: Buffer[] | null = [];
  #heldSize = 0;
  #number = 1;

  /** `oversize`: the reason for a line that is too long. */
  constructor(lineEnds: LineEnds, oversize: string) {
    this.#lineEnds = lineEnds;
    this.#oversize = oversize;
  }

  /** The lines that end in this piece. */
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

  /** The last line, when the stream does not end with a line break. */
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

  /** Reports the current line as oversized and drops what is held of it. */
  #skip(rest: Buffer, lines: Line[]): void {
    lines.push({ number: this.#number, text: null, reason: this.#oversize });
    for (const part of [...(this.#held ?? []), rest]) this.#number += countLineBreaks(part);
    this.#held = null;
    this.#heldSize = 0;
  }
}

const PLAIN_LINE_ENDS: LineEnds = { find: (piece, from) => piece.indexOf(LF, from) };

/**
 * Line ends outside quoted cells; a cell may continue in the next piece. Only a quote at the start of a cell opens a quoted cell.
 */
class QuotedLineEnds implements LineEnds {
  #state: 'cell start' | 'bare' | 'quoted' | 'quote in quoted' = 'cell start';

  find(piece: Buffer, from: number, isNewLine: boolean): number {
    // In a local variable, because this loop runs for every byte of the file.
    let state = isNewLine ? 'cell start' : this.#state;
    let found = -1;
    for (let at = from; at < piece.length && found < 0; at += 1) {
      const byte = piece[at];
      if (state === 'quoted') {
        if (byte === QUOTE) state = 'quote in quoted';
      } else if (byte === LF) {
        state = 'cell start';
        found = at;
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

/** The line of these bytes, or null when it is blank. */
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
  for (let at = bytes.indexOf(LF); at >= 0; at = bytes.indexOf(LF, at + 1)) count += 1;
  return count;
}

function toBuffer(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
