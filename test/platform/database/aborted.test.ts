// Tests transactions that a database aborts because of another transaction. Aborted transactions are repeated. If the last attempt is
// aborted too, the response is a 503.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { repeatAborted } from '../../../src/platform/database/port.ts';
import { createLog } from '../../../src/platform/core/log.ts';
import { toErrorResponse, toKnownError } from '../../../src/platform/http/error-response.ts';
import { OutageLog } from '../../../src/platform/http/outage-log.ts';

const withCode = (code: string) => Object.assign(new Error('aborted by the database'), { code });

test('a transaction is repeated only after a deadlock or a serialization failure, up to four attempts', async () => {
  for (const [code, attempts] of [
    ['40P01', 4],
    ['40001', 4],
    ['23505', 1],
  ] as const) {
    let runs = 0;
    const run = repeatAborted(async () => {
      runs += 1;
      throw withCode(code);
    });
    await assert.rejects(run, { code });
    assert.equal(runs, attempts, code);
  }
  let runs = 0;
  const run = async () => ((runs += 1) < 3 ? Promise.reject(withCode('40P01')) : runs);
  assert.equal(await repeatAborted(run), 3);
});

test('a transaction that the database aborted in each attempt gives a 503 with Retry-After', () => {
  const outages = new OutageLog(createLog('silent'));
  const { status, headers, envelope } = toErrorResponse(toKnownError(outages, withCode('40P01')));
  assert.deepEqual([status, headers['retry-after'], envelope.error.code], [503, '2', 'unavailable']);
});
