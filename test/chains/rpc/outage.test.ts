// An endpoint that is gone for long: how often it is asked meanwhile, and how soon its return is seen.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createChains } from '../../../src/core/chains.ts';
import { createTestReader } from '../../support/chain/reader.ts';
import { ChainUnavailable } from '../../../src/chains/rpc/rpc-failure.ts';
import { rpcRoutes } from '../../support/replay/rpc.ts';
import { startReplayServer } from '../../support/replay/replay.ts';

/** The longest pause of the task that follows a chain (chains/task.ts): as late it may come after a rest is over. */
const PAUSE_MS = 15_000;
const MINUTE_MS = 60_000;
/** More than it takes for the rests to reach their longest: from there on an hour is like a minute. */
const RESTS = 8;
/** Three attempts, and what they have to know first. */
const REQUESTS_MAX = 4;

test('an endpoint that fails for long is asked little, and its return is seen within a minute', async (t) => {
  const replay = await startReplayServer(t, rpcRoutes({ chainId: 1 }));
  let now = Date.now();
  const chain = createChains().get('ethereum') ?? assert.fail();
  const reader = createTestReader({ chain, urls: [replay.url], clock: () => now });
  t.after(() => reader.close());
  const isRead = () =>
    reader.blocks.head().then(
      () => true,
      (error: unknown) => (error instanceof ChainUnavailable ? false : assert.fail(String(error))),
    );
  assert.ok(await isRead());
  const ask = async () => {
    replay.reset();
    const read = await isRead();
    assert.ok(replay.count() <= REQUESTS_MAX, `${replay.count()} requests`);
    return read;
  };
  replay.fail('server-error');
  for (let rests = 0; rests < RESTS; rests += 1) {
    assert.equal(await ask(), false);
    now += MINUTE_MS - PAUSE_MS;
  }
  assert.equal(await ask(), false);
  now += MINUTE_MS / 5;
  assert.equal(await ask(), false);
  assert.equal(replay.count(), 0, 'it is asked a few times a minute at most');
  replay.heal();
  now += MINUTE_MS - PAUSE_MS - MINUTE_MS / 5;
  assert.ok(await ask(), 'a minute after its return at the latest');
});
