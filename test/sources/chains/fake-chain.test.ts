// A simulated chain is followed through reorganisations and endpoints of which one lies. In the end, what is stored must be what happened on
// the chain. `npm run fake-chain` runs the same on longer chains.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { followFakeChain } from '../../support/chain/fake/follow-fake-chain.ts';
import { forEachEngine } from '../../support/engines/each-engine.ts';

const { FAKE_CHAIN_BLOCKS, FAKE_CHAIN_REORGANISATIONS, FAKE_CHAIN_ENDPOINTS, FAKE_CHAIN_SEED } = process.env;
const blocks = Number(FAKE_CHAIN_BLOCKS ?? 200);
const reorganisations = Number(FAKE_CHAIN_REORGANISATIONS ?? 15);
const seed = Number(FAKE_CHAIN_SEED ?? 5);

forEachEngine('a simulated chain', (engine) => {
  for (const endpoints of [2, 3] as const) {
    if (FAKE_CHAIN_ENDPOINTS !== undefined && Number(FAKE_CHAIN_ENDPOINTS) !== endpoints) continue;
    test(`with ${endpoints} endpoints of which one lies, all sales, owners, sums and changes are right in the end`, async (t) => {
      const report = await followFakeChain(await engine.open(), { blocks, reorganisations, endpoints, seed });
      const { wrong, ...figures } = report;
      t.diagnostic(JSON.stringify(figures));
      assert.deepEqual(wrong, []);
      assert.ok(figures.height >= blocks && figures.reorganisations >= reorganisations);
      assert.ok(
        Object.values(figures.compared).every((count) => count > 0),
        'nothing of a kind was compared',
      );
    });
  }
});
