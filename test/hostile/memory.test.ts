// A flood of invalid requests does not increase the memory of the service.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { heapUsed } from '../support/measure/cost.ts';
import { exchange } from '../support/http/raw-http.ts';
import { useSampleService } from '../support/service/sample-service.ts';

const MEGABYTE = 1024 * 1024;
const BATCH_SIZE = 50;
const REQUESTS = 20_000;

describe('memory', () => {
  // If a source timed out on a busy machine, an invalid request would get a degraded response instead of a rejection.
  // Therefore the timeout is long.
  const service = useSampleService({ settings: { SOURCE_TIMEOUT_MS: '60000' } });
  let sent = 0;
  /** Sends `count` invalid requests, all different, and checks that each of them is rejected. */
  const flood = async (count: number) => {
    for (const end = sent + count; sent < end; sent += BATCH_SIZE) {
      const targets = Array.from({ length: BATCH_SIZE }, (_, index) => badTarget(sent + index));
      const bytes = targets.map((target) => `GET ${target} HTTP/1.1\r\nHost: a\r\n\r\n`).join('');
      const { answers } = await exchange(service.url, bytes, { answers: BATCH_SIZE });
      for (const [index, response] of answers.entries())
        assert.ok(isRejection(response.status), `${targets[index]}: ${response.status}`);
    }
  };

  test('twenty thousand invalid requests increase the heap by less than 3 MB', async () => {
    await flood(REQUESTS / 5);
    const before = heapUsed();
    await flood(REQUESTS);
    const grown = heapUsed() - before;
    assert.ok(grown < 3 * MEGABYTE, `the heap grew by ${(grown / MEGABYTE).toFixed(1)} MB`);
  });
});

const isRejection = (status: number) => status === 400 || status === 404;

/** An invalid request target that depends on `index`. One target in ten causes a database query. */
function badTarget(index: number): string {
  if (index % 20 === 0) return `/v1/collections/none-${index}/listings`;
  if (index % 20 === 10) return `/v1/tokens/ethereum/0x${index.toString(16).padStart(40, '0')}/${index}`;
  const targets = [
    `/v1/collections/none-${index}/listings?limit=${index}x`,
    `/v1/collections?limit=1&cursor=${Buffer.from(`forged cursor ${index}`).toString('base64url')}`,
    `/v1/collections?cb=${index}&limit=0`,
    `/v1/nowhere/${index}`,
    `/v1/collections/%ff${index}`,
    `/v1/tokens/ethereum/${index}/${index}`,
    `/v1/${index}?limit=0`,
  ];
  return targets[index % targets.length] ?? '';
}
