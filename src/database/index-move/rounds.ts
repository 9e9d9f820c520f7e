// Repeats the copying of changes until so few are left that the source of the move, the old index, can be sealed. A sealed index rejects
// changes.

import { OperatorError } from '../../core/errors.ts';

/** The source is sealed when at most this many changes are left. */
const CHANGES_AT_SEAL_MAX = 1_000;
/**
 * A round makes little progress if it leaves at least this share of the changes that it found. After such a round, the source is sealed if
 * at most CHANGES_SEALED_MAX changes are left.
 */
const PROGRESS_MIN = 0.7;
/** The source is never sealed with more changes than this. */
export const CHANGES_SEALED_MAX = 50_000;
/**
 * The move fails after this many rounds in a row with little progress and more than CHANGES_SEALED_MAX changes left. A large import can cause one or two such
 * rounds.
 */
const ROUNDS_WITHOUT_PROGRESS_MAX = 3;

/**
 * `count` returns the number of changes that are left. `round` copies the recorded changes. `left`: the number of changes before the round.
 * Throws an OperatorError if the changes come faster than the rounds can copy them.
 */
export async function repeatUntilFew(
  count: () => Promise<number>,
  round: (left: number) => Promise<void>,
): Promise<void> {
  let left = await count();
  let roundsWithoutProgress = 0;
  while (roundsWithoutProgress < ROUNDS_WITHOUT_PROGRESS_MAX) {
    await round(left);
    const before = left;
    left = await count();
    if (left <= CHANGES_AT_SEAL_MAX) return;
    if (left < before * PROGRESS_MIN) roundsWithoutProgress = 0;
    else if (left <= CHANGES_SEALED_MAX) return;
    else roundsWithoutProgress += 1;
  }
  throw new OperatorError(
    'the index changes faster than its changes can be copied: stop imports, then repeat the command',
  );
}
