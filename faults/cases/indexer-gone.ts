// The separate database of the indexer is killed, and started again later.

import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Fault } from '../fault.ts';
import { STORE_PATHS } from '../load.ts';

const DOWN_MS = 8_000;
const PAUSE_MS = 50;

export const fault: Fault = {
  name: 'indexer-gone',
  promise: 'the store is not affected; marketplace reads are 200 with less data, or 502',
  engines: ['postgresql'],
  run: async ({ start }) => {
    const platform = await start({ ownIndexer: true });
    const store = platform.newClient();
    await platform.whileBroken(async () => {
      await platform.indexer.kill();
      const until = performance.now() + DOWN_MS;
      while (performance.now() < until) {
        for (const path of STORE_PATHS) await store.send({ method: 'GET', path });
        await store.send({ method: 'POST', path: '/api/v1/products', body: { name: 'Mug', price: '1' } });
        await sleep(PAUSE_MS);
      }
      await platform.indexer.start();
    });
    const tally = store.takeTally();
    assert.equal(
      tally.count(200) + tally.count(201),
      tally.total,
      `a request of the store failed: ${tally.describe()}`,
    );
    assert.equal(platform.during.count(503), 0, `some requests got a 503: ${platform.during.describe()}`);
    return [`gone for ${DOWN_MS / 1_000} s`, `store: ${tally.describe()}`];
  },
};
