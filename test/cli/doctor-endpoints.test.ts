// What `mercat doctor` reports about RPC endpoints.

import assert from 'node:assert/strict';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import type { TestContext } from 'node:test';
import { test } from 'node:test';
import { checkOutside } from '../../src/cli/doctor/outside.ts';
import { readConfig } from '../../src/service/config.ts';

const LIMIT_MS = 60_000;

/** What doctor reports about an endpoint that responds with this status and body. */
async function examine(t: TestContext, status: number, body: string) {
  const server = http.createServer((_request, response) => response.writeHead(status).end(body));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => server.close());
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const config = readConfig({ RPC_URL_ETHEREUM: url, PRICE_SOURCES: 'none' });
  const findings = await checkOutside(config, AbortSignal.timeout(LIMIT_MS));
  const { level, message, mend } = findings.find(({ name }) => name === 'ethereum endpoint 1 of 1') ?? assert.fail();
  return { level, message: message.replace(/\d+ ms/, 'N ms'), mend };
}

test('doctor names the chain of an endpoint that does not serve the configured chain', async (t) => {
  const served = (result: string) => JSON.stringify({ jsonrpc: '2.0', id: 1, result });
  assert.deepEqual(await examine(t, 200, served('0x1')), { level: 'ok', message: 'it responds in N ms', mend: null });
  assert.equal((await examine(t, 200, served('0x89'))).message, 'it serves chain 137, not 1');
});

test('doctor distinguishes a JSON-RPC error from other responses, and never shows text that the endpoint has sent', async (t) => {
  const error = { code: -32_001, message: 'no such key: 0123456789abcdef' };
  const mend = 'see RPC_URL_ETHEREUM';
  assert.deepEqual(await examine(t, 200, JSON.stringify({ jsonrpc: '2.0', id: 1, error })), {
    level: 'fail',
    message: 'it responds with the JSON-RPC error -32001',
    mend,
  });
  for (const body of ['<html>', 'null', '[]', '{"error":"x"}']) {
    const message = 'its response is not JSON-RPC (status 404)';
    assert.deepEqual(await examine(t, 404, body), { level: 'fail', message, mend });
  }
});

test('doctor names the setting of an endpoint whose request limit is exceeded', async (t) => {
  const { level, message, mend } = await examine(t, 429, '');
  assert.deepEqual([level, message], ['warn', 'its request limit is exceeded (429)']);
  assert.match(mend ?? '', /RPC_URL_ETHEREUM/);
});
