// The promise that no request fails: every response is a success. A 503 with `Retry-After` is also a failure.

import assert from 'node:assert/strict';
import type { Tally } from './client.ts';

/** With these settings, a read does not fail only because the test machine is busy. */
export const PATIENT = { SOURCE_TIMEOUT_MS: '20000' };

const SUCCESSES: readonly (number | 'no response')[] = [200, 201, 204];

export function assertNoneFailed(tally: Tally): void {
  const failed = [...tally.statuses.keys()].filter((status) => !SUCCESSES.includes(status));
  const examples = tally.unexpected.map(
    ({ sent, answer }) => `${sent.method} ${sent.path}: ${answer.text.slice(0, 120)}`,
  );
  assert.deepEqual(failed, [], `${tally.describe()} ${examples.slice(0, 3).join('; ')}`);
}
