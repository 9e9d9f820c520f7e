// Splits a file into its JSON values without parsing them. A top-level array is split into its elements, but an empty array is one value.
// At most one value is in memory.

import { OperatorError } from '../../platform/core/errors.ts';

export type JsonValue = {
  line: number;
  /** The number of the top-level value, from 1. An element has the number of its top-level array. */
  top: number;
  /** Whether this value is an element of a top-level array. */
  element: boolean;
  bytes: Uint8Array;
};

/** A part of the file that is no value. `line`: the line on which it begins. `lines`: the number of its lines. */
export type MalformedPart = { line: number; lines: number; bytes: null; reason: string };

/** The largest value in bytes, the same as the workers' limit for DAS responses. A parsed value uses up to ten times as much memory. */
export const VALUE_SIZE_MAX = 32 * 2 ** 20;

/**
 * Splits a file into values. If a quote, comma or bracket is missing or misplaced, the file is skipped up to the next object that begins a line
 * with the same indentation as the first object. The skipped part is malformed, and this object is the next value. Throws OperatorError if the
 * indentation is not known, because no object before the mistake begins a line. Also throws if the text ends within a top-level array, or if a
 * value is too long. `noun` names a value in messages.
 */
export async function* splitValues(
  source: AsyncIterable<Uint8Array>,
  noun: 'response' | 'record',
): AsyncGenerator<JsonValue | MalformedPart> {
  const splitter = new JsonValueSplitter(noun);
  for await (const chunk of source) yield* splitter.push(chunk);
  yield* splitter.end();
}

/** Returns the reason. If the part has several lines, the text also says which lines were not read. */
export function describeMalformed({ line, lines, reason }: MalformedPart): string {
  return lines > 1 ? `${reason}; lines ${line} to ${line + lines - 1} were not read` : reason;
}

/** What may come next if no value is open. `anything`: outside of a top-level array. The other three are positions in such an array. */
type Expected = 'anything' | 'element or end' | 'element' | 'comma or end';

/**
 * A value whose end has not been read yet. `brackets`: the closing brackets that it needs. `parts`: its bytes so far. `size`: their number.
 * `malformed`: why it is no value, or null. The bytes of a malformed value are not kept.
 */
type OpenValue = {
  line: number;
  brackets: number[];
  quoted: boolean;
  escaped: boolean;
  parts: Buffer[];
  size: number;
  malformed: string | null;
};

function openValue(line: number, malformed: string | null = null): OpenValue {
  return { line, brackets: [], quoted: false, escaped: false, parts: [], size: 0, malformed };
}

class JsonValueSplitter {
  readonly #noun: string;
  readonly #layout = new ObjectLayout();
  #expected: Expected = 'anything';
  #open: OpenValue | null = null;
  #line = 1;
  #top = 0;
  /** The line on which the most recent top-level array began. */
  #arrayLine = 0;
  /** Whether an open value ends where an object begins a line with the indentation of the first object. */
  #strict = false;

  constructor(noun: string) {
    this.#noun = noun;
  }

