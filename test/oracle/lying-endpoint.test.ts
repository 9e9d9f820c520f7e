// The first endpoint of a service begins to return wrong data: it leaves out logs, serves a fork, or serves another chain. At every
// block the service still lists exactly what the chain can fill. The status of the service counts failures of this endpoint.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Follower } from '../../oracle/run/followers.ts';
import { describeResult } from '../../oracle/run/report.ts';
import { runOracle } from '../../oracle/run/run.ts';
import type { Lie, LyingEndpoint } from '../support/chain/lying-endpoint.ts';
import { startLyingEndpoint } from '../support/chain/lying-endpoint.ts';
import { directoryWithDatabase } from '../support/engines/embedded-template.ts';

const ORDERS = 12;
const BLOCKS_OF_EACH = 2;

/** Lies that the service detects with one truthful endpoint. Each lie contradicts itself or a block that was read before. */
const REFUTABLE: readonly Lie[] = ['omits-logs', 'fork', 'other-chain'];
/** Lies that contradict nothing. The service detects them only with two truthful endpoints. */
const CONSISTENT: readonly Lie[] = ['new-fork'];

// Two run at a time, because a run partly waits for its service and its chain.
describe('endpoints that lie', { concurrency: 2 }, () => {
  for (const lie of [...REFUTABLE, ...CONSISTENT]) {
    test(`while the first endpoint lies (${lie}), listings still agree with the chain`, async (t) => {
      let liar: LyingEndpoint | null = null;
      const failures: number[] = [];
      try {
        const result = await runOracle({
          seed: 4,
          blocks: 3 * BLOCKS_OF_EACH,
          orders: ORDERS,
          bids: 6,
          mirrorShare: 0.5,
          kills: 0,
          reorganisations: 1,
          reorgDepthMax: 2,
          followers: async (chainUrl) => {
            liar = await startLyingEndpoint(chainUrl);
            const truthful = CONSISTENT.includes(lie) ? [chainUrl, chainUrl] : [chainUrl];
            const RPC_URL_ETHEREUM = [liar.url, ...truthful].join();
            return [{ name: 'service', settings: { DATA_DIR: await directoryWithDatabase(), RPC_URL_ETHEREUM } }];
          },
          // The endpoint lies in the middle of the run.
          onBlock: async (index, followers) => {
            if (index === BLOCKS_OF_EACH) await liar?.tell(lie);
            if (index === 2 * BLOCKS_OF_EACH) {
              for (const follower of followers) failures.push(await failuresOf(follower));
              await liar?.tell('none');
            }
          },
        });
        for (const line of describeResult(result).trim().split('\n')) t.diagnostic(line);
        assert.ok(((liar as LyingEndpoint | null)?.told[lie] ?? 0) > 0, 'the endpoint did not lie');
        assert.deepEqual(result.findings, []);
        assert.ok(
          failures.every((count) => count > 0),
          `the status counts no failure of a lying endpoint: ${failures.join(', ')}`,
        );
      } finally {
        await (liar as LyingEndpoint | null)?.close();
      }
    });
  }
});

/** The failures of the first endpoint, as the status of the service shows them. */
async function failuresOf(follower: Follower): Promise<number> {
  const { chains } = (await follower.operate('status', {})) as { chains: { endpoints: { failures: number }[] }[] };
  return chains[0]?.endpoints[0]?.failures ?? 0;
}
