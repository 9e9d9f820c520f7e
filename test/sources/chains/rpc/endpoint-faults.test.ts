// Reads a real local chain through endpoints that return wrong data, stall, limit requests or fail. Each read must give the correct
// result or fail.

import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import type { TestContext } from 'node:test';
import type { ChainEvent } from '../../../../src/market/chain-log/chain-event.ts';
import { createLog } from '../../../../src/platform/core/log.ts';
import type { ChainReaderOptions } from '../../../../src/sources/chains/rpc/chain-reader.ts';
import type { EventFilter } from '../../../../src/sources/chains/rpc/log-query.ts';
import { ChainUnavailable } from '../../../../src/sources/chains/rpc/rpc-failure.ts';
import { startSeaportHistory } from '../../../support/chain/seaport-history.ts';
import type { SeaportHistory } from '../../../support/chain/seaport-history.ts';
import { RANGE_ERROR_MESSAGES } from '../../../support/chain/faulty-responses.ts';
import { createTestReader, readBlockEvents } from '../../../support/chain/reader.ts';
import { RPC_FAULTS, startFaultyEndpoint } from '../../../support/chain/faulty-endpoint.ts';
import type { FaultyEndpoint, FaultyOptions } from '../../../support/chain/faulty-endpoint.ts';

/** Faults whose response never ends. Only the timeout ends the request. */
const SLOW_FAULTS: ReadonlySet<string> = new Set(['stall', 'drip', 'endless']);
const STALL_TIMEOUT_MS = 400;
/** Faults that can affect the response to any method. */
const FAULTS_OF_ANY_METHOD: ReadonlySet<string> = new Set(RPC_FAULTS.slice(0, RPC_FAULTS.indexOf('lagging')));

