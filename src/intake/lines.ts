// Splits a byte stream into lines or, for CSV, into rows whose quoted cells may contain line breaks. Bytes that are not UTF-8 invalidate
// only their own line. An unclosed quote invalidates only the line on which it stands. Between two chunks, at most one incomplete line or
// row is held in memory.

import { isUtf8 } from 'node:buffer';
import { isSliceOver, nextSlice } from '../platform/core/slices.ts';
import { withValue } from './records/fields.ts';

/**
 * The text of a line without its line end, or the reason why the line is rejected. `number` is the line number in the file, from 1. For a
 * row of several lines it is the number of the first line.
 */
export type Line = { number: number; text: string } | { number: number; text: null; reason: string };

/** The longest line that is accepted, in bytes. */
export const LINE_SIZE_MAX = 1024 * 1024;

/**
 * Chunks are processed in pieces of at most this many bytes. The rest of a piece is copied for each unclosed quote in it, so the time of a piece may
 * grow with the square of its length.
 */
const PIECE_SIZE_MAX = 16 * 1024;

const LF = 0x0a;
const CR = 0x0d;
const SPACE = 0x20;
const BOM = Buffer.from('\u{feff}');
/** The rows of a group are parsed in one step. */
const GROUP_LINES_MAX = 500;
const OVERSIZE = `longer than ${LINE_SIZE_MAX} bytes`;

/** The ASCII characters by which quoted cells are recognised. `spaced`: spaces may stand between delimiter and quote. */
export type QuotedCells = { delimiter: string; quote: string; spaced: boolean };

export type LineOptions = {
  /** If set, line breaks inside quoted cells do not end a line. */
  cells?: QuotedCells;
};

/** Yields the lines of a source, in groups. Leaves out blank lines and a byte-order mark at the start. */
export async function* splitLines(
  source: AsyncIterable<Uint8Array>,
  { cells }: LineOptions = {},
): AsyncGenerator<Line[]> {
  const splitter = new LineSplitter(cells ? new QuotedLineEnds(cells) : PLAIN_LINE_ENDS);
  for await (const chunk of source) {
    for (let start = 0; start < chunk.length; start += PIECE_SIZE_MAX) {
      yield* toGroups(splitter.push(toBuffer(chunk.subarray(start, start + PIECE_SIZE_MAX))));
    }
  }
  yield* toGroups(splitter.end());
}

async function* toGroups(lines: Iterable<FoundLine>): AsyncGenerator<Line[]> {
  if (isSliceOver()) await nextSlice();
  let group: Line[] = [];
  for (const line of lines) {
    if (isSliceOver()) await nextSlice();
    if (line) group.push(line);
    if (group.length < GROUP_LINES_MAX) continue;
    yield group;
    group = [];
  }
  if (group.length > 0) yield group;
}

/** Null for a blank line. */
type FoundLine = Line | null;

type LineEnds = {
  /**
   * Returns the offset of the first line end at or after `from`, or -1 if there is none before `brokenAt` or the end of the piece.
   * `isNewLine`: a line begins at `from`.
   */
  find(piece: Buffer, from: number, isNewLine: boolean): number;
  /**
   * The offset, in the piece of the latest call, of a byte that cannot follow a closing quote. The quote before this byte then opens a cell,
   * so a quote on an earlier line of the row is not closed. Null if there is no such byte.
   */
  brokenAt: number | null;
  /** Whether the bytes of the current row so far have a line break inside quotes. */
  spansLines: boolean;
  /** Whether the bytes of the current row so far end inside quotes. */
  isOpen(): boolean;
};

/** Splits the pieces of a stream into lines. A line may begin in one piece and end in another. */
class LineSplitter {
  readonly #lineEnds: LineEnds;
  /** The beginning of a line that continues in the next piece. Null while the rest of an oversized line is skipped. */
  #held: Buffer[] | null = [];
  #heldSize = 0;
  #number = 1;

  constructor(lineEnds: LineEnds) {
    this.#lineEnds = lineEnds;
  }

  /** Yields the lines that end in this piece. All of them must be read before the next piece is pushed. */
  *push(received: Buffer): Generator<FoundLine, void> {
    let piece = received;
    let start = 0;
    for (;;) {
      // An oversized line ends at the next line break, even inside quotes.
      const end =
        this.#held === null ? piece.indexOf(LF, start) : this.#lineEnds.find(piece, start, this.#held.length === 0);
      const limit = start + LINE_SIZE_MAX - this.#heldSize;
      const { brokenAt, spansLines } = this.#lineEnds;
      // An oversized row is broken up only if it has a line break before the limit. Otherwise its first line is too long, and is skipped.
      const isBrokenUp =
        spansLines &&
        limit < (end < 0 ? (brokenAt ?? piece.length) : end) &&
        this.#hasLineBreak(piece.subarray(start, limit));
      const breakAt = isBrokenUp ? limit : brokenAt;
      if (this.#held !== null && breakAt !== null) {
        const unfinished = yield* this.#breakUp(piece.subarray(start, breakAt));
        piece = Buffer.concat([unfinished, piece.subarray(breakAt)]);
        start = 0;
      } else if (end >= 0) {
        yield this.#finish(piece.subarray(start, end));
        start = end + 1;
      } else if (this.#held !== null && limit < piece.length) {
        yield this.#skip(piece.subarray(start, limit));
        start = limit;
      } else break;
    }
    this.#hold(piece.subarray(start));
  }

