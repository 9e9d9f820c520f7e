// Sends random requests to the public interfaces, and compares the responses with the OpenAPI documents. FUZZ_SEED is the seed of the requests.
// FUZZ_RUNS sets the number of runs for each kind of request.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { fuzzContract } from './support/fuzz/fuzz.ts';
import { useSampleService } from './support/service/sample-service.ts';

const RUNS = Number(process.env['FUZZ_RUNS'] ?? 60);
const SEED = Number(process.env['FUZZ_SEED'] ?? 1);

const INTERFACES = {
  'the marketplace interface': {
    prefix: '/v1',
    authenticated: new Set(['cursor']),
    judgedByService: new Set(['cursor', 'address', 'tokenId']),
  },
  'the explore interface': {
    prefix: '/explore/v1',
    first: ['/v1/collections', '/v1/collections/harbour-lights/listings'],
    authenticated: new Set(['cursor']),
    judgedByService: new Set([
      'cursor',
      'address',
      'owner',
      'maker',
      'source',
      'offset',
      'collection',
      'token',
      'wallet',
      'kinds',
      'traits[Wind]',
      'trait',
      'from',
      'to',
      'ids',
      'window',
      'listed',
    ]),
  },
};

for (const [name, options] of Object.entries(INTERFACES)) {
  describe(name, () => {
    // The timeout is long, so that no query times out on a busy machine.
    const service = useSampleService({ settings: { SOURCE_TIMEOUT_MS: '60000' } });

    test(`${name} conforms to its OpenAPI document for valid and invalid requests`, async (t) => {
      const report = await fuzzContract({ ...options, url: service.url, seed: SEED, runs: RUNS });
      t.diagnostic(
        `${report.requests} requests, ${report.accepted} of them accepted, seed ${SEED}, ${RUNS} runs for each kind of request`,
      );
      const found = report.findings.map(({ operation, kind, message }) => `${operation}, ${kind}: ${message}`);
      assert.deepEqual(found, [], `the service does not conform: repeat with FUZZ_SEED=${SEED} FUZZ_RUNS=${RUNS}`);
      assert.ok(report.accepted > report.requests / 20, 'less than a twentieth of the requests were accepted');
      assert.deepEqual(
        service.logged.filter((line) => /"level":"(warn|error)"/.test(line)),
        [],
      );
    });
  });
}
