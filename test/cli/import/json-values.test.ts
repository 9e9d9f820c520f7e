// The JSON values in a file of recorded responses do not depend on the chunks in which the file is read. Text that is not JSON
// causes an error that names the line.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonValue } from '../../../src/cli/import/json-values.ts';
import { splitValues, VALUE_SIZE_MAX } from '../../../src/cli/import/json-values.ts';
import { OperatorError } from '../../../src/core/errors.ts';
import { toChunks } from '../../support/service/intake.ts';

async function split(content: string | Uint8Array, chunkSize?: number): Promise<JsonValue[]> {
  const values: JsonValue[] = [];
  for await (const value of splitValues(toChunks(content, chunkSize), 'response')) values.push(value);
  return values;
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

test('an error about malformed JSON names a line, after all values before it were produced', async () => {
  const cases: [string, number, RegExp][] = [
    [
      '{"a":1}\n{"b":[1',
      1,
      /^the file ends within the response that begins on line 2: look there for a quote or a bracket/,
    ],
    ['{"a":1}\n"b', 1, /^the file ends within the response that begins on line 2: look there for a quote or a bracket/],
    ['[1,\n2', 1, /^the file ends within the response|^the file ends within the array that begins on line 1$/],
    ['[{},\n', 1, /^the file ends within the array that begins on line 1$/],
    ['[{} {}]', 1, /^line 1: not JSON/],
    ['[{},\n,{}]', 1, /^line 2: not JSON/],
    ['[{},]', 1, /^line 1: not JSON/],
    ['[{}}', 1, /^line 1: not JSON/],
    ['[,]', 0, /^line 1: not JSON/],
    ['{}\n]', 1, /^line 2: not JSON/],
    ['{},{}', 1, /^line 1: not JSON/],
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
