// Splits a file into its JSON values without parsing them. A top-level array is split into its elements, but an empty array is one value.
// At most one value is in memory.

import { OperatorError } from '../../core/errors.ts';

export type JsonValue = {
  line: number;
  /** The number of the top-level value, from 1. An element has the number of its top-level array. */
  top: number;
  /** Whether this value is an element of a top-level array. */
  element: boolean;
  bytes: Uint8Array;
};

/** The largest value in bytes, the same as the workers' limit for DAS responses. A parsed value uses up to ten times as much memory. */
export const VALUE_SIZE_MAX = 32 * 2 ** 20;

/**
 * Throws OperatorError if a comma or bracket is wrong, if the text ends within a value, or if a value is too long. `noun` names a value in
 * messages.
 */
export async function* splitValues(
  source: AsyncIterable<Uint8Array>,
  noun: 'response' | 'record',
): AsyncGenerator<JsonValue> {
  const splitter = new JsonValueSplitter(noun);
  for await (const chunk of source) yield* splitter.push(chunk);
  yield* splitter.end();
}

/** What may come next if no value is open. `anything`: outside of a top-level array. The other three are positions in such an array. */
type Expected = 'anything' | 'element or end' | 'element' | 'comma or end';

/** A value whose end has not been read yet. `depth`: the number of its open brackets. `parts`: its bytes so far. `size`: their number. */
type OpenValue = { line: number; depth: number; quoted: boolean; escaped: boolean; parts: Buffer[]; size: number };

class JsonValueSplitter {
  readonly #noun: string;
  #expected: Expected = 'anything';
  #open: OpenValue | null = null;
  #line = 1;
  #top = 0;
  /** The line on which the most recent top-level array began. */
  #arrayLine = 0;

  constructor(noun: string) {
    this.#noun = noun;
  }

  *push(chunk: Uint8Array): Generator<JsonValue> {
    let start = 0;
    for (let index = 0; index < chunk.length; index += 1) {
      const byte = chunk[index] as number;
      if (this.#open !== null) {
        const end = readByte(this.#open, byte);
        if (end !== 'none') {
          yield this.#finish(this.#open, chunk.subarray(start, end === 'with this byte' ? index + 1 : index));
          if (end === 'with this byte') continue;
        }
      }
      const found = this.#open === null ? this.#readBetween(byte) : null;
      if (found === 'empty array') {
        yield { line: this.#arrayLine, top: this.#top, element: false, bytes: Buffer.from('[]') };
      }
      if (found === 'value') {
        this.#open = { line: this.#line, depth: 0, quoted: false, escaped: false, parts: [], size: 0 };
        readByte(this.#open, byte);
        start = index;
      }
      if (byte === LF) this.#line += 1;
    }
    if (this.#open !== null) append(this.#open, chunk.subarray(start), this.#noun);
  }

  *end(): Generator<JsonValue> {
    const open = this.#open;
    if (open !== null && open.depth === 0 && !open.quoted) yield this.#finish(open, new Uint8Array());
    if (this.#open !== null) {
      throw new OperatorError(
        `the file ends within the ${this.#noun} that begins on line ${this.#open.line}: look there for a quote or a bracket that is not closed; nothing from this line on was read`,
      );
    }
    if (this.#expected !== 'anything') {
      throw new OperatorError(`the file ends within the array that begins on line ${this.#arrayLine}`);
    }
  }

  /**
   * Reads a byte outside of values. Returns whether it is the first byte of a value or the end of an empty array. Null if it is neither.
   */
  #readBetween(byte: number): 'value' | 'empty array' | null {
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
      throw new OperatorError(
        `line ${this.#line}: not JSON: a comma or a bracket is missing or misplaced; the rest of the file was not read`,
      );
    }
    if (expected === 'anything') this.#top += 1;
    return 'value';
  }

  #finish(value: OpenValue, tail: Uint8Array): JsonValue {
    append(value, tail, this.#noun);
    this.#open = null;
    const element = this.#expected !== 'anything';
    if (element) this.#expected = 'comma or end';
    return { line: value.line, top: this.#top, element, bytes: Buffer.concat(value.parts) };
  }
}

function append(value: OpenValue, part: Uint8Array, noun: string): void {
  value.size += part.length;
  if (value.size > VALUE_SIZE_MAX) {
    throw new OperatorError(
      `the ${noun} that begins on line ${value.line} is longer than ${VALUE_SIZE_MAX} bytes: keep ${noun}s as they were received, one on each line or in an array`,
    );
  }
  // Copied, because the source may reuse the memory of its chunk.
  value.parts.push(Buffer.from(part));
}

/** Reads the next byte of an open value. Returns where the value ends, or `none` if it continues. */
function readByte(value: OpenValue, byte: number): 'with this byte' | 'before this byte' | 'none' {
  if (value.escaped) value.escaped = false;
  else if (value.quoted) {
    if (byte === BACKSLASH) value.escaped = true;
    else if (byte === QUOTE) value.quoted = false;
  } else if (byte === QUOTE) value.quoted = true;
  else if (byte === OPEN_BRACE || byte === OPEN_BRACKET) value.depth += 1;
  else if (byte === CLOSE_BRACE || byte === CLOSE_BRACKET) {
    if (value.depth === 0) return 'before this byte';
    value.depth -= 1;
    if (value.depth === 0) return 'with this byte';
  } else if (value.depth === 0 && (byte === COMMA || isSpace(byte))) return 'before this byte';
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
