// Tests how an import shows its progress. On a terminal, one line is redrawn. On any other stream, nothing is written.

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

test('on a terminal one line is redrawn at most ten times a second', () => {
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

test('no line is longer than the terminal', () => {
  const narrow = draw({ isTTY: true, columns: 15 });
  narrow.at(0, 50);
  assert.deepEqual(narrow.written, ['\r\u001b[K25%, file: 10 ']);
  const unknown = draw({ isTTY: true });
  unknown.at(0, 50, null);
  assert.deepEqual(unknown.written, ['\r\u001b[Kfile: 10 rows']);
});

test('the progress line is redrawn below a printed line', () => {
  const { at, written, progress } = draw({ isTTY: true, columns: 20 });
  at(0, 50);
  progress.print('refused');
  at(100, 100);
  assert.deepEqual(written.slice(1), ['\r\u001b[K', 'refused\n', '\r\u001b[K50%, file: 10 rows']);
});

test('on a stream that is not a terminal nothing is written', () => {
  const { at, written, progress } = draw({});
  for (let ms = 0; ms <= 12_000; ms += 100) at(ms, ms / 100);
  progress.clear();
  assert.deepEqual(written, []);
});

test('after a few seconds the time left is estimated from the part of the file that was read', () => {
  const { at, written } = draw({ isTTY: true, columns: 40 });
  at(2_900, 100);
  at(4_000, 100);
  at(5_000, 1);
  at(6_000, 200);
  at(7_000, 10, null);
  const left = written.map((line) => line.replace(/^.*10 rows/s, ''));
  assert.deepEqual(left, ['', ', 4 s left', ', 17 min left', ', 0 s left', '']);
});
