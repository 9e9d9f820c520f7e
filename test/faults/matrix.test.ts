// Runs one fault of the fault matrix. `npm run test:faults` runs all faults.

import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { fault } from '../../faults/cases/failover-synchronous.ts';
import { runFault } from '../../faults/run.ts';
import { cleanUp } from '../support/engines/cleanup.ts';
import { canStartPostgres } from '../support/engines/postgres-server.ts';

/** The longest wait for the recovery after the fault. Only a recovery that hangs takes so long. */
const RECOVERY_LIMIT_MS = 600_000;

const skip = canStartPostgres() || process.env['REQUIRE_POSTGRES'] === '1' ? false : 'PostgreSQL is not installed';

after(cleanUp);

test('a failover to a synchronous replica loses no acknowledged write and no event', { skip }, async (t) => {
  const { broken, facts } = await runFault(fault, 'postgresql', { limitMs: RECOVERY_LIMIT_MS });
  for (const fact of facts) t.diagnostic(fact);
  assert.deepEqual(broken, []);
});
