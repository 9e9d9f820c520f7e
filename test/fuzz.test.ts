// The interface against its own document, with more requests than anyone would think of. They are the same every time, unless
// FUZZ_SEED asks for others; FUZZ_RUNS asks for more.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { fuzzContract } from './support/fuzz/fuzz.ts';
import { useSampleService } from './support/service/sample-service.ts';

const RUNS = Number(process.env['FUZZ_RUNS'] ?? 60);
const SEED = Number(process.env['FUZZ_SEED'] ?? 1);

describe('the marketplace interface', () => {
  // So patient that a busy machine never makes a source give up.
  const service = useSampleService({ settings: { SOURCE_TIMEOUT_MS: '60000' } });

  test('keeps every promise of its document, whatever is asked', async (t) => {
    const report = await fuzzContract({
      url: service.url,
      seed: SEED,
      runs: RUNS,
      authenticated: new Set(['cursor']),
      judgedByService: new Set(['cursor', 'address', 'tokenId']),
    });
    t.diagnostic(`${report.requests} requests, ${report.accepted} of them accepted, seed ${SEED}, ${RUNS} runs each`);
    const found = report.findings.map(({ operation, kind, message }) => `${operation}, ${kind}: ${message}`);
    assert.deepEqual(found, [], `repeat with FUZZ_SEED=${SEED} FUZZ_RUNS=${RUNS}`);
    assert.ok(report.accepted > report.requests / 10, 'requests name what is there');
    assert.deepEqual(
      service.logged.filter((line) => /"level":"(warn|error)"/.test(line)),
      [],
    );
  });
});
