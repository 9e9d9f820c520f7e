// The soak test measures quantities such as memory for some time. A quantity that rises by more than a tolerance during the last minutes of
// this time (the window) is not level. Earlier values do not matter.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { findTrend } from '../../faults/soak/trend.ts';

const TOLERANCE = { share: 0.05, amount: 2 };
const WINDOW_MINUTES = 10;

const series = (valueAt: (minute: number) => number) =>
  Array.from({ length: 81 }, (_, index) => ({ minute: index / 4, value: valueAt(index / 4) }));

test('a quantity that rises by more than the tolerance over the window is not level', () => {
  const { mean, slopePerMinute, isLevel } = findTrend(
    series((minute) => 100 + minute),
    WINDOW_MINUTES,
    TOLERANCE,
  );
  assert.deepEqual([mean, slopePerMinute.toFixed(6), isLevel], [115, '1.000000', false]);
});

test('a quantity that rose only before the window, falls, swings around one value, or rises by less than the tolerance is level', () => {
  const shapes = {
    'rose before': (minute: number) => Math.min(minute, 10) * 50,
    falls: (minute: number) => 500 - minute * 20,
    swings: (minute: number) => 100 + ((minute * 4) % 2) * 20,
    'rises by less than the tolerance': (minute: number) => 100 + minute * 0.4,
  };
  for (const [name, valueAt] of Object.entries(shapes))
    assert.ok(findTrend(series(valueAt), WINDOW_MINUTES, TOLERANCE).isLevel, name);
});

test('the soak command rejects an unknown engine, and minutes that are not a number', () => {
  const program = fileURLToPath(new URL('../../faults/soak/main.ts', import.meta.url));
  for (const args of [
    ['--engine', 'oracle'],
    ['--minutes', 'x'],
  ]) {
    const { status, stderr } = spawnSync(process.execPath, [program, ...args], { encoding: 'utf8' });
    assert.deepEqual([status, stderr.startsWith('npm run soak')], [2, true], args.join(' '));
  }
});