  /** Yields the rest of the stream as lines, if the stream does not end with a line break. */
  *end(): Generator<FoundLine, void> {
    if (this.#held !== null && this.#lineEnds.spansLines && this.#lineEnds.isOpen()) {
      this.#held = [yield* this.#breakUp(Buffer.alloc(0))];
      this.#heldSize = this.#held[0]?.length ?? 0;
    }
    if (this.#heldSize > 0) yield this.#finish(Buffer.alloc(0));
  }

  /**
   * Ends a row whose quote is not closed. Yields each line of the row as a row of its own. The first line is yielded as a rejection,
   * unless it contains a quote after a backslash. Some programs write a quote in a cell in this way, so the parser of the row decides whether
   * that line is complete. Returns the bytes after the last line break, with which the next row begins. The yielded lines are not searched for
   * quoted line breaks, so the time stays linear in the size of the file.
   */
  *#breakUp(rest: Buffer): Generator<FoundLine, Buffer> {
    const bytes = Buffer.concat([...(this.#held ?? []), rest]);
    const last = bytes.lastIndexOf(LF) + 1;
    for (let start = 0; start < last;) {
      const end = bytes.indexOf(LF, start);
      const line = toLine(bytes.subarray(start, end), this.#number);
      const isRow = start > 0 || (line !== null && hasEscapedQuote(line.text));
      yield isRow ? line : { number: this.#number, text: null, reason: withValue(UNCLOSED, line?.text ?? '') };
      this.#number += 1;
      start = end + 1;
    }
    this.#held = [];
    this.#heldSize = 0;
    return bytes.subarray(last);
  }

  #hasLineBreak(rest: Buffer): boolean {
    return [...(this.#held ?? []), rest].some((part) => part.includes(LF));
  }

  #hold(rest: Buffer): void {
    if (this.#held === null || rest.length === 0) return;
    // Copied, because the source may reuse its chunk.
    this.#held.push(Buffer.from(rest));
    this.#heldSize += rest.length;
  }

  /** Returns the line that ends with `tail`. Null if the line is blank, or if its beginning was skipped. */
  #finish(tail: Buffer): FoundLine {
    const isOversize = this.#held !== null && this.#heldSize + tail.length > LINE_SIZE_MAX;
    let line = isOversize ? this.#skip(tail) : null;
    if (this.#held !== null) {
      const bytes = this.#held.length === 0 ? tail : Buffer.concat([...this.#held, tail]);
      line = toLine(bytes, this.#number);
      this.#number += countLineBreaks(bytes);
    }
    this.#number += 1;
    this.#held = [];
    this.#heldSize = 0;
    return line;
  }

  /** Rejects the current line as oversized and drops its held bytes. */
  #skip(rest: Buffer): Line {
    const rejected = { number: this.#number, text: null, reason: OVERSIZE };
    for (const part of [...(this.#held ?? []), rest]) this.#number += countLineBreaks(part);
    this.#held = null;
    this.#heldSize = 0;
    return rejected;
  }
}

export const NOT_UTF8 =
  'not UTF-8; if the file is in Windows-1252 or Latin-1, convert it: iconv -f WINDOWS-1252 -t UTF-8 FILE > FILE.utf8';
const UNCLOSED = 'a quote that begins on this line is not closed';

const PLAIN_LINE_ENDS: LineEnds = {
  find: (piece, from) => piece.indexOf(LF, from),
  brokenAt: null,
  spansLines: false,
  isOpen: () => false,
};

/** Finds line ends outside quoted cells. A cell may continue in the next piece. Only a quote at the start of a cell opens a quoted cell. */
class QuotedLineEnds implements LineEnds {
  brokenAt: number | null = null;
  spansLines = false;
  #state: 'cell start' | 'bare' | 'quoted' | 'quote in quoted' = 'cell start';
  readonly #delimiter: number;
  readonly #quote: number;
  readonly #spaced: boolean;

  constructor({ delimiter, quote, spaced }: QuotedCells) {
    this.#delimiter = delimiter.charCodeAt(0);
    this.#quote = quote.charCodeAt(0);
    this.#spaced = spaced;
  }

  isOpen(): boolean {
    return this.#state === 'quoted';
  }

  find(piece: Buffer, from: number, isNewLine: boolean): number {
    // Local variables for speed: this loop runs for every byte of the file.
    const [delimiter, quote, spaced] = [this.#delimiter, this.#quote, this.#spaced];
    let state = isNewLine ? 'cell start' : this.#state;
    let spansLines = !isNewLine && this.spansLines;
    let found = -1;
    this.brokenAt = null;
    for (let offset = from; offset < piece.length && found < 0; offset += 1) {
      const byte = piece[offset];
      if (state === 'quoted') {
        if (byte === quote) state = 'quote in quoted';
        else if (byte === LF) spansLines = true;
      } else if (byte === LF) {
        state = 'cell start';
        found = offset;
      } else if (byte === delimiter) {
        state = 'cell start';
      } else if (byte === quote && state !== 'bare') {
        state = 'quoted';
      } else if (spansLines && state === 'quote in quoted' && byte !== CR) {
        this.brokenAt = offset;
        break;
      } else if (!spaced || byte !== SPACE || state !== 'cell start') {
        state = 'bare';
      }
    }
    this.#state = state;
    this.spansLines = spansLines;
    return found;
  }
}

function hasEscapedQuote(text: string | null): boolean {
  return text !== null && /\\["']/.test(text);
}

/** Converts the bytes of one line. Returns null when the line is blank. */
function toLine(bytes: Buffer, number: number): Line | null {
  let end = bytes.length;
  if (end > 0 && bytes[end - 1] === CR) end -= 1;
  const start = number === 1 && bytes.subarray(0, BOM.length).equals(BOM) ? BOM.length : 0;
  const content = bytes.subarray(start, end);
  if (!isUtf8(content)) return { number, text: null, reason: NOT_UTF8 };
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
