// Any bytes can be split into lines, or into rows of CSV. The result does not depend on how the bytes are divided into chunks.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import type { Line, LineOptions } from '../../src/intake/lines.ts';
import { LINE_SIZE_MAX, NOT_UTF8, splitLines } from '../../src/intake/lines.ts';
import { toChunks } from '../support/service/intake.ts';

async function split(content: string | Uint8Array, options: LineOptions = {}, chunkSize = 7): Promise<Line[]> {
  const lines: Line[] = [];
  for await (const some of splitLines(toChunks(content, chunkSize), options)) lines.push(...some);
  return lines;
}

const CELLS = { delimiter: ',', quote: '"', spaced: false };

const bytes = (...parts: (string | number[])[]) => Buffer.concat(parts.map((part) => Buffer.from(part as string)));

describe('lines', () => {
  test('LF and CRLF end a line, and the last line needs no line end', async () => {
    const found = await split('\u{feff}a\r\n\n \t\r\nb\n\r\nc', {}, 2);
    assert.deepEqual(found, [
      { number: 1, text: 'a' },
      { number: 4, text: 'b' },
      { number: 6, text: 'c' },
    ]);
    assert.deepEqual(await split(''), []);
    assert.deepEqual(await split('\n\n\n'), []);
    assert.deepEqual(await split('\u{feff}'), []);
  });

  test('bytes that are not UTF-8 invalidate their line only', async () => {
    const overlong = [0xc0, 0xaf];
    const surrogate = [0xed, 0xa0, 0x80];
    const found = await split(bytes('a\n', overlong, '\nb\n', surrogate, '\nc\n', [0xff], '\n', [0xe2, 0x82]));
    assert.deepEqual(found, [
      { number: 1, text: 'a' },
      { number: 2, text: null, reason: NOT_UTF8 },
      { number: 3, text: 'b' },
      { number: 4, text: null, reason: NOT_UTF8 },
      { number: 5, text: 'c' },
      { number: 6, text: null, reason: NOT_UTF8 },
      { number: 7, text: null, reason: NOT_UTF8 },
    ]);
  });

  test('a line of 1 MiB is accepted, and a longer line is rejected', async () => {
    const fits = 'x'.repeat(LINE_SIZE_MAX);
    for (const chunkSize of [1000, 64 * 1024, 5 * LINE_SIZE_MAX]) {
      const found = await split(`a\n${fits}\n${fits}x\nb\n${fits}${fits}`, {}, chunkSize);
      assert.deepEqual(
        found.map(({ number, text }) => [number, text?.length ?? null]),
        [
          [1, 1],
          [2, LINE_SIZE_MAX],
          [3, null],
          [4, 1],
          [5, null],
        ],
      );
    }
  });

  test('a line of 128 MiB is rejected without being held in memory', async () => {
    const chunk = Buffer.alloc(64 * 1024, 'x');
    let peak = 0;
    async function* endless() {
      for (let i = 0; i < 2048; i += 1) {
        yield chunk;
        peak = Math.max(peak, process.memoryUsage().arrayBuffers);
      }
    }
    const before = process.memoryUsage().arrayBuffers;
    const found: Line[] = [];
    for await (const lines of splitLines(endless())) found.push(...lines);
    assert.deepEqual(found, [{ number: 1, text: null, reason: 'longer than 1048576 bytes' }]);
    assert.ok(peak - before < 32 * 1024 * 1024, `${peak - before} bytes were held for a line of 128 MiB`);
  });

  test('the lines are correct even if the source reuses the buffer of its chunks', async () => {
    const buffer = Buffer.alloc(4);
    async function* reusing() {
      for (const part of ['ab', 'cd', 'e\nf']) {
        buffer.fill(' ').write(part);
        yield buffer.subarray(0, part.length);
      }
    }
    const found: Line[] = [];
    for await (const lines of splitLines(reusing())) found.push(...lines);
    assert.deepEqual(
      found.map(({ text }) => text),
      ['abcde', 'f'],
    );
  });

  test('the lines of a text are the same for every chunk size', async () => {
    const piece = fc.constantFrom('a', 'é', '😀', '"', '""', ',', '\n', '\r\n', '\r', ' ', '\u{feff}');
    const text = fc.array(piece, { maxLength: 40 }).map((pieces) => pieces.join(''));
    await fc.assert(
      fc.asyncProperty(text, fc.integer({ min: 1, max: 9 }), fc.boolean(), async (content, chunkSize, quoted) => {
        assert.deepEqual(
          await split(content, quoted ? { cells: CELLS } : {}, chunkSize),
          await split(content, quoted ? { cells: CELLS } : {}, 10_000),
        );
      }),
    );
  });

  test('the lines are the same as when the complete text is split at its line breaks', async () => {
    const text = fc.array(fc.constantFrom('a', 'é"', '\n', '\r\n', ' ')).map((pieces) => pieces.join(''));
    await fc.assert(
      fc.asyncProperty(text, async (content) => {
        const expected = content
          .split('\n')
          .map((line, index) => ({ number: index + 1, text: line.replace(/\r$/, '') }))
          .filter((line) => line.text.trim() !== '');
        assert.deepEqual(await split(content), expected);
      }),
    );
  });
});

