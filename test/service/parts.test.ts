// Tests the order in which the parts of the service are closed.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Parts } from '../../src/service/parts.ts';

test('the parts are closed in reverse order, even when parts fail to close', async () => {
  const closed: string[] = [];
  const close = (errors: Readonly<Record<string, Error>>) => {
    const parts = new Parts();
    for (const name of ['workers', 'metrics', 'server']) {
      const part = {
        close: () => {
          closed.push(name);
          return errors[name] ? Promise.reject(errors[name]) : Promise.resolve();
        },
      };
      assert.equal(parts.use(part), part);
    }
    assert.equal(parts.use(null), null);
    return parts.close();
  };
  await close({});
  assert.deepEqual(closed.splice(0), ['server', 'metrics', 'workers']);
  const [first, second] = [new Error('the socket is gone'), new Error('the disk is full')];
  await assert.rejects(close({ server: first, workers: second }), { errors: [first, second] });
  assert.deepEqual(closed.splice(0), ['server', 'metrics', 'workers']);
  await assert.rejects(close({ metrics: first }), first);
});

test('parts that are closed together do not wait for each other', async () => {
  const parts = new Parts({ together: true });
  const { promise, resolve } = Promise.withResolvers<void>();
  parts.onClose(() => promise);
  parts.onClose(resolve);
  parts.onClose(() => promise);
  await parts.close();
});
