// A short run of the model on each engine. `npm run oracle -- --steps N` performs longer ones.

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { onEmbedded, onPostgres } from '../../oracle/model/command.ts';
import { runModel } from '../../oracle/model/run.ts';
import { canRunPostgres } from '../support/engines/postgres-server.ts';

const STEPS = 12;
const SEED = 5;

for (const [name, open] of [
  ['embedded', onEmbedded],
  ['postgresql', onPostgres],
] as const) {
  describe(`the model [${name}]`, { skip: name === 'postgresql' && !canRunPostgres() }, () => {
    let engine: Awaited<ReturnType<typeof open>>;
    before(async () => {
      engine = await open();
    });
    after(() => engine.close());

    test('everything that the service serves after each step is what the model expects', async (t) => {
      const { withDatabase } = engine;
      const run = { withDatabase, seed: SEED, cases: 1, stepsPerCase: STEPS, shrinkMs: 60_000 };
      const { failure, steps, responses, repeated } = await runModel(run);
      t.diagnostic(`${steps} steps, ${responses} responses, ${repeated} cases repeated`);
      assert.equal(failure, null, failure ?? '');
      assert.ok(steps >= STEPS && responses > 0);
    });
  });
}
