// Tests the calls between two ends of a channel.

import assert from 'node:assert/strict';
import { setImmediate as turn } from 'node:timers/promises';
import { test } from 'node:test';
import type { CallTable, Link } from '../../../src/service/processes/channel.ts';
import { Channel } from '../../../src/service/processes/channel.ts';

/** Two ends of a connection. Each message arrives in a later turn of the event loop. */
function createLinks(): [Link, Link] {
  const receivers: ((message: unknown) => void)[] = [];
  const toLink = (own: number, other: number): Link => ({
    send: (message) => void turn().then(() => receivers[other]?.(JSON.parse(JSON.stringify(message)))),
    onMessage: (receive) => void (receivers[own] = receive),
  });
  return [toLink(0, 1), toLink(1, 0)];
}

test('a call that arrives after the channel was closed is not handled', async () => {
  const handled: string[] = [];
  let receive: (message: unknown) => void = () => undefined;
  const link = { send: () => undefined, onMessage: (listener: typeof receive) => void (receive = listener) };
  type Calls = CallTable & { stop: { input: null; output: null } };
  const stop = () => {
    handled.push('stop');
    return null;
  };
  const channel = new Channel<CallTable, Calls>(link, { stop });
  receive({ call: [1, 'stop', null] });
  await turn();
  assert.deepEqual(handled, ['stop']);
  channel.close();
  receive({ call: [2, 'stop', null] });
  await turn();
  assert.deepEqual(handled, ['stop']);
});

test('a call to another process is rejected with the error message of its handler, and a call without a handler is rejected too', async () => {
  const [left, right] = createLinks();
  type Calls = CallTable & { fail: { input: null; output: null }; unknown: { input: null; output: null } };
  const caller: Channel<Calls, CallTable> = new Channel<Calls, CallTable>(left, {});
  const handler = new Channel<CallTable, CallTable>(right, {
    fail: () => {
      throw new Error('no such thing');
    },
  });
  await assert.rejects(caller.call('fail', null), /no such thing/);
  await assert.rejects(caller.call('unknown', null), /there is no call unknown/);
  const waiting = caller.call('fail', null);
  caller.close();
  await assert.rejects(waiting, /has ended/);
  await assert.rejects(caller.call('fail', null), /is closed/);
  handler.close();
});
