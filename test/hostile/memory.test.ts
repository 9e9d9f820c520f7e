// What a flood of bad requests leaves behind: nothing.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { heapUsed } from '../support/measure/cost.ts';
import { exchange } from '../support/http/raw-http.ts';
import { useSampleService } from '../support/service/sample-service.ts';

const MEGABYTE = 1024 * 1024;
const BATCH_SIZE = 50;
const REQUESTS = 20_000;

describe('memory', () => {
  // So patient that a busy machine never makes a source give up: what degrades is not refused.
  const service = useSampleService({ settings: { SOURCE_TIMEOUT_MS: '60000' } });
  let sent = 0;
  /** Sends bad requests, no two alike, and checks that each was refused. */
  const flood = async (count: number) => {
    for (const end = sent + count; sent < end; sent += BATCH_SIZE) {
      const targets = Array.from({ length: BATCH_SIZE }, (_, index) => badTarget(sent + index));
      const bytes = targets.map((target) => `GET ${target} HTTP/1.1\r\nHost: a\r\n\r\n`).join('');
      const { answers } = await exchange(service.url, bytes, { answers: BATCH_SIZE });
      for (const [index, answer] of answers.entries())
        assert.ok(isRefusal(answer.status), `${targets[index]}: ${answer.status}`);
    }
  };

  test('twenty thousand bad requests leave nothing behind', async () => {
    await flood(REQUESTS / 5);
    const before = heapUsed();
    await flood(REQUESTS);
    const grown = heapUsed() - before;
    assert.ok(grown < 3 * MEGABYTE, `the heap grew by ${(grown / MEGABYTE).toFixed(1)} MB`);
  });
});

const isRefusal = (status: number) => status === 400 || status === 404;

/** One in ten asks the database. */
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
