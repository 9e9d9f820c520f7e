// Judges what 64 writers see of the stock of a shop while its service and its database are killed. The checker is tested with faults that are put into an
// accepted history. `npm run oracle -- --history N` records longer histories.

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { checkHistory } from '../../oracle/history/check.ts';
import type { History } from '../../oracle/history/history.ts';
import { findContradiction } from '../../oracle/history/register.ts';
import { recordHistory } from '../../oracle/history/run.ts';
import { cleanUp } from '../support/engines/cleanup.ts';
import { canStartPostgres } from '../support/engines/postgres-server.ts';
import { FAULTS } from './history-faults.ts';

const WRITERS = 64;
/** A slow machine may return the stock of an expired reservation later than a fast one. */
const LATE_MS = 60_000;

const RUNS = {
  embedded: { operations: 400, serviceKills: 1, databaseKills: 0 },
  postgresql: { operations: 1_500, serviceKills: 1, databaseKills: 1 },
} as const;

for (const engine of ['embedded', 'postgresql'] as const) {
  const skip = engine === 'postgresql' && !canStartPostgres();
  describe(`a history of a shop [${engine}]`, { skip }, () => {
    let history: History;
    before(async () => {
      const run = { engine, writers: WRITERS, seed: 3, lateMs: LATE_MS, isShort: true, ...RUNS[engine] };
      history = await recordHistory(run);
    });
    after(cleanUp);

    test('what 64 writers see over kills of the service and of its database follows from the rules', (t) => {
      const { findings, ...counts } = checkHistory(history);
      t.diagnostic(JSON.stringify(counts));
      assert.deepEqual(findings, []);
      assert.ok(counts.operations >= RUNS[engine].operations && counts.reserved > 0);
    });

    // The faults test the checker, so one history is enough. Only PostgreSQL has expired reservations in a short run.
    const faults = engine === 'postgresql' ? FAULTS : FAULTS.filter(({ kind }) => kind !== 'late');
    for (const { name, kind, plant } of engine === 'postgresql' || !canStartPostgres() ? faults : []) {
      test(`a history is rejected in which ${name}`, () => {
        const copy = structuredClone(history);
        plant(copy);
        const { findings } = checkHistory(copy);
        assert.ok(
          findings.some((finding) => finding.startsWith(`${kind}: `)),
          findings.join('\n'),
        );
      });
    }
  });
}

test('a register has an order of its operations if there is one, and none otherwise', () => {
  type Text = string;
  const write = (value: Text, call: number, end: number) => ({
    call,
    end,
    place: null as number | null,
    apply: () => value,
    text: () => `write ${value}`,
  });
  const read = (value: Text, call: number, end: number) => ({
    call,
    end,
    place: null as number | null,
    apply: (state: Text) => (state === value ? state : null),
    text: () => `read ${value}`,
  });
  const judge = (operations: ReturnType<typeof write | typeof read>[]) =>
    findContradiction<Text>('', operations, (state) => state);
  assert.equal(judge([]), null);
  assert.equal(
    judge([write('a', 0, 10), write('b', 0, 10), read('a', 5, 6), read('b', 7, 8), read('b', 11, 12)]),
    null,
  );
  assert.match(judge([write('a', 0, 10), read('a', 5, 6), read('', 7, 8)]) ?? '', /^read  cannot have happened/);
  assert.match(
    judge([write('a', 0, 1), write('b', 2, 3), read('a', 4, 5)]) ?? '',
    /^read a cannot have happened, after 2 of 3/,
  );
  const inOrder = ([first, second]: [number, number]) =>
    judge([{ ...write('a', 0, 10), place: first }, { ...write('b', 0, 10), place: second }, read('b', 11, 12)]);
  assert.equal(inOrder([3, 7]), null);
  assert.match(inOrder([7, 3]) ?? '', /^read b cannot have happened, after 2 of 3/);
  // One after the other is decided by the times alone.
  assert.equal(judge([read('a', 2, 3), write('a', 0, 2)]), null);
});