describe('rows with quoted cells', () => {
  test('a line break inside quotes does not end the row', async () => {
    const found = await split('h1,h2\n"a\nb",1\n"c ""x""\r\n\n",2\nd,3\n', { cells: CELLS });
    assert.deepEqual(found, [
      { number: 1, text: 'h1,h2' },
      { number: 2, text: '"a\nb",1' },
      { number: 4, text: '"c ""x""\r\n\n",2' },
      { number: 7, text: 'd,3' },
    ]);
  });

  test('a quote in the middle of an unquoted cell does not open a quoted cell', async () => {
    const found = await split('5" disk,1\nb,2\n', { cells: CELLS });
    assert.deepEqual(
      found.map(({ text }) => text),
      ['5" disk,1', 'b,2'],
    );
  });

  const UNCLOSED = /^a quote that begins on this line is not closed \("/;
  const numberAndText = (lines: Line[]) => lines.map(({ number, text }) => [number, text]);

  test('a quote that is never closed invalidates its own line only', async () => {
    const rows = Array.from({ length: 400_000 }, (_, row) => `${row},1`);
    const found = await split(`a,1\n"b,2\n${rows.join('\n')}`, { cells: CELLS }, 64 * 1024);
    assert.equal(found.length, rows.length + 2);
    assert.deepEqual(numberAndText(found.slice(0, 3)), [
      [1, 'a,1'],
      [2, null],
      [3, '0,1'],
    ]);
    assert.match(found[1]?.text === null ? found[1].reason : '', UNCLOSED);
    assert.deepEqual(numberAndText(found.slice(-1)), [[rows.length + 2, rows.at(-1)]]);
  });

  test('a quote that is closed by the opening quote of a later row invalidates its own line only', async () => {
    for (const chunkSize of [1, 3, 1000]) {
      const found = await split('a,1\n"b,2\nc,""\n"d","x\ny"\n"e,5\nf,6', { cells: CELLS }, chunkSize);
      assert.deepEqual(numberAndText(found), [
        [1, 'a,1'],
        [2, null],
        [3, 'c,""'],
        [4, '"d","x\ny"'],
        [6, null],
        [7, 'f,6'],
      ]);
    }
  });

  test('each line of a text begins a row, is inside a row, or is rejected', async () => {
    const piece = fc.constantFrom('a', '"', '""', ',', '\n', '","', '"\n');
    const text = fc.array(piece, { maxLength: 60 }).map((pieces) => pieces.join(''));
    await fc.assert(
      fc.asyncProperty(text, async (content) => {
        const found = await split(content, { cells: CELLS });
        const lines = content.split('\n');
        const seen = new Set<number>();
        for (const { number, text: row } of found) {
          const length = row === null ? 1 : row.split('\n').length;
          for (let line = number; line < number + length; line += 1) seen.add(line);
          if (row !== null) assert.equal(row, lines.slice(number - 1, number - 1 + length).join('\n'));
        }
        for (const [index, line] of lines.entries()) if (line.trim() !== '') assert.ok(seen.has(index + 1), content);
      }),
    );
  });

  // No line of this file closes the quote that it opens. If each of them were searched to the end of the file for the closing quote, the file
  // would be read once for each line.
  test('a file in which every line opens another quote is read once', async () => {
    const found = await split('"",x","\n'.repeat(320_000), { cells: CELLS }, 64 * 1024);
    assert.equal(found.length, 320_000);
  });
});