  *push(chunk: Uint8Array): Generator<JsonValue | MalformedPart> {
    let start = 0;
    for (let index = 0; index < chunk.length; index += 1) {
      const byte = chunk[index] as number;
      const beginsObject = this.#layout.read(byte);
      if (this.#open !== null && beginsObject && (this.#strict || this.#open.malformed !== null)) {
        yield this.#endMalformed(this.#open, this.#line - this.#open.line);
      }
      if (this.#open !== null && this.#open.malformed === null) {
        let end = readByte(this.#open, byte);
        if (end === 'wrong bracket' && this.#canBreakUp) {
          append(this.#open, chunk.subarray(start, index));
          yield* this.#breakUp(this.#open);
          this.#layout.read(byte);
          start = index;
          end = this.#open === null ? 'none' : readByte(this.#open, byte);
        }
        if (end === 'with this byte' || end === 'before this byte') {
          yield this.#finish(this.#open, chunk.subarray(start, end === 'with this byte' ? index + 1 : index));
          if (end === 'with this byte') continue;
        } else if (end === 'wrong bracket') {
          this.#open.malformed = this.#toMisplaced();
        } else if (byte === LF && this.#open?.quoted && this.#layout.isKnown) {
          this.#open.malformed = `a quote${this.#line === this.#open.line ? '' : ` on line ${this.#line}`} is not closed`;
        }
      }
      const found = this.#open === null ? this.#readBetween(byte, beginsObject) : null;
      if (found === 'empty array') {
        yield { line: this.#arrayLine, top: this.#top, element: false, bytes: Buffer.from('[]') };
      }
      if (found === 'value') {
        this.#open = openValue(this.#line);
        if (byte === OPEN_BRACE) this.#layout.noteObject();
        readByte(this.#open, byte);
        start = index;
      }
      if (byte === LF) this.#line += 1;
    }
    if (this.#open !== null) yield* this.#hold(this.#open, chunk.subarray(start));
  }

  *end(): Generator<JsonValue | MalformedPart> {
    if (this.#open !== null && this.#open.malformed === null) {
      if (this.#open.brackets.length === 0 && !this.#open.quoted) yield this.#finish(this.#open, new Uint8Array());
      else if (this.#canBreakUp) yield* this.#breakUp(this.#open);
    }
    if (this.#open !== null) {
      const { line, malformed } = this.#open;
      const reason = malformed ?? UNCLOSED;
      if (!this.#layout.isKnown) {
        throw new OperatorError(
          `the file ends within the ${this.#noun} that begins on line ${line}: look there for a quote or a bracket that is not closed; nothing from this line on was read`,
        );
      }
      yield this.#endMalformed(
        { ...this.#open, malformed: reason },
        this.#line - line + (this.#layout.atLineStart ? 0 : 1),
      );
      return;
    }
    if (this.#expected !== 'anything') {
      throw new OperatorError(
        `the file ends within the array that begins on line ${this.#arrayLine}; it may be cut off`,
      );
    }
  }

  /** Keeps the bytes of an open value that continues in the next chunk. A value that is too long is broken up. */
  *#hold(value: OpenValue, part: Uint8Array): Generator<JsonValue | MalformedPart> {
    if (value.malformed !== null) return;
    append(value, part);
    if (value.size <= VALUE_SIZE_MAX) return;
    if (!this.#canBreakUp) {
      throw new OperatorError(
        `the ${this.#noun} that begins on line ${value.line} is longer than ${VALUE_SIZE_MAX} bytes: keep ${this.#noun}s as they were received, one on each line or in an array`,
      );
    }
    yield* this.#breakUp(value);
  }

  get #canBreakUp(): boolean {
    return this.#layout.isKnown && !this.#strict;
  }

  /** Reads an unclosed value again. Each object that begins a line with the indentation of the first object is now a value of its own. */
  *#breakUp(value: OpenValue): Generator<JsonValue | MalformedPart> {
    const bytes = Buffer.concat(value.parts);
    this.#open = null;
    this.#line = value.line;
    if (this.#expected === 'anything') this.#top -= 1;
    else this.#expected = 'element';
    this.#layout.restart();
    this.#strict = true;
    yield* this.push(bytes);
    this.#strict = false;
  }

  /** Ends a malformed part of `lines` lines. The next value may follow. */
  #endMalformed({ line, malformed }: OpenValue, lines: number): MalformedPart {
    this.#open = null;
    if (this.#expected !== 'anything') this.#expected = 'comma or end';
    return { line, lines, bytes: null, reason: malformed ?? UNCLOSED };
  }

  /**
   * Reads a byte outside of values. Returns whether it is the first byte of a value or the end of an empty array. Null if it is neither.
   */
  #readBetween(byte: number, beginsObject: boolean): 'value' | 'empty array' | null {
    if (isSpace(byte) || (this.#top === 0 && BOM.includes(byte))) return null;
    const expected = this.#expected;
    if (byte === OPEN_BRACKET && expected === 'anything') {
      this.#top += 1;
      this.#arrayLine = this.#line;
      this.#expected = 'element or end';
      return null;
    }
    if (byte === CLOSE_BRACKET && (expected === 'element or end' || expected === 'comma or end')) {
      this.#expected = 'anything';
      return expected === 'element or end' ? 'empty array' : null;
    }
    if (byte === COMMA && expected === 'comma or end') {
      this.#expected = 'element';
      return null;
    }
    if (expected === 'comma or end' || byte === COMMA || byte === CLOSE_BRACKET || byte === CLOSE_BRACE) {
      // A comma may be missing before an object that begins a line. Anything else is skipped up to such an object.
      if (beginsObject) return 'value';
      this.#open = openValue(this.#line, this.#toMisplaced());
      return null;
    }
    if (expected === 'anything') this.#top += 1;
    return 'value';
  }

  /** The reason for a misplaced byte. Throws if the rest of the file cannot be read. */
  #toMisplaced(): string {
    if (this.#layout.isKnown) return MISPLACED;
    throw new OperatorError(`line ${this.#line}: not JSON: ${MISPLACED}; the rest of the file was not read`);
  }

  #finish(value: OpenValue, tail: Uint8Array): JsonValue {
    append(value, tail);
    this.#open = null;
    const element = this.#expected !== 'anything';
    if (element) this.#expected = 'comma or end';
    return { line: value.line, top: this.#top, element, bytes: Buffer.concat(value.parts) };
  }
}

const MISPLACED = 'a comma or a bracket is missing or misplaced';
const UNCLOSED = 'a quote or a bracket is not closed';

/**
 * Recognises objects that begin a line with the known indentation: the number of spaces and tabs before the first object that began a line.
 */
class ObjectLayout {
  /** Null until an object begins a line. */
  #indentation: number | null = null;
  /** The number of spaces and tabs since the last line end, or -1 after any other byte. */
  #leading = 0;
  /** If the latest byte is the first of its line that is no space or tab: the number of spaces and tabs before it. Otherwise -1. */
  #begunAt = -1;

  get isKnown(): boolean {
    return this.#indentation !== null;
  }

  /** Whether no byte of the current line was read. */
  get atLineStart(): boolean {
    return this.#leading === 0;
  }

  /**
   * Reads the next byte of the file. Returns true if the byte begins an object, and only spaces and tabs precede it on its line. If the
   * indentation is known, the line must also have this indentation.
   */
  read(byte: number): boolean {
    this.#begunAt = -1;
    if (byte === LF) this.#leading = 0;
    else if (this.#leading >= 0) {
      if (byte === SPACE || byte === TAB) this.#leading += 1;
      else if (!BOM.includes(byte)) {
        this.#begunAt = this.#leading;
        this.#leading = -1;
      }
    }
    return byte === OPEN_BRACE && this.#begunAt >= 0 && this.#begunAt === (this.#indentation ?? this.#begunAt);
  }

  /** Called for the first byte of an object that is a value. */
  noteObject(): void {
    if (this.#begunAt >= 0) this.#indentation ??= this.#begunAt;
  }

  /** Called before a value that begins a line is read again. */
  restart(): void {
    this.#leading = this.#indentation ?? -1;
  }
}

function append(value: OpenValue, part: Uint8Array): void {
  value.size += part.length;
  // Copied, because the source may reuse the memory of its chunk.
  value.parts.push(Buffer.from(part));
}

/**
 * Reads the next byte of an open value. Returns where the value ends, or `none` if it continues. A bracket that closes another kind of
 * bracket is wrong, and is not read.
 */
function readByte(value: OpenValue, byte: number): 'with this byte' | 'before this byte' | 'wrong bracket' | 'none' {
  const { brackets } = value;
  if (value.escaped) value.escaped = false;
  else if (value.quoted) {
    if (byte === BACKSLASH) value.escaped = true;
    else if (byte === QUOTE) value.quoted = false;
  } else if (byte === QUOTE) value.quoted = true;
  else if (byte === OPEN_BRACE) brackets.push(CLOSE_BRACE);
  else if (byte === OPEN_BRACKET) brackets.push(CLOSE_BRACKET);
  else if (byte === CLOSE_BRACE || byte === CLOSE_BRACKET) {
    if (brackets.length === 0) return 'before this byte';
    if (brackets.at(-1) !== byte) return 'wrong bracket';
    brackets.pop();
    if (brackets.length === 0) return 'with this byte';
  } else if (brackets.length === 0 && (byte === COMMA || isSpace(byte))) return 'before this byte';
  return 'none';
}

function isSpace(byte: number): boolean {
  return byte === SPACE || byte === LF || byte === CR || byte === TAB;
}

const BOM: readonly number[] = [0xef, 0xbb, 0xbf];
const TAB = 0x09;
const LF = 0x0a;
const CR = 0x0d;
const SPACE = 0x20;
const QUOTE = 0x22;
const COMMA = 0x2c;
const OPEN_BRACKET = 0x5b;
const BACKSLASH = 0x5c;
const CLOSE_BRACKET = 0x5d;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
