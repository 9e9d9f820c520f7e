// What a flood of bad requests may cost: bounded memory, and no way around the count.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { exchange, request } from '../support/raw-http.ts';
import { assertRefused } from '../support/refusal.ts';
import { useSampleService } from '../support/sample-service.ts';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

/** Bytes of the heap that are in use. */
function heapUsed(): number {
  for (let round = 0; round < 3; round += 1) collectGarbage();
  return process.memoryUsage().heapUsed;
}

const MEGABYTE = 1024 * 1024;
const BATCH_SIZE = 100;
const REQUESTS = 20_000;

describe('memory', () => {
  const service = useSampleService();
  let sent = 0;
  /** Sends bad requests, no two alike, and checks that each was refused. */
  const flood = async (count: number) => {
    for (const end = sent + count; sent < end; sent += BATCH_SIZE) {
      const targets = Array.from({ length: BATCH_SIZE }, (_, index) => badTarget(sent + index));
      const bytes = targets.map((target) => `GET ${target} HTTP/1.1\r\nHost: a\r\n\r\n`).join('');
      const { answers } = await exchange(service.url, bytes, { answers: BATCH_SIZE });
      for (const [index, answer] of answers.entries()) assert.ok(isRefusal(answer.status), targets[index]);
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

function badTarget(index: number): string {
  const targets = [
    `/v1/collections/none-${index}`,
    `/v1/collections/none-${index}/listings?limit=${index}x`,
    `/v1/collections?limit=1&cursor=${Buffer.from(`forged cursor ${index}`).toString('base64url')}`,
    `/v1/collections?cb=${index}&limit=0`,
    `/v1/nowhere/${index}`,
    `/v1/collections/%ff${index}`,
    `/v1/tokens/ethereum/0x${index.toString(16).padStart(40, '0')}/${index}`,
    `/v1/collections/harbour-lights/sales?cursor=${index}`,
  ];
  return targets[index % targets.length] ?? '';
}

describe('rate limits', () => {
  const limits = { list: 6, single: 12 };
  const service = useSampleService({ limits });

  test('no spelling of a path gets around its bucket', async () => {
    const lists = '/v1/collections?limit=1 /v1/collections/?x=1 /%76%31/collections /v1/collection%73?limit=0';
    const more = 'http://any.example/v1/collections /v1/collections/harbour-lights/listing%73';
    const spellings = `${lists} ${more}`.split(' ');
    for (const spelling of spellings) assert.notEqual((await request(service.url, spelling)).status, 429);
    for (const spelling of spellings) assertRefused(await request(service.url, spelling), 429, spelling);
    // The first request of all was for the document.
    const singles = [
      '/v1/%ff',
      '/%ff',
      '/v1#x',
      '/docs/reference.js',
      'http://a/v1',
      '/v1/collections/listings',
      '/v1/sales',
    ];
    for (const single of singles) assert.notEqual((await request(service.url, single)).status, 429, single);
    const headers = { 'x-forwarded-for': '203.0.113.9', forwarded: 'for=203.0.113.9', 'x-real-ip': '203.0.113.9' };
    for (let count = 1 + singles.length; count < limits.single; count += 1) {
      assert.equal((await request(service.url, '/v1', { headers, method: 'HEAD' })).status, 200);
    }
    for (const single of singles) assertRefused(await request(service.url, single, { headers }), 429, single);
  });
});
