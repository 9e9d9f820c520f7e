// The JSON values of a file of recorded responses, one at a time and unparsed: values that stand alone, such as one on each line, and
// the elements of an array at the top; an empty array is a value itself. Memory is bounded by one value, however long the file is.

import { OperatorError } from '../../core/errors.ts';

export type JsonValue = {
  /** The line of the file on which it begins. */
  line: number;
  /** Number of the value at the top of the file that it is or belongs to, from 1. */
  top: number;
  /** Whether it is an element of an array at the top. */
  element: boolean;
  bytes: Uint8Array;
};

/** Bytes of the longest value: as much as is read of a live response. Parsed it takes up to ten times that. */
export const VALUE_SIZE_MAX = 32 * 2 ** 20;

/** Throws an OperatorError for text that is not JSON or ends too early, and for a value that is too long. */
export async function* splitValues(source: AsyncIterable<Uint8Array>): AsyncGenerator<JsonValue> {
  const splitter = new JsonValueSplitter();
  for await (const chunk of source) yield* splitter.push(chunk);
  yield* splitter.end();
}

/** What may come next between values. */
type Expected = 'anything' | 'element or end' | 'element' | 'comma or end';

/** A value whose end has not been read yet. */
type OpenValue = { line: number; depth: number; quoted: boolean; escaped: boolean; held: Buffer[]; size: number };

class JsonValueSplitter {
  #expected: Expected = 'anything';
  #open: OpenValue | null = null;
  #line = 1;
  #top = 0;
  /** Where the array at the top began. */
  #arrayLine = 0;

  *push(chunk: Uint8Array): Generator<JsonValue> {
    let start = 0;
    for (let at = 0; at < chunk.length; at += 1) {
      const byte = chunk[at] as number;
      if (this.#open !== null) {
        const end = follow(this.#open, byte);
        if (end !== 'within') {
          yield this.#finish(this.#open, chunk.subarray(start, end === 'with' ? at + 1 : at));
          if (end === 'with') continue;
        }
      }
      const found = this.#open === null ? this.#between(byte) : null;
      if (found === 'empty array') {
        yield { line: this.#arrayLine, top: this.#top, element: false, bytes: Buffer.from('[]') };
      }
      if (found === 'value') {
        this.#open = { line: this.#line, depth: 0, quoted: false, escaped: false, held: [], size: 0 };
        follow(this.#open, byte);
        start = at;
      }
      if (byte === LF) this.#line += 1;
    }
    if (this.#open !== null) hold(this.#open, chunk.subarray(start));
  }

  *end(): Generator<JsonValue> {
    const open = this.#open;
    if (open !== null && open.depth === 0 && !open.quoted) yield this.#finish(open, new Uint8Array());
    if (this.#open !== null) {
      throw new OperatorError(`the file ends within the response that begins on line ${this.#open.line}`);
    }
    if (this.#expected !== 'anything') {
      throw new OperatorError(`the file ends within the array that begins on line ${this.#arrayLine}`);
    }
  }

  /** Reads a byte between values: a value begins with it, or an array without elements ends with it, or neither. */
  #between(byte: number): 'value' | 'empty array' | null {
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
      throw new OperatorError(`line ${this.#line}: not JSON: a comma or a bracket is missing or misplaced`);
    }
    if (expected === 'anything') this.#top += 1;
    return 'value';
  }

  #finish(value: OpenValue, tail: Uint8Array): JsonValue {
    hold(value, tail);
    this.#open = null;
    const element = this.#expected !== 'anything';
    if (element) this.#expected = 'comma or end';
    return { line: value.line, top: this.#top, element, bytes: Buffer.concat(value.held) };
  }
}

function hold(value: OpenValue, part: Uint8Array): void {
  value.size += part.length;
  if (value.size > VALUE_SIZE_MAX) {
    throw new OperatorError(
      `the response that begins on line ${value.line} is longer than ${VALUE_SIZE_MAX} bytes: keep responses as they were received, one on each line or in an array`,
    );
  }
  // Copied, because the source may use its chunk again.
  value.held.push(Buffer.from(part));
}

/** Reads a byte of a value: it ends with the byte, ended before it, or goes on. */
function follow(value: OpenValue, byte: number): 'with' | 'before' | 'within' {
  if (value.escaped) value.escaped = false;
  else if (value.quoted) {
    if (byte === BACKSLASH) value.escaped = true;
    else if (byte === QUOTE) value.quoted = false;
  } else if (byte === QUOTE) value.quoted = true;
  else if (byte === OPEN_BRACE || byte === OPEN_BRACKET) value.depth += 1;
  else if (byte === CLOSE_BRACE || byte === CLOSE_BRACKET) {
    if (value.depth === 0) return 'before';
    value.depth -= 1;
    if (value.depth === 0) return 'with';
  } else if (value.depth === 0 && (byte === COMMA || isSpace(byte))) return 'before';
  return 'within';
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
