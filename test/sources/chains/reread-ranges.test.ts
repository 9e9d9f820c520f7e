// The blocks that must be read again are stored as ranges that do not overlap.

import assert from 'node:assert/strict';
import { before, beforeEach, test } from 'node:test';
import {
  insertReread,
  listRereadRanges,
  updateRereadRange,
} from '../../../src/market/chain-log/queries/reread-ranges.ts';
import type { Database } from '../../../src/platform/database/port.ts';
import { forOneEngine } from '../../support/engines/each-engine.ts';

const NOW = Date.UTC(2026, 0, 1);

forOneEngine('ranges to read again', (engine) => {
  let db: Database;
  before(async () => {
    db = await engine.open();
  });
  beforeEach(() => db.query('truncate main.reread_range'));

  const insert = async (ranges: readonly [number, number][], chain = 'ethereum') => {
    for (const [index, [from, to]] of ranges.entries()) await insertReread(db, chain, { from, to }, NOW + index);
  };
  const read = async () =>
    (await listRereadRanges(db)).map(({ chain, from, to, since }) => [chain, from, to, since - NOW]);

  test('ranges that overlap or adjoin are one range, which has waited since the first of them', async () => {
    for (const [ranges, expected] of [
      [
        [
          [10, 20],
          [15, 30],
        ],
        [[10, 30, 0]],
      ],
      [
        [
          [15, 30],
          [10, 20],
        ],
        [[10, 30, 0]],
      ],
      [
        [
          [10, 20],
          [12, 14],
        ],
        [[10, 20, 0]],
      ],
      [
        [
          [12, 14],
          [10, 20],
        ],
        [[10, 20, 0]],
      ],
      [
        [
          [10, 20],
          [21, 21],
        ],
        [[10, 21, 0]],
      ],
      [
        [
          [10, 20],
          [9, 9],
        ],
        [[9, 20, 0]],
      ],
      [
        [
          [10, 20],
          [22, 30],
        ],
        [
          [10, 20, 0],
          [22, 30, 1],
        ],
      ],
      [
        [
          [40, 50],
          [10, 20],
          [30, 35],
          [18, 45],
        ],
        [[10, 50, 0]],
      ],
    ] as [[number, number][], number[][]][]) {
      await db.query('truncate main.reread_range');
      await insert(ranges);
      await insert([[15, 16]], 'base');
      const others = [['base', 15, 16, 0]];
      assert.deepEqual(
        await read(),
        [...others, ...expected.map((range) => ['ethereum', ...range])],
        JSON.stringify(ranges),
      );
    }
  });

  test('a range that is being read goes on while blocks are added at its end', async () => {
    await insert([[10, 20]]);
    const [reading] = await listRereadRanges(db);
    assert.ok(reading);
    await insert([[21, 25]]);
    assert.equal(await updateRereadRange(db, reading, 20), true);
    assert.deepEqual(await read(), [['ethereum', 21, 25, 0]]);
  });
});
