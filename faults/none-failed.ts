// Asserts that no request has failed. A 503 with `Retry-After` also counts as a failure.

import assert from 'node:assert/strict';
import type { Tally } from './client.ts';

/** Settings with a long deadline for reads, so that reads do not fail on a busy test machine. */
export const PATIENT = { SOURCE_TIMEOUT_MS: '20000' };

const TEXT_MAX = 200;
const SUCCESSES: readonly (number | 'no response')[] = [200, 201, 204];

export function assertNoneFailed(tally: Tally): void {
  const failed = [...tally.statuses.keys()].filter((status) => !SUCCESSES.includes(status));
  const examples = tally.failures.map(
    ({ sent, answer, ms }) =>
      `${sent.method} ${sent.path}: ${answer.status} after ${Math.round(ms)} ms ${answer.text.slice(0, TEXT_MAX)}`,
  );
  assert.deepEqual(failed, [], [tally.describe(), ...examples].join('; '));
}
