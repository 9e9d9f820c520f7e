// The exit code of a run of benchmarks follows from its figures. The benchmarks of this file record given figures instead of measuring.

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import type { TestContext } from 'node:test';
import { describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import type { Figure } from '../../bench/support/verdict.ts';
import { judge, recordUnmeasured, runBenchmarks } from '../../bench/support/verdict.ts';

const FIGURE: Figure = { name: 'reads', figure: 10, unit: 'ms', rounds: [9, 12], aim: { atMost: 20 } };

/** Runs benchmarks with these figures, and returns the exit code and what was printed. */
async function run(t: TestContext, ...figures: readonly Partial<Figure>[]) {
  const lines: string[] = [];
  t.mock.method(process.stdout, 'write', (text: string) => lines.push(text) > 0);
  const record = async () => {
    for (const figure of figures) judge({ ...FIGURE, ...figure });
  };
  const code = await runBenchmarks({ given: record }, []);
  t.mock.restoreAll();
  return { code, text: lines.join('') };
}

describe('a run of benchmarks', () => {
  test('a run of benchmarks ends with 0 if each aim is reached, also if a figure equals its aim', async (t) => {
    const { code } = await run(t, {}, { figure: 20 }, { figure: 20, aim: { atLeast: 20 } }, { aim: null });
    assert.equal(code, 0);
  });

  for (const [what, figure] of [
    ['a figure above a limit', { figure: 20.1 }],
    ['a figure below a least value', { figure: 19.9, aim: { atLeast: 20 } }],
    ['a figure that is not a number', { figure: Number.NaN }],
    ['a round that is not a finite number', { rounds: [9, Number.POSITIVE_INFINITY, 12] }],
    ['a failed response', { failures: 1 }],
  ] as const) {
    test(`a run of benchmarks ends with 1 after ${what}, whatever the other figures are`, async (t) => {
      const { code } = await run(t, {}, figure, {});
      assert.equal(code, 1);
    });
  }

  test('a run of benchmarks prints each figure with its rounds, aim and verdict, when it is measured and in the table at the end', async (t) => {
    const { text } = await run(t, { beside: 'of 25' }, { name: 'rate', figure: 0.5, unit: '', aim: { atLeast: 0.8 } });
    assert.match(text, /^reads: 10\.0 ms \(9\.00 to 12\.0\); aim at most 20 ms: reached; of 25$/m);
    assert.match(text, /^\| reads \| 10\.0 ms \| 9\.00 to 12\.0 \| at most 20 ms \| reached \|$/m);
    assert.match(text, /^\| rate \| 0\.50 \| 9\.00 to 12\.0 \| at least 0\.8 \| missed \|$/m);
    assert.match(text, /^1 reached, 1 missed$/m);
  });

  test('a run of benchmarks ends with 1 if an aim could not be measured', async () => {
    assert.equal(await runBenchmarks({ given: async () => recordUnmeasured('reads', 'no database') }, []), 1);
  });

  test('a run of benchmarks goes on after a benchmark that fails, and ends with 1', async (t) => {
    const errors = t.mock.method(process.stderr, 'write', () => true);
    const ran: string[] = [];
    const code = await runBenchmarks(
      {
        first: () => Promise.reject(new Error('the database is gone')),
        second: async () => void ran.push('second'),
      },
      [],
    );
    assert.deepEqual([code, ran], [1, ['second']]);
    assert.match(String(errors.mock.calls[0]?.arguments[0]), /the database is gone/);
  });

  test('a run of benchmarks runs only the benchmarks that are named', async () => {
    const ran: string[] = [];
    const benchmarks = { one: async () => void ran.push('one'), two: async () => void ran.push('two') };
    assert.deepEqual([await runBenchmarks(benchmarks, ['two']), ran], [0, ['two']]);
  });
});

test('npm run bench ends with 2 for an unknown name, and names the benchmarks', async () => {
  const program = fileURLToPath(new URL('../../bench/main.ts', import.meta.url));
  const { code, text } = await new Promise<{ code: unknown; text: string }>((resolve) => {
    execFile(process.execPath, [program, 'no-such'], (error, _, stderr) =>
      resolve({ code: error?.code, text: stderr }),
    );
  });
  assert.equal(code, 2);
  assert.match(text, /unknown benchmark no-such; the benchmarks are hot, /);
});
