// The JSON values of a file of recorded answers, one at a time and unparsed: those that stand by themselves, such as one a line,
// and the elements of an array that holds them; an empty array is one itself. Memory is bounded by one of them, however long the file is.

import { OperatorError } from '../../core/errors.ts';

/** One value, and where it stands. */
export type AnswerValue = {
  /** The line of the file that it begins on. */
  line: number;
  /** Running number of the value at the top of the file that it is or belongs to, from 1. */
  top: number;
  /** Whether it is an element of an array at the top. */
  element: boolean;
  bytes: Uint8Array;
};

/** The longest one: as much as a source takes of a marketplace itself. Parsed it takes up to ten times that. */
export const VALUE_SIZE_MAX = 32 * 2 ** 20;

/** Throws an OperatorError for what cannot be followed to its end, and for a value that is too long. */
export async function* splitValues(source: AsyncIterable<Uint8Array>): AsyncGenerator<AnswerValue> {
  const splitter = createSplitter();
  for await (const chunk of source) yield* splitter.push(chunk);
  yield* splitter.end();
}

/** Between values: what may come next. */
type Expected = 'anything' | 'element or end' | 'element' | 'comma or end';

/** A value that has begun. */
type Open = { line: number; depth: number; quoted: boolean; escaped: boolean; held: Buffer[]; size: number };

function createSplitter() {
  let expected: Expected = 'anything';
  let open: Open | null = null;
  let line = 1;
  let top = 0;
  let arrayLine = 0;

  const fail = (why: string): never => {
    throw new OperatorError(`line ${line}: ${why}`);
  };

  /** A byte between values. Whether a value begins with it, or an array has ended that holds none. */
  const place = (byte: number): 'begins' | 'empty' | null => {
    if (isSpace(byte) || (top === 0 && BOM.includes(byte))) return null;
    if (byte === OPEN_BRACKET && expected === 'anything') {
      top += 1;
      arrayLine = line;
      expected = 'element or end';
    } else if (byte === CLOSE_BRACKET && (expected === 'element or end' || expected === 'comma or end')) {
      const isEmpty = expected === 'element or end';
      expected = 'anything';
      if (isEmpty) return 'empty';
    } else if (byte === COMMA && expected === 'comma or end') {
      expected = 'element';
    } else if (expected === 'comma or end' || byte === COMMA || byte === CLOSE_BRACKET || byte === CLOSE_BRACE) {
      fail('not JSON: a comma or a bracket is not where it belongs');
    } else {
      if (expected === 'anything') top += 1;
      return 'begins';
    }
    return null;
  };

  const hold = (value: Open, part: Uint8Array) => {
    value.size += part.length;
    if (value.size > VALUE_SIZE_MAX) {
      throw new OperatorError(
        `the answer that begins on line ${value.line} is longer than ${VALUE_SIZE_MAX} bytes: keep answers as they came, one a line or in an array`,
      );
    }
    // Copied, because the source may use its chunk again.
    value.held.push(Buffer.from(part));
  };

  const finish = (value: Open, tail: Uint8Array): AnswerValue => {
    hold(value, tail);
    open = null;
    const element = expected !== 'anything';
    if (element) expected = 'comma or end';
    return { line: value.line, top, element, bytes: Buffer.concat(value.held) };
  };

  return {
    *push(chunk: Uint8Array): Generator<AnswerValue> {
      let start = 0;
      for (let at = 0; at < chunk.length; at += 1) {
        const byte = chunk[at] as number;
        if (open !== null) {
          const end = follow(open, byte);
          if (end !== 'within') {
            yield finish(open, chunk.subarray(start, end === 'with' ? at + 1 : at));
            if (end === 'with') continue;
          }
        }
        const placed = open === null ? place(byte) : null;
        if (placed === 'empty') yield { line: arrayLine, top, element: false, bytes: Buffer.from('[]') };
        if (placed === 'begins') {
          open = { line, depth: 0, quoted: false, escaped: false, held: [], size: 0 };
          follow(open, byte);
          start = at;
        }
        if (byte === LF) line += 1;
      }
      if (open !== null) hold(open, chunk.subarray(start));
    },
    *end(): Generator<AnswerValue> {
      if (open !== null && open.depth === 0 && !open.quoted) yield finish(open, new Uint8Array());
      if (open !== null) throw new OperatorError(`the file ends within the answer that begins on line ${open.line}`);
      if (expected !== 'anything')
        throw new OperatorError(`the file ends within the array that begins on line ${arrayLine}`);
    },
  };
}

/** Whether a value ends with this byte, ended before it, or goes on. */
function follow(value: Open, byte: number): 'with' | 'before' | 'within' {
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

const BOM = [0xef, 0xbb, 0xbf];
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
