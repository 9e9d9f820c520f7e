// Runs of the model against a service, on both engines: a few cases with fixed seeds.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runModel } from '../../oracle/model/run.ts';
import { forEachEngine } from '../support/engines/each-engine.ts';

forEachEngine('the model and the service', (engine) => {
  test('agree after each of some random imports, undos, removals and steps of the clock', async (t) => {
    const result = await runModel({
      withDatabase: async (use) => use(await engine.settings()),
      seed: Number(process.env['MODEL_SEED'] ?? 1),
      cases: Number(process.env['MODEL_CASES'] ?? 2),
      stepsPerCase: Number(process.env['MODEL_STEPS'] ?? 15),
      shrinkMs: 60_000,
      patienceMs: Number(process.env['MODEL_PATIENCE'] ?? 15000),
      onProgress: (line) => t.diagnostic(line),
    });
    t.diagnostic(`${result.steps} steps, ${result.responses} responses`);
    assert.equal(result.failure, null);
  });
});
