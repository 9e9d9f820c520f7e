// Tests whether and in which order a channel handles the calls and replies that it receives.

import assert from 'node:assert/strict';
import { setImmediate as turn } from 'node:timers/promises';
import { test } from 'node:test';
import { Channel } from '../../src/processes/channel.ts';

type Calls = { grant: { input: null; output: string }; recall: { input: null; output: null } };

function createChannel() {
  const order: string[] = [];
  let receive: (message: unknown) => void = () => undefined;
  const link = { send: () => undefined, onMessage: (listener: typeof receive) => void (receive = listener) };
  const recall = () => {
    order.push('recall');
    return null;
  };
  const channel = new Channel<Calls, Calls>(link, { grant: () => '', recall });
  return { channel, order, receive: (message: unknown) => receive(message) };
}

test('a call that arrives after the channel was closed is not handled', async () => {
  const { channel, order, receive } = createChannel();
  channel.close();
  receive({ calls: [[1, 'recall', null]], replies: [] });
  await turn();
  assert.deepEqual(order, []);
});

test('if a reply and a call arrive in one message, the caller continues with the reply before the call is handled', async () => {
  const { channel, order, receive } = createChannel();
  const call = async () => channel.call('grant', null);
  const granted = (async () => order.push(await call()))();
  await turn();
  receive({ calls: [[1, 'recall', null]], replies: [[1, null, 'grant']] });
  await granted;
  await turn();
  assert.deepEqual(order, ['grant', 'recall']);
});
