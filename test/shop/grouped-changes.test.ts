// Tests that the changes of one product keep their order when earlier changes have failed. Changes that wait at the same time are made as one
// group.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { SecretKeys } from '../../src/platform/core/secret-keys.ts';
import type { Database } from '../../src/platform/database/port.ts';
import { Deadline } from '../../src/platform/core/deadline.ts';
import { DeadlineExceeded } from '../../src/platform/resilience/deadline.ts';
import { GroupedChanges } from '../../src/shop/grouped-changes.ts';
import { toFirstResponse } from '../../src/shop/idempotency.ts';
import { forEachEngine } from '../support/engines/each-engine.ts';
import { START } from '../support/service/market.ts';
import { until } from '../support/until.ts';

const WAIT_MS = 30_000;
const OPTIONS = { once: null, startBy: Deadline.none };
const DONE = toFirstResponse({ status: 200, headers: {}, body: '{}', hasSecret: false });

type Request = { productIds: readonly string[]; name: string };

forEachEngine('grouped changes', (engine) => {
  test('the changes of a product are made one after the other, also after a group has missed its deadline', async () => {
    const main: Database = await engine.open();
    const groups = new Map<string, PromiseWithResolvers<void>>();
    const changes = new GroupedChanges<Request>({
      statementsOf: () => main,
      clock: () => START,
      secretKeys: new SecretKeys([]),
      write: async (_db, _shopId, requests) => {
        const group = Promise.withResolvers<void>();
        groups.set(requests.map(({ name }) => name).join(), group);
        await group.promise;
        return requests.map(() => DONE);
      },
      sizeMax: 10,
    });
    const change = (name: string) => changes.change('shop', { productIds: ['p'], name }, OPTIONS);
    const first = change('first');
    await setImmediate();
    groups.get('first')?.reject(new DeadlineExceeded());
    // The first group fails while the second change waits for this group. So the second change fails too.
    const second = change('second');
    await assert.rejects(first, DeadlineExceeded);
    await assert.rejects(second);
    const third = change('third');
    await setImmediate();
    await setImmediate();
    const fourth = change('fourth');
    await setImmediate();
    await setImmediate();
    assert.deepEqual([...groups.keys()], ['first', 'third'], 'two changes of the product are made at the same time');
    groups.get('third')?.resolve();
    assert.deepEqual(await third, DONE);
    await until(() => groups.has('fourth'), WAIT_MS, 'the last change is not made');
    groups.get('fourth')?.resolve();
    assert.deepEqual(await fourth, DONE);
  });
});
