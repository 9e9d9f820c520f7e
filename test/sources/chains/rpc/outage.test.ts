// Tests how often an endpoint is called during a long outage, and how soon its recovery is noticed.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createChains } from '../../../../src/platform/core/chains.ts';
import { createTestReader } from '../../../support/chain/reader.ts';
import { ChainUnavailable } from '../../../../src/sources/chains/rpc/rpc-failure.ts';
import { rpcRoutes } from '../../../support/replay/rpc.ts';
import { startReplayServer } from '../../../support/replay/replay.ts';

/**
 * The longest pause of the task that follows a chain (sources/chains/task.ts). During the pause no trial is made, even if the breaker
 * allows one.
 */
const PAUSE_MS = 15_000;
const MINUTE_MS = 60_000;
/** After this many failed trials the breaker has its longest open time. A longer outage would show nothing new. */
const OPENINGS = 8;
/** The most requests of one read: one request that verifies the chain id, and three attempts of the read. */
const REQUESTS_MAX = 4;

test('during a long outage an endpoint gets at most four requests for each read, and its recovery is noticed within a minute', async (t) => {
  const replay = await startReplayServer(t, rpcRoutes({ chainId: 1 }));
  let now = Date.now();
  const chain = createChains().get('ethereum') ?? assert.fail();
  const reader = createTestReader({ chain, urls: [replay.url], clock: () => now });
  t.after(() => reader.close());
  const canRead = () =>
    reader.blocks.head().then(
      () => true,
      (error: unknown) => (error instanceof ChainUnavailable ? false : assert.fail(String(error))),
    );
  assert.ok(await canRead());
  const readAgain = async () => {
    replay.reset();
    const succeeded = await canRead();
    assert.ok(replay.count() <= REQUESTS_MAX, `${replay.count()} requests`);
    return succeeded;
  };
  replay.fail('server-error');
  for (let openings = 0; openings < OPENINGS; openings += 1) {
    assert.equal(await readAgain(), false);
    now += MINUTE_MS - PAUSE_MS;
  }
  assert.equal(await readAgain(), false);
  now += MINUTE_MS / 5;
  assert.equal(await readAgain(), false);
  assert.equal(replay.count(), 0, 'a request was sent while the breaker was open');
  replay.heal();
  now += MINUTE_MS - PAUSE_MS - MINUTE_MS / 5;
  assert.ok(await readAgain(), '45 s after the last trial in the outage, the endpoint was not read again');
});