suite('a chain is read through faulty endpoints', () => {
  let scene: SeaportHistory;
  let filter: EventFilter;
  let truth: ChainEvent[];
  before(async () => {
    scene = await startSeaportHistory();
    filter = scene.filter;
    const reader = createTestReader({ chain: scene.chain, urls: [scene.local.url] });
    truth = (await reader.events.ofRange(scene.from, scene.to, filter)).events;
    reader.close();
  });
  after(() => scene.close());

  const faulty = async (t: TestContext, options: FaultyOptions): Promise<FaultyEndpoint> => {
    const endpoint = await startFaultyEndpoint(scene.local.url, options);
    t.after(() => endpoint.close());
    return endpoint;
  };
  // Blocks are not compared here (see endpoint-comparison.test.ts). So a read calls a second endpoint only because the first one is
  // faulty.
  const readerOf = (t: TestContext, urls: string[], options: Partial<ChainReaderOptions> = {}) => {
    const reader = createTestReader({ chain: scene.chain, urls, compared: 'off', openMs: 20, ...options });
    t.after(() => reader.close());
    return reader;
  };
  const readAll = async (reader: ReturnType<typeof readerOf>, from = scene.from) => {
    const events: ChainEvent[] = [];
    for (let next = from; next <= scene.to;) {
      const range = await reader.events.ofRange(next, scene.to, filter);
      assert.ok(range.to >= next && range.to <= scene.to);
      events.push(...range.events);
      next = range.to + 1;
    }
    return events;
  };
  const readBlocks = async (reader: ReturnType<typeof readerOf>) => {
    const events: ChainEvent[] = [];
    for (let number = scene.from; number <= scene.to; number += 1) {
      const header = await reader.blocks.header(number);
      assert.ok(header, `block ${number}`);
      events.push(...(await readBlockEvents(reader, header, filter)));
    }
    return events;
  };

  for (const fault of RPC_FAULTS) {
    test(`when an endpoint always has the fault «${fault}», reads give the correct result through the next endpoint`, async (t) => {
      const faultyOne = await faulty(t, { faults: [fault], faultShare: 1 });
      const timeoutMs = SLOW_FAULTS.has(fault) ? STALL_TIMEOUT_MS : undefined;
      const reader = readerOf(t, [faultyOne.url, scene.local.url], timeoutMs === undefined ? {} : { timeoutMs });
      assert.ok((await reader.blocks.head()).number >= (fault === 'lagging' ? scene.to - 3 : scene.to));
      assert.deepEqual(await readBlocks(reader), truth);
      assert.deepEqual(await readAll(reader), truth);
      assert.ok((faultyOne.counts[fault] ?? 0) > 0, 'the fault did not occur');
      if (!FAULTS_OF_ANY_METHOD.has(fault)) return;
      const [first, second] = reader.endpoints();
      // The fault has affected a response, so the endpoint has failures. Only a rejected batch does not count as a
      // failure, because the endpoint then gets single requests.
      if (fault !== 'no-batch') assert.ok((first?.failures ?? 0) > 0);
      if (!SLOW_FAULTS.has(fault)) assert.equal(second?.failures, 0);
    });
  }

  for (const seed of [1, 2, 3]) {
    test(`reads through a single endpoint with random faults succeed after enough attempts (seed ${seed})`, async (t) => {
      // `wrong-chain` is left out, because the reader does not call an endpoint for a minute after this fault.
      const faults = RPC_FAULTS.filter((fault) => fault !== 'lagging' && fault !== 'wrong-chain');
      const endpoint = await faulty(t, { seed, faults, faultShare: 0.3, retryAfterS: 0 });
      const reader = readerOf(t, [endpoint.url], { timeoutMs: STALL_TIMEOUT_MS });
      assert.deepEqual(await untilRead(() => readBlocks(reader)), truth);
      assert.deepEqual(await untilRead(() => readAll(reader)), truth);
    });
  }

  test('a read fails with not-found when one endpoint is down and the other does not have the block', async (t) => {
    const down = await faulty(t, { faults: ['reset'], faultShare: 1 });
    const reader = readerOf(t, [down.url, scene.local.url], { openMs: 60_000 });
    const orphan = await reader.blocks.head();
    const unknown = { ...orphan, hash: `0x${'12'.repeat(32)}` } as const;
    await assert.rejects(reader.events.ofBlock(unknown, filter), { name: 'RpcFailure', kind: 'not-found' });
    assert.equal((await reader.transactions([unknown.hash])).size, 0);
  });

  test('an endpoint that serves another chain is not used', async (t) => {
    const stranger = await faulty(t, { chainId: 1337 });
    const alone = readerOf(t, [stranger.url]);
    await assert.rejects(alone.blocks.head(), ChainUnavailable);
    assert.equal(alone.endpoints()[0]?.state, 'wrong-chain');
    assert.deepEqual(Object.keys(stranger.asked), ['eth_chainId']);
    const reader = readerOf(t, [stranger.url, scene.local.url]);
    assert.deepEqual(await readAll(reader), truth);
    assert.deepEqual(
      reader.endpoints().map(({ state }) => state),
      ['wrong-chain', 'ready'],
    );
    assert.match(reader.endpoints()[0]?.lastFailure ?? '', /1337/);
  });

  for (const rangeWording of RANGE_ERROR_MESSAGES) {
    test(`the range of blocks is halved until the endpoint accepts it, after the error «${rangeWording}»`, async (t) => {
      const endpoint = await faulty(t, { rangeMax: 3, rangeWording });
      const reader = readerOf(t, [endpoint.url]);
      assert.deepEqual(await untilRead(() => readAll(reader, 0)), truth);
      const asked = endpoint.asked['eth_getLogs'] ?? 0;
      assert.ok((reader.endpoints()[0]?.rangeBlocks ?? 0) <= 4);
      assert.deepEqual(await readAll(reader), truth);
      const again = (endpoint.asked['eth_getLogs'] ?? 0) - asked;
      assert.ok(
        again <= 10,
        `the accepted size was not remembered: ${again} requests for ${scene.to - scene.from + 1} blocks`,
      );
    });
  }

  test('after a rejected batch, an endpoint receives only requests that it accepts', async (t) => {
    for (const batchMax of [1, 2]) {
      const endpoint = await faulty(t, { batchMax, withoutTimestamps: true });
      const reader = readerOf(t, [endpoint.url]);
      assert.deepEqual(await readAll(reader), truth);
      const [status] = reader.endpoints();
      assert.ok(status && status.batchSize <= batchMax);
      assert.equal(status.failures, 0);
    }
  });

  test('block times are read from headers when logs do not have them', async (t) => {
    const endpoint = await faulty(t, { withoutTimestamps: true });
    const reader = readerOf(t, [endpoint.url]);
    assert.deepEqual(await readAll(reader), truth);
    assert.ok((endpoint.asked['eth_getBlockByNumber'] ?? 0) > 1);
  });

  test('a bloom filter of zeros is not used to check logs', async (t) => {
    const endpoint = await faulty(t, { zeroBlooms: true });
    const reader = readerOf(t, [endpoint.url]);
    assert.deepEqual(await readBlocks(reader), truth);
    assert.equal(endpoint.asked['eth_getLogs'], scene.to - scene.from + 1);
  });

  test('when the bloom filter shows that logs are missing, the logs are requested again', async (t) => {
    const faultyOne = await faulty(t, { faults: ['omitted-logs'], faultShare: 1 });
    const alone = readerOf(t, [faultyOne.url]);
    assert.deepEqual(await readBlocks(alone), truth);
    assert.ok((faultyOne.counts['omitted-logs'] ?? 0) > 5);
  });

  test('a lagging endpoint is not used for blocks that it does not have', async (t) => {
    const lagging = await faulty(t, { lag: 4 });
    const alone = readerOf(t, [lagging.url]);
    await assert.rejects(alone.events.ofRange(scene.from, scene.to, filter), { name: 'RpcFailure', kind: 'not-found' });
    assert.equal((await alone.blocks.head()).number, scene.to - 4);
    const reader = readerOf(t, [lagging.url, scene.local.url]);
    assert.deepEqual(await readAll(reader), truth);
    assert.equal((await reader.blocks.head()).number >= scene.to - 4, true);
    assert.equal(reader.endpoints()[0]?.lag, 4);
  });

  test('an endpoint whose head does not advance is called after the other endpoints', async (t) => {
    const stuck = await faulty(t, { lag: scene.to - 1 });
    const reader = readerOf(t, [stuck.url, scene.local.url]);
    assert.equal((await reader.blocks.head()).number, scene.to);
    const before = stuck.requests;
    assert.deepEqual(await readAll(reader), truth);
    assert.equal(stuck.requests, before);
  });

  test('an endpoint whose head does not advance is used when the other endpoints fail', async (t) => {
    const stuck = await faulty(t, { lag: scene.to - 1 });
    const other = await faulty(t, {});
    const reader = readerOf(t, [stuck.url, other.url]);
    await reader.blocks.head();
    other.set({ faults: ['reset'], faultShare: 1 });
    assert.equal((await reader.blocks.header(1))?.number, 1);
  });

  test('a head far ahead is rejected when another endpoint contradicts it', async (t) => {
    const faultyOne = await faulty(t, {});
    const reader = readerOf(t, [faultyOne.url, scene.local.url]);
    assert.equal((await reader.blocks.head()).number, scene.to);
    faultyOne.set({ ahead: 1_000_000 });
    assert.equal((await reader.blocks.head()).number, scene.to);
    assert.match(reader.endpoints()[0]?.lastFailure ?? '', /not plausible/);
    const alone = readerOf(t, [faultyOne.url]);
    assert.equal(
      (await alone.blocks.head()).number,
      scene.to + 1_000_000,
      'the head of a single endpoint was rejected',
    );
  });

  test('a head far behind is accepted after a minute when there is no other endpoint', async (t) => {
    const endpoint = await faulty(t, {});
    let now = Date.now();
    const reader = readerOf(t, [endpoint.url], { clock: () => now, patienceMs: 1 });
    await scene.local.rpc.call('anvil_mine', '0x64');
    const ahead = (await reader.blocks.head()).number;
    endpoint.set({ lag: 99 });
    await assert.rejects(reader.blocks.head(), ChainUnavailable);
    now += 61_000;
    assert.equal((await reader.blocks.head()).number, ahead - 99);
    await scene.local.rpc.call('anvil_rollback', 100);
  });

  test('an endpoint is not called before Retry-After has passed', async (t) => {
    const endpoint = await faulty(t, { faults: ['limited'], faultShare: 1, retryAfterS: 3 });
    let now = Date.now();
    const reader = readerOf(t, [endpoint.url, scene.local.url], { clock: () => now });
    await reader.blocks.header(scene.to);
    assert.equal(reader.endpoints()[0]?.state, 'resting');
    const { requests } = endpoint;
    now += 2_900;
    await reader.blocks.header(scene.to);
    assert.equal(endpoint.requests, requests, 'the endpoint was called before Retry-After had passed');
    endpoint.set({ faultShare: 0 });
    now += 200;
    await reader.blocks.header(scene.to);
    assert.ok(endpoint.requests > requests);
    assert.equal(reader.endpoints()[0]?.state, 'ready');
  });

  test('a read fails when patienceMs has passed', async (t) => {
    const endpoint = await faulty(t, { faults: ['stall'], faultShare: 1 });
    const impatient = readerOf(t, [endpoint.url], { timeoutMs: 150, patienceMs: 300 });
    const start = performance.now();
    await assert.rejects(impatient.blocks.head(), ChainUnavailable);
    assert.ok(performance.now() - start < 30_000);
    const closing = readerOf(t, [endpoint.url], { timeoutMs: 60_000 });
    const pending = assert.rejects(closing.blocks.head(), { name: 'RpcFailure', kind: 'closed' });
    closing.close();
    await pending;
    await assert.rejects(closing.blocks.head(), { name: 'RpcFailure', kind: 'closed' });
  });

  test('the status, errors and logs contain only the host of the URL of an endpoint', async (t) => {
    const endpoint = await faulty(t, { faults: ['error'], faultShare: 1 });
    const secret = endpoint.url.replace('//', '//user:hush-hush-1@') + '/v2/hush-hush-2?key=hush-hush-3';
    const lines: string[] = [];
    const spied = createLog('debug', (line) => lines.push(line));
    const reader = readerOf(t, [secret], { log: spied, patienceMs: 1 });
    const error = await reader.blocks.head().catch((failure: unknown) => failure);
    assert.ok(error instanceof ChainUnavailable);
    const shown = JSON.stringify([reader.endpoints(), error.message, lines]);
    assert.equal(reader.endpoints()[0]?.host, new URL(endpoint.url).host);
    assert.ok(lines.length > 0);
    assert.doesNotMatch(shown, /hush/);
    endpoint.set({ faultShare: 0, rangeMax: 0, rangeWording: 'range too large for /v2/hush-hush-2 of hush-hush-1' });
    const failure = await untilFailed(() => reader.events.ofRange(scene.to, scene.to, filter));
    assert.match(failure.message, /range too large for \/v2\/…/);
    assert.doesNotMatch(
      JSON.stringify([reader.endpoints(), failure.message, lines]),
      /hush/,
      'a secret is in the text of an error',
    );
    assert.equal(
      (await untilRead(() => reader.blocks.head())).number,
      scene.to,
      'the endpoint cannot be read with the credentials in its URL',
    );
  });
});

async function untilFailed(read: () => Promise<unknown>): Promise<Error> {
  const end = performance.now() + 10_000;
  for (;;) {
    const error = await read().then(
      () => null,
      (thrown: Error) => thrown,
    );
    if (error instanceof ChainUnavailable && error.failures.size > 0) return error;
    if (!error || performance.now() > end) throw error ?? new Error('the read did not fail');
  }
}

/** Repeats a read until it succeeds, as the follower does. */
async function untilRead<T>(read: () => Promise<T>, deadlineMs = 300_000): Promise<T> {
  const end = performance.now() + deadlineMs;
  for (;;) {
    try {
      return await read();
    } catch (error) {
      if (!(error instanceof ChainUnavailable) || performance.now() > end) throw error;
    }
  }
}
