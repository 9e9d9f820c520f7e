// Tests how often a move of the index copies changes before it seals the source.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { repeatUntilFew } from '../../../src/database/index-move/rounds.ts';

/**
 * Runs rounds of copying. `counts` has the number of changes that are left before each round, and then the number after the last round. Returns
 * the number of rounds.
 */
async function countRounds(...counts: number[]): Promise<number> {
  let rounds = 0;
  await repeatUntilFew(
    () => Promise.resolve(counts[rounds] ?? assert.fail('there were more rounds')),
    () => Promise.resolve(void (rounds += 1)),
  );
  assert.equal(rounds, counts.length - 1);
  return rounds;
}

test('rounds are repeated while each leaves clearly fewer changes, until few are left', async () => {
  await countRounds(900_000, 90_000, 9_000, 1_000);
});

test('rounds end after a round with little progress if few enough changes are left to seal the source', async () => {
  await countRounds(40_000, 39_000);
});

test('the move goes on after a round in which the changes have increased, if the later rounds reduce them', async () => {
  await countRounds(100, 60_000, 59_000, 30_000, 9_000, 900);
});

test('the move fails after three rounds in a row with little progress and too many changes left to seal the source', async () => {
  await assert.rejects(countRounds(100, 60_000, 61_000, 62_000, 63_000), {
    name: 'OperatorError',
    message: /^the index changes faster than its changes can be copied/,
  });
});
