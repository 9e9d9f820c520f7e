// Compares a service on each engine with the model of the oracle, after each of a few random steps. The seed is fixed, so every run takes the same
// steps. `npm run oracle -- --steps N` takes more.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runModel } from '../../oracle/model/run.ts';
import { forEachEngine } from '../support/engines/each-engine.ts';

const RUN = { seed: 1, cases: 1, stepsPerCase: 15, shrinkMs: 60_000 };

forEachEngine('the model of the market', (engine) => {
  test('a service serves what the model has, after each of some random imports, undos, removals, store requests and steps of the clock', async (t) => {
    const result = await runModel({ ...RUN, withDatabase: async (use) => use(await engine.settings()) });
    t.diagnostic(`${result.steps} steps, ${result.responses} responses`);
    assert.equal(result.failure, null);
    assert.equal(result.steps, RUN.cases * RUN.stepsPerCase);
  });
});
