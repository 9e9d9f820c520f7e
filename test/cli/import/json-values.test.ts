// The JSON values in a file of recorded responses: they equal those of JSON.parse however the bytes are split into chunks. Text that is
// not JSON ends the file with an error that names the line.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonValue } from '../../../src/cli/import/json-values.ts';
import { splitValues, VALUE_SIZE_MAX } from '../../../src/cli/import/json-values.ts';
import { OperatorError } from '../../../src/core/errors.ts';
import { toChunks } from '../../support/service/intake.ts';

async function split(content: string | Uint8Array, chunkSize?: number): Promise<JsonValue[]> {
  const values: JsonValue[] = [];
  for await (const value of splitValues(toChunks(content, chunkSize))) values.push(value);
  return values;
}

const parsed = (values: readonly JsonValue[]) =>
  values.map(({ bytes }) => JSON.parse(Buffer.from(bytes).toString()) as unknown);

const VALUE = { 'a "]"': ['}', { b: '\\"{[' }, [[], [1e-5, null, true]]], ü: '€\u{1f98a}', deep: { er: {} } };

test('an array gives its elements, in chunks of any size', async () => {
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

test('separate values are given one by one, with the line on which each begins', async () => {
  const text = `${JSON.stringify(VALUE)}\r\n\n${JSON.stringify(VALUE, null, 1)}{"x":1}\n[1,\n2]\nnull\n7`;
  for (const chunkSize of [1, 5, 10_000]) {
    const values = await split(text, chunkSize);
    assert.deepEqual(parsed(values), [VALUE, VALUE, { x: 1 }, 1, 2, null, 7]);
    const pretty = JSON.stringify(VALUE, null, 1).split('\n').length;
    assert.deepEqual(
      values.map(({ line, top, element }) => [line - pretty, top, element]),
      [
        [1 - pretty, 1, false],
        [3 - pretty, 2, false],
        [2, 3, false],
        [3, 4, true],
        [4, 4, true],
        [5, 5, false],
        [6, 6, false],
      ],
    );
  }
});

test('text that is not complete JSON is an error with its line, after the values before it', async () => {
  const cases: [string, number, RegExp][] = [
    ['{"a":1}\n{"b":[1', 1, /^the file ends within the response that begins on line 2$/],
    ['{"a":1}\n"b', 1, /^the file ends within the response that begins on line 2$/],
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
  for (const [text, before, reason] of cases) {
    let seen = 0;
    const reading = async () => {
      for await (const _ of splitValues(toChunks(text))) seen += 1;
    };
    await assert.rejects(reading(), (error) => error instanceof OperatorError && reason.test(error.message), text);
    assert.ok(seen >= before, text);
  }
});

test('a value that is too long is rejected before all of it is in memory', async () => {
  let given = 0;
  async function* endless(): AsyncGenerator<Uint8Array> {
    yield Buffer.from('{"listings":[{"name":"');
    for (;;) {
      given += 2 ** 20;
      yield Buffer.alloc(2 ** 20, 'a');
    }
  }
  const reading = async () => {
    for await (const value of splitValues(endless())) assert.fail(String(value.line));
  };
  await assert.rejects(reading(), /^OperatorError: the response that begins on line 1 is longer than 33554432 bytes: /);
  assert.ok(given <= VALUE_SIZE_MAX + 2 ** 20);
});
