// A small run of the oracle. Two services follow a local chain, while services are killed and blocks are reorganised. After each
// block, everything that the services list is compared with the chain. `npm run oracle` performs a long run. With another
// ORACLE_SEED, other events happen.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { describeResult } from '../../oracle/run/report.ts';
import { runOracle } from '../../oracle/run/run.ts';
import { createTwoServices } from '../../oracle/run/two-services.ts';

const SEED = Number(process.env['ORACLE_SEED'] ?? 1);
const FAULT_SHARE = 0.02;
const KILLS = 2;
const REORGANISATIONS = 4;
const REORG_DEPTH_MAX = 6;
const BLOCKS = 14;
const ORDERS = 30;
const BIDS = 24;
/** The share of the orders that only a marketplace reports. */
const MIRROR_SHARE = 0.5;

test('at every block, two services list exactly the asks and the bids that the chain can fill', async (t) => {
  const services = createTwoServices({ seed: SEED, faultShare: FAULT_SHARE });
  try {
    const result = await runOracle({
      seed: SEED,
      blocks: BLOCKS,
      orders: ORDERS,
      bids: BIDS,
      mirrorShare: MIRROR_SHARE,
      kills: KILLS,
      reorganisations: REORGANISATIONS,
      reorgDepthMax: REORG_DEPTH_MAX,
      followers: services.settings,
    });
    for (const line of describeResult(result).trim().split('\n')) t.diagnostic(line);
    assert.deepEqual(result.findings, []);
    // The digest of a service is a hash over all data of the chain that the service serves at a block. It must be the same in both
    // services.
    assert.deepEqual(result.differentDigests, []);
    const { blocks, digests, kills, reorganisations, deepest } = result;
    assert.deepEqual(
      { blocks, digests, kills, reorganisations },
      { blocks: BLOCKS, digests: BLOCKS, kills: KILLS, reorganisations: REORGANISATIONS },
    );
    assert.ok(deepest > 1, 'no reorganisation replaced more than one block');
    assert.ok(result.fillable.least >= ORDERS / 2, 'at some block less than half of the orders could be filled');
    assert.ok(result.acceptable.least >= BIDS / 2, 'at some block less than half of the bids could be accepted');
    assert.ok(result.bids > 0 && result.topBids > 0, 'no bid was compared');
    assert.ok(result.rightlyAbsent > 0, 'every order could be filled at every block');
  } finally {
    await services.close();
  }
});
