// Tests the options of `npm run oracle`.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseOracleArguments } from '../../oracle/run/arguments.ts';

test('an option that is not given has its default value', () => {
  const { blocks, mirrored, faults, seed } = parseOracleArguments([
    '--mirrored',
    '100',
    '--faults=1000',
    '--seed',
    '0',
  ]);
  assert.deepEqual({ blocks, mirrored, faults, seed }, { blocks: 3_000, mirrored: 100, faults: 1_000, seed: 0 });
});

test('a value that is not a whole number, a value above the maximum of its option, and an unknown option are rejected', () => {
  const cases: [string[], RegExp][] = [
    [['--mirrored', '101'], /^Error: --mirrored takes a whole number of at most 100$/],
    [['--faults', '1001'], /^Error: --faults takes a whole number of at most 1000$/],
    [['--blocks', '1.5'], /^Error: --blocks takes a whole number$/],
    [['--seed=-1'], /^Error: --seed takes a whole number$/],
    [['--seeds', '1'], /Unknown option '--seeds'/],
    [['--blocks', ''], /^Error: --blocks takes a whole number$/],
  ];
  for (const [args, reason] of cases) assert.throws(() => parseOracleArguments(args), reason);
});
