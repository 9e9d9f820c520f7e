// Fuzzes the marketplace interface against its own OpenAPI document. FUZZ_SEED selects other requests. FUZZ_RUNS sets their number.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { fuzzContract } from './support/fuzz/fuzz.ts';
import { useSampleService } from './support/service/sample-service.ts';

const RUNS = Number(process.env['FUZZ_RUNS'] ?? 60);
const SEED = Number(process.env['FUZZ_SEED'] ?? 1);

describe('the marketplace interface', () => {
  // The timeout is long, so that no query times out on a busy machine.
  const service = useSampleService({ settings: { SOURCE_TIMEOUT_MS: '60000' } });

  test('conforms to its OpenAPI document for valid and invalid requests', async (t) => {
    const report = await fuzzContract({
      url: service.url,
      seed: SEED,
      runs: RUNS,
      authenticated: new Set(['cursor']),
      judgedByService: new Set(['cursor', 'address', 'tokenId']),
    });
    t.diagnostic(
      `${report.requests} requests, ${report.accepted} of them accepted, seed ${SEED}, ${RUNS} runs for each kind of request`,
    );
    const found = report.findings.map(({ operation, kind, message }) => `${operation}, ${kind}: ${message}`);
    assert.deepEqual(found, [], `the service does not conform: repeat with FUZZ_SEED=${SEED} FUZZ_RUNS=${RUNS}`);
    assert.ok(report.accepted > report.requests / 10, 'too few requests name collections and tokens that exist');
    assert.deepEqual(
      service.logged.filter((line) => /"level":"(warn|error)"/.test(line)),
      [],
    );
  });
});
