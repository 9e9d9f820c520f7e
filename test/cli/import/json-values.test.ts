// The JSON values in a file of recorded responses do not depend on the chunks in which the file is read. Text that is not JSON
// is reported with its lines, or causes an error that names the line.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonValue, MalformedPart } from '../../../src/cli/import/json-values.ts';
import { describeMalformed, splitValues, VALUE_SIZE_MAX } from '../../../src/cli/import/json-values.ts';
import { OperatorError } from '../../../src/platform/core/errors.ts';
import { toChunks } from '../../support/service/intake.ts';

async function splitAll(content: string | Uint8Array, chunkSize?: number): Promise<(JsonValue | MalformedPart)[]> {
  const values: (JsonValue | MalformedPart)[] = [];
  for await (const value of splitValues(toChunks(content, chunkSize), 'response')) values.push(value);
  return values;
}

async function split(content: string | Uint8Array, chunkSize?: number): Promise<JsonValue[]> {
  const values = await splitAll(content, chunkSize);
  return values.map((value) => (value.bytes === null ? assert.fail(describeMalformed(value)) : value));
}

const parsed = (values: readonly JsonValue[]) =>
  values.map(({ bytes }) => JSON.parse(Buffer.from(bytes).toString()) as unknown);

const VALUE = { 'a "]"': ['}', { b: '\\"{[' }, [[], [1e-5, null, true]]], ü: '€\u{1f98a}', deep: { er: {} } };

test('a top-level array is split into its elements, for chunks of any size', async () => {
  const elements = [VALUE, [VALUE, []], 'a,]"\\', 12.5, -3, null, true, {}, []];
  for (const text of [
    JSON.stringify(elements),
    JSON.stringify(elements, null, 2),
    `\u{feff}${JSON.stringify(elements)} \n`,
  ]) {
    for (const chunkSize of [1, 2, 3, 7, 10_000]) {
      const values = await split(text, chunkSize);
      assert.deepEqual(parsed(values), elements);
      assert.ok(values.every(({ top, element }) => top === 1 && element));
    }
  }
  assert.deepEqual(parsed(await split('[1] [ ]\n[]')), [1, [], []]);
  assert.deepEqual(await split(''), []);
});

test('each value has the line on which it begins', async () => {
  const text = `${JSON.stringify(VALUE)}\r\n\n${JSON.stringify(VALUE, null, 1)}{"x":1}\n[1,\n2]\nnull\n7`;
  for (const chunkSize of [1, 5, 10_000]) {
    const values = await split(text, chunkSize);
    assert.deepEqual(parsed(values), [VALUE, VALUE, { x: 1 }, 1, 2, null, 7]);
    const indentedLines = JSON.stringify(VALUE, null, 1).split('\n').length;
    assert.deepEqual(
      values.map(({ line, top, element }) => [line - indentedLines, top, element]),
      [
        [1 - indentedLines, 1, false],
        [3 - indentedLines, 2, false],
        [2, 3, false],
        [3, 4, true],
        [4, 4, true],
        [5, 5, false],
        [6, 6, false],
      ],
    );
  }
});

/** The values of a file, and in place of each malformed part its first line, number of lines and reason. */
async function splitMalformed(text: string, chunkSize?: number): Promise<unknown[]> {
  return (await splitAll(text, chunkSize)).map((value) =>
    value.bytes === null
      ? [value.line, value.lines, value.reason]
      : (JSON.parse(Buffer.from(value.bytes).toString()) as unknown),
  );
}

const QUOTE = 'a quote is not closed';
const BRACKET = 'a quote or a bracket is not closed';
const MISPLACED = 'a comma or a bracket is missing or misplaced';

