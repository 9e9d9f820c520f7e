// The bound on the number of values of JSON text, which is checked before the text is parsed.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { hasMoreValues } from '../../../src/platform/core/json-text.ts';

/** Longer than the shortest text that is read at all. */
const PADDING = 'x'.repeat(40);

test('commas, brackets and braces count outside texts only', () => {
  for (const text of ['', ',[{', '\\"', '\\\\', '\\",\\"', '\\\\\\"', '",', '\\u005c']) {
    const value = text === '",' ? JSON.stringify(text) : `"${text}"`;
    const three = `[${value},${value},"${PADDING}"]`;
    assert.equal(Array.isArray(JSON.parse(three)), true, three);
    assert.equal(hasMoreValues(three, 4), false, three);
    assert.equal(hasMoreValues(three, 3), true, three);
  }
});

test('text that is not closed, and text that is not JSON, is read to its end', () => {
  assert.equal(hasMoreValues(`"${PADDING},,,,`, 3), false);
  assert.equal(hasMoreValues(`"${PADDING}\\`, 3), false);
  assert.equal(hasMoreValues(`${PADDING},,,,`, 3), true);
  assert.equal(hasMoreValues('[[[[[[[[', 3), true);
});

test('short text is not read, because it cannot have that many values', () => {
  assert.equal(hasMoreValues('[1,2,3]', 4), false);
});
