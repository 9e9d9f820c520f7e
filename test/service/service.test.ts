// Tests the order in which the parts of the service are closed.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { closeInOrder } from '../../src/service/service.ts';

test('the parts are closed in reverse order and the databases last, even when parts fail to close', async () => {
  const closed: string[] = [];
  const part = (name: string, error?: Error) => () => {
    closed.push(name);
    return error ? Promise.reject(error) : Promise.resolve();
  };
  const parts = () => [part('databases'), part('workers'), part('metrics'), part('server')];
  await closeInOrder(parts());
  assert.deepEqual(closed, ['server', 'metrics', 'workers', 'databases']);
  closed.length = 0;
  const [first, second] = [new Error('the socket is gone'), new Error('the disk is full')];
  await assert.rejects(closeInOrder(parts().with(3, part('server', first)).with(1, part('workers', second))), {
    errors: [first, second],
  });
  assert.deepEqual(closed, ['server', 'metrics', 'workers', 'databases']);
  await assert.rejects(closeInOrder(parts().with(2, part('metrics', first))), first);
});
