// Reads JSON files with arrays, or with values that have line breaks. Each value becomes one line of NDJSON. At most one value is in
// memory.

import { peek } from '../../intake/peek.ts';
import type { MalformedPart } from './json-values.ts';
import { splitValues } from './json-values.ts';

const LF = 0x0a;
const CR = 0x0d;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const SPACE = 0x20;
/** A control character that JSON forbids inside a string. */
const FORBIDDEN = 0x01;
const LAYOUT_HEAD_SIZE = 64 * 1024;

/**
 * Yields NDJSON. A file with one value on each line is passed on unchanged, so that a malformed line causes only the rejection of this
 * line. In any other file, a value gets the number of the line on which it begins, and several values on one line get consecutive numbers.
 * For each part of such a file that is not a JSON value, `onMalformed` is called.
 */
export async function* toJsonLines(
  bytes: AsyncIterable<Uint8Array>,
  onMalformed: (part: MalformedPart) => void,
): AsyncGenerator<Uint8Array> {
  const { head, source } = await peek(bytes, isLayoutVisible);
  if (isLineByLine(head)) yield* source;
  else yield* joinValues(source, onMalformed);
}

function isLayoutVisible(head: Buffer): boolean {
  const first = head
    .toString()
    .trimStart()
    .split('\n')
    .filter((line) => line.trim() !== '');
  return head.length >= LAYOUT_HEAD_SIZE || first[0]?.startsWith('[') === true || first.length > 2;
}

/**
 * Whether each line has one value, judged by the first two lines. A file that is one array begins with a bracket. A value with line breaks
 * has an open bracket at the end of its first line.
 */
function isLineByLine(head: Buffer): boolean {
  const lines = head
    .toString()
    .replace(/^\u{feff}/u, '')
    .split('\n')
    .filter((line) => line.trim() !== '');
  const [first = '', second = ''] = lines.map((line) => line.trim());
  if (first.startsWith('[')) return false;
  return countOpenBrackets(first) <= 0 || second === '' || second.startsWith('{');
}

function countOpenBrackets(text: string): number {
  const bare = text.replaceAll(/"(?:[^"\\]|\\.)*"/g, '');
  return (bare.match(/[[{]/g)?.length ?? 0) - (bare.match(/[\]}]/g)?.length ?? 0);
}

async function* joinValues(
  source: AsyncIterable<Uint8Array>,
  onMalformed: (part: MalformedPart) => void,
): AsyncGenerator<Uint8Array> {
  let nextLine = 1;
  for await (const value of splitValues(source, 'record')) {
    if (value.bytes === null) {
      onMalformed(value);
      continue;
    }
    const { line, element, bytes } = value;
    if (!element && bytes.length === 2 && bytes[0] === OPEN_BRACKET) continue;
    const blankLines = Math.max(0, line - nextLine);
    nextLine += blankLines + 1;
    yield Buffer.concat([Buffer.alloc(blankLines, LF), toOneLine(bytes), Buffer.of(LF)]);
  }
}

const OPEN_BRACKET = 0x5b;

/**
 * Replaces line breaks between the parts of a value by spaces. JSON forbids a line break inside a string. A line break inside a string is
 * replaced by FORBIDDEN, so that the value stays invalid.
 */
function toOneLine(value: Uint8Array): Uint8Array {
  if (!value.includes(LF) && !value.includes(CR)) return value;
  const line = Buffer.from(value);
  let quoted = false;
  for (let index = 0; index < line.length; index += 1) {
    const byte = line[index];
    if (quoted && byte === BACKSLASH) index += 1;
    else if (byte === QUOTE) quoted = !quoted;
    else if (byte === LF || byte === CR) line[index] = quoted ? FORBIDDEN : SPACE;
  }
  return line;
}
