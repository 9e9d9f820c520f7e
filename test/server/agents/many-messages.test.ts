// Many messages to /mcp that arrive together do not block the event loop: other requests of the process are served between two messages.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import Fastify from 'fastify';
import { MCP_PATH, registerMcpRoute } from '../../../src/server/agents/http/mcp.ts';
import { createChains } from '../../../src/platform/core/chains.ts';
import { createLog } from '../../../src/platform/core/log.ts';

const MESSAGES = 40;
const MESSAGE = { jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} };

test('forty messages that arrive together are handled in many turns of the event loop', async (t) => {
  let turn = 0;
  let immediate = setImmediate(function next() {
    turn += 1;
    immediate = setImmediate(next);
  });
  t.after(() => clearImmediate(immediate));
  /** The turn of the event loop in which each message was handled. */
  const turns: number[] = [];
  const app = Fastify();
  t.after(() => app.close());
  registerMcpRoute(app, {
    name: 'mercat',
    version: '1.0.0',
    chains: createChains(),
    log: createLog('silent'),
    baseUrl: () => 'http://localhost',
    readFor: () => {
      turns.push(turn);
      return () => assert.fail('no message of this test reads');
    },
  });
  const send = () =>
    app.inject({
      method: 'POST',
      url: MCP_PATH,
      headers: { accept: 'application/json, text/event-stream', 'content-type': 'application/json' },
      payload: JSON.stringify(MESSAGE),
    });
  assert.equal((await send()).statusCode, 200);
  turns.length = 0;
  const responses = await Promise.all(Array.from({ length: MESSAGES }, send));
  assert.ok(responses.every(({ statusCode }) => statusCode === 200));
  assert.equal(turns.length, MESSAGES);
  const distinct = new Set(turns).size;
  assert.ok(distinct >= MESSAGES / 4, `${MESSAGES} messages were handled in ${distinct} turns`);
});