test('after a mistake, reading continues with the next object that begins a line and is indented like the first object', async () => {
  const rows = [1, 2, 3, 4].map((id) => ({ id, of: { name: `n${id}`, list: [id] } }));
  const [one, , three, four] = rows;
  for (const indent of [0, 2]) {
    const array =
      (indent === 0
        ? JSON.stringify(rows).replaceAll(',{"id"', ',\n{"id"').replace('[', '[\n')
        : JSON.stringify(rows, null, 2)) + '\n';
    const line = indent === 0 ? 3 : 11;
    const lines = indent === 0 ? 1 : 9;
    for (const [mistake, text, part] of [
      ['an unclosed quote', array.replace('n2"', 'n2'), indent === 0 ? QUOTE : 'a quote on line 14 is not closed'],
      ['an unclosed bracket', array.replace(/(n2"[^\]]*\]\s*)\}/, '$1'), BRACKET],
    ] as const) {
      for (const chunkSize of [1, 7, 10_000]) {
        const found = await splitMalformed(text, chunkSize);
        assert.deepEqual(found, [one, [line, lines, part], three, four], `${mistake}, ${indent}, ${chunkSize}`);
      }
    }
    const withBracket = array.replace(/(n2"[^\]]*\]\s*\}\s*\})/, '$1 }');
    const extra = [indent === 0 ? 3 : 19, 1, MISPLACED];
    assert.deepEqual(
      await splitMalformed(withBracket),
      [...rows.slice(0, 2), extra, three, four],
      'a bracket too many',
    );
    assert.deepEqual(
      await splitMalformed(array.replaceAll(/,(\s*\{\s*"id")/g, '$1')),
      rows,
      'no commas between values',
    );
  }
});

test('if a file ends within a value, the values before it are read, and the lines of the incomplete value are counted', async () => {
  assert.deepEqual(await splitMalformed('{"a":1}\n{"b":[1'), [{ a: 1 }, [2, 1, BRACKET]]);
  assert.deepEqual(await splitMalformed('[\n{"a":1},\n{"b":\n"c'), [{ a: 1 }, [3, 2, BRACKET]]);
  assert.deepEqual(await splitMalformed('{"a":"1\n'), [[1, 1, QUOTE]]);
  const many = Array.from({ length: 20_000 }, (_, id) => `{"id":{"x":${id}}`).join(',\n');
  const parts = (await splitAll(`[\n${many}\n]`)) as MalformedPart[];
  assert.equal(parts.length, 20_000, 'unclosed brackets in every value');
  assert.ok(parts.every(({ bytes }) => bytes === null));
});

test('if no object after a mistake begins a line, the values before the mistake are read, and then an error names the line', async () => {
  const cases: [string, number, RegExp][] = [
    ['["a",\n"b', 1, /^the file ends within the response that begins on line 2: look there for a quote or a bracket/],
    [
      '[1,\n2',
      1,
      /^the file ends within the response|^the file ends within the array that begins on line 1; it may be/,
    ],
    ['[{},\n', 1, /^the file ends within the array that begins on line 1; it may be cut off$/],
    ['[\n{},\n', 1, /^the file ends within the array that begins on line 1; it may be cut off$/],
    ['[{} {}]', 1, /^line 1: not JSON/],
    ['[{},\n,{}]', 1, /^line 2: not JSON/],
    ['[{},]', 1, /^line 1: not JSON/],
    ['[{}}', 1, /^line 1: not JSON/],
    ['[,]', 0, /^line 1: not JSON/],
    ['1\n]', 1, /^line 2: not JSON/],
    ['1,{}', 1, /^line 1: not JSON/],
  ];
  for (const [text, valuesMin, reason] of cases) {
    let values = 0;
    const readAll = async () => {
      for await (const _ of splitValues(toChunks(text), 'response')) values += 1;
    };
    await assert.rejects(readAll(), (error) => error instanceof OperatorError && reason.test(error.message), text);
    assert.ok(values >= valuesMin, text);
  }
});

test('a value that is too long is rejected before the complete value is in memory', async () => {
  let produced = 0;
  async function* endless(): AsyncGenerator<Uint8Array> {
    yield Buffer.from('{"listings":[{"name":"');
    for (;;) {
      produced += 2 ** 20;
      yield Buffer.alloc(2 ** 20, 'a');
    }
  }
  const readAll = async () => {
    for await (const value of splitValues(endless(), 'response')) assert.fail(String(value.line));
  };
  await assert.rejects(readAll(), /^OperatorError: the response that begins on line 1 is longer than 33554432 bytes: /);
  assert.ok(produced <= VALUE_SIZE_MAX + 2 ** 20);
});
