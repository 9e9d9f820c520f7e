// Reads many transactions from endpoints that are distant or rate-limited.

import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import type { TestContext } from 'node:test';
import { test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import type { Hex } from '../../../../src/platform/core/evm.ts';
import { createChains } from '../../../../src/platform/core/chains.ts';
import { createLog } from '../../../../src/platform/core/log.ts';
import { ChainUnavailable } from '../../../../src/sources/chains/rpc/rpc-failure.ts';
import type { ChainReaderOptions } from '../../../../src/sources/chains/rpc/chain-reader.ts';
import { createTestReader } from '../../../support/chain/reader.ts';

const SENDER = `0x${'1'.repeat(40)}`;
const toHash = (number: number): Hex => `0x${number.toString(16).padStart(64, '0')}`;
const hashesOf = (count: number): Hex[] => Array.from({ length: count }, (_, number) => toHash(number));

type Call = { id: number; method: string; params: [Hex] };

/**
 * Serves transactions. A request with more calls than are left of `quota` is rejected with 429. After the rejection, the quota is full again, as
 * after a wait.
 */
async function startEndpoint(t: TestContext, { quota = Number.POSITIVE_INFINITY, delayMs = 0 } = {}) {
  const truth = { sender: SENDER };
  const counts = { rejected: 0, inProgress: 0, inProgressMax: 0, served: new Map<Hex, number>() };
  let left = quota;
  const toResponse = ({ id, method, params: [hash] }: Call) => {
    if (method === 'eth_chainId') return { jsonrpc: '2.0', id, result: '0x1' };
    counts.served.set(hash, (counts.served.get(hash) ?? 0) + 1);
    return { jsonrpc: '2.0', id, result: { hash, from: truth.sender, input: '0x12345678' } };
  };
  const respond = async (body: string): Promise<[status: number, body: unknown]> => {
    const received = JSON.parse(body) as Call | Call[];
    const calls = [received].flat();
    counts.inProgress += 1;
    counts.inProgressMax = Math.max(counts.inProgressMax, counts.inProgress);
    await delay(delayMs);
    counts.inProgress -= 1;
    if (calls.length > left) {
      left = quota;
      counts.rejected += 1;
      return [429, {}];
    }
    left -= calls.length;
    return [200, Array.isArray(received) ? received.map(toResponse) : toResponse(received)];
  };
  const server = createServer((request, response) => {
    void text(request)
      .then(respond)
      .then(([status, body]) => response.writeHead(status).end(JSON.stringify(body)));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => server.close());
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, counts, truth };
}

function readerOf(t: TestContext, urls: string[], options: Partial<ChainReaderOptions> = {}) {
  const chain = createChains().get('ethereum');
  assert.ok(chain);
  const reader = createTestReader({ chain, urls, openMs: 5, ...options });
  t.after(() => reader.close());
  return reader;
}

test('a read of many transactions sends up to four batches at once', async (t) => {
  const { url, counts } = await startEndpoint(t, { delayMs: 10 });
  assert.equal((await readerOf(t, [url]).transactions(hashesOf(1_000))).size, 1_000);
  assert.equal(counts.inProgressMax, 4);
  assert.deepEqual([counts.served.size, Math.max(...counts.served.values())], [1_000, 1]);
});

test('if the rate limit of an endpoint counts each call of a batch, a read takes smaller batches, and completes', async (t) => {
  const { url, counts } = await startEndpoint(t, { quota: 20 });
  const reader = readerOf(t, [url]);
  assert.equal((await reader.transactions(hashesOf(300))).size, 300);
  assert.ok((reader.endpoints()[0]?.batchSize ?? 0) <= 20);
  assert.ok(counts.rejected >= 300 / 20, `${counts.rejected} rate limits`);
});

test('an endpoint that accepts batches between its rate limits causes no warning, and an endpoint that accepts none causes one warning', async (t) => {
  const linesOf = async (quota: number) => {
    const lines: string[] = [];
    const { url } = await startEndpoint(t, { quota });
    const log = createLog('info', (line) => lines.push((JSON.parse(line) as { message: string }).message));
    assert.equal((await readerOf(t, [url], { log }).transactions(hashesOf(150))).size, 150);
    return lines;
  };
  assert.deepEqual(await linesOf(120), []);
  assert.deepEqual(await linesOf(20), ['the breaker of an endpoint opened after failures', 'an endpoint works again']);
});

test('a repeated read requests only the transactions that the endpoint has not sent before', async (t) => {
  const { url, counts } = await startEndpoint(t, { quota: 60 });
  const reader = readerOf(t, [url], { patienceMs: 0 });
  let failures = 0;
  for (;;) {
    try {
      assert.equal((await reader.transactions(hashesOf(600))).size, 600);
      break;
    } catch (error) {
      assert.ok(error instanceof ChainUnavailable, String(error));
      failures += 1;
      await delay(5);
    }
  }
  assert.ok(failures > 1, 'no read failed');
  assert.deepEqual([counts.served.size, Math.max(...counts.served.values())], [600, 1]);
  // A complete read keeps no transactions, so the next read requests them again.
  await reader.transactions(hashesOf(1));
  assert.equal(counts.served.get(toHash(0)), 2);
});

test('transactions about which two endpoints disagree are requested again by the next read', async (t) => {
  const [first, second] = [await startEndpoint(t), await startEndpoint(t)];
  const reader = readerOf(t, [first.url, second.url]);
  second.truth.sender = `0x${'2'.repeat(40)}`;
  await assert.rejects(reader.transactions(hashesOf(10)), { kind: 'contradicted' });
  second.truth.sender = SENDER;
  assert.equal((await reader.transactions(hashesOf(10))).get(toHash(3))?.sender, SENDER);
});
