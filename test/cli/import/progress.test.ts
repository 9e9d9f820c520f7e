// The progress of an import: one line that is redrawn on a terminal, and a line every few seconds on any other stream.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Progress } from '../../../src/cli/progress.ts';

function draw(options: { isTTY?: boolean; columns?: number }) {
  let now = 0;
  const written: string[] = [];
  const stream = { write: (text: string) => void written.push(text), ...options };
  const progress = new Progress(stream, () => now);
  return {
    progress,
    written,
    at: (ms: number, done: number, total: number | null = 200) => {
      now = ms;
      progress.update({ done, total, text: 'file: 10 rows' });
    },
  };
}

test('on a terminal one line is redrawn at most ten times a second, and cleared at the end', () => {
  const { at, written, progress } = draw({ isTTY: true, columns: 80 });
  at(0, 50);
  for (let ms = 1; ms < 100; ms += 1) at(ms, 60);
  at(100, 100);
  progress.clear();
  progress.clear();
  assert.deepEqual(written, [
    '\r\u001b[K[######------------------] 25%, file: 10 rows',
    '\r\u001b[K[############------------] 50%, file: 10 rows',
    '\r\u001b[K',
  ]);
});

test('a narrow terminal and a file of unknown size get no bar, and no line is longer than the terminal', () => {
  const narrow = draw({ isTTY: true, columns: 15 });
  narrow.at(0, 50);
  assert.deepEqual(narrow.written, ['\r\u001b[K25%, file: 10 ']);
  const unknown = draw({ isTTY: true });
  unknown.at(0, 50, null);
  assert.deepEqual(unknown.written, ['\r\u001b[Kfile: 10 rows']);
});

test('a printed line replaces the progress line, which is redrawn below it', () => {
  const { at, written, progress } = draw({ isTTY: true, columns: 20 });
  at(0, 50);
  progress.print('refused');
  at(100, 100);
  assert.deepEqual(written.slice(1), ['\r\u001b[K', 'refused\n', '\r\u001b[K50%, file: 10 rows']);
});

test('on a stream that is not a terminal a line is printed every five seconds, and no line in the first five seconds', () => {
  const { at, written, progress } = draw({});
  for (let ms = 0; ms <= 12_000; ms += 100) at(ms, ms / 100);
  progress.clear();
  assert.deepEqual(written, ['25%, file: 10 rows\n', '50%, file: 10 rows\n']);
});
