// Blocks, ranges of blocks and contract calls of a real local chain are compared between endpoints that lie, lag or fail.

import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import type { TestContext } from 'node:test';
import { mine } from '../../../../devnet/chain.ts';
import type { BlockHeader, ChainEvent } from '../../../../src/market/chain-log/chain-event.ts';
import type { ChainReader, ChainReaderOptions } from '../../../../src/sources/chains/rpc/chain-reader.ts';
import { bytesWord, encodeCallWithBytes } from '../../../../src/sources/chains/rpc/call-data.ts';
import type { EventFilter } from '../../../../src/sources/chains/rpc/log-query.ts';
import type { RpcFailure } from '../../../../src/sources/chains/rpc/rpc-failure.ts';
import type { AssetId } from '../../../../src/platform/core/address.ts';
import type { Hex } from '../../../../src/platform/core/evm.ts';
import type { CallResponse } from '../../../support/chain/altered-calls.ts';
import { startAlteredCalls } from '../../../support/chain/altered-calls.ts';
import { startGatedEndpoint } from '../../../support/chain/gated-endpoint.ts';
import { startFaultyEndpoint } from '../../../support/chain/faulty-endpoint.ts';
import type { Lie, LyingEndpoint } from '../../../support/chain/lying-endpoint.ts';
import { startLyingEndpoint } from '../../../support/chain/lying-endpoint.ts';
import { createTestReader, readBlockEvents } from '../../../support/chain/reader.ts';
import type { SeaportHistory } from '../../../support/chain/seaport-history.ts';
import { startSeaportHistory } from '../../../support/chain/seaport-history.ts';

/** The comparison status of a reader that has compared everything and found no difference. */
const AGREED = { compared: 'all', uncompared: 0, uncomparedCalls: 0, disputed: null };

/** The kinds of lies that concern a range of past blocks. */
const RANGE_LIES: readonly Lie[] = ['omits-a-log', 'added-logs', 'altered-logs', 'altered-times', 'other-hashes'];

suite('what one endpoint serves is compared with a second endpoint', () => {
  let scene: SeaportHistory;
  let filter: EventFilter;
  /** The block of the sale, which has transfers and a fill. */
  let busy: BlockHeader;
  let truth: ChainEvent[];
  /** The events of all blocks of the scene. */
  let allEvents: ChainEvent[];
  before(async () => {
    scene = await startSeaportHistory();
    filter = scene.filter;
    const reader = createTestReader({ chain: scene.chain, urls: [scene.local.url] });
    const { events } = await reader.events.ofRange(scene.from, scene.to, filter);
    const fill = events.find(({ kind }) => kind === 'order-fulfilled');
    busy = (await reader.blocks.header(fill?.blockNumber ?? -1)) ?? assert.fail('there is no sale');
    allEvents = events;
    truth = await readBlockEvents(reader, busy, filter);
    reader.close();
  });
  after(() => scene.close());

  const liar = async (t: TestContext, lie: Lie): Promise<LyingEndpoint> => {
    const endpoint = await startLyingEndpoint(scene.local.url);
    t.after(() => endpoint.close());
    await endpoint.tell(lie);
    return endpoint;
  };
  const readerOf = (t: TestContext, urls: string[], options: Partial<ChainReaderOptions> = {}): ChainReader => {
    const reader = createTestReader({ chain: scene.chain, urls, openMs: 20, ...options });
    t.after(() => reader.close());
    return reader;
  };

  test('a block whose logs differ between two endpoints is not accepted until both endpoints agree', async (t) => {
    const lying = await liar(t, 'altered-logs');
    const reader = readerOf(t, [lying.url, scene.local.url], { clock: () => 5_000 });
    assert.equal(await reader.events.ofBlock(busy, filter), null);
    assert.deepEqual(reader.comparison.status().disputed, { kind: 'new', block: busy.number, since: 5_000 });
    await lying.tell('none');
    assert.deepEqual(await reader.events.ofBlock(busy, filter), truth);
    assert.deepEqual(reader.comparison.status(), AGREED);
  });

  test('two endpoints that agree decide against a third endpoint', async (t) => {
    const lying = await liar(t, 'altered-logs');
    let now = 5_000;
    const reader = readerOf(t, [lying.url, scene.local.url, scene.local.url], { clock: () => now });
    assert.equal(await reader.events.ofBlock(busy, filter), null);
    assert.equal(reader.comparison.status().disputed, null);
    assert.deepEqual(await reader.events.ofBlock(busy, filter), truth);
    const states = () => reader.endpoints().map(({ state }) => state);
    now += 59_000;
    assert.deepEqual(states(), ['resting', 'ready', 'ready']);
    assert.match(reader.endpoints()[0]?.lastFailure ?? '', /other endpoints serve other data/);
  });

  test('a block that only one of two endpoints has is not accepted', async (t) => {
    const lying = await liar(t, 'new-fork');
    await mine(scene.local);
    const forked = readerOf(t, [lying.url, scene.local.url]);
    const head = await forked.blocks.head();
    assert.match(head.hash, /f0f0f0f0$/, 'the head is not the block of the fork');
    assert.equal(await forked.events.accepts(head), false);
    assert.equal(await forked.events.ofBlock(head, filter), null);
    assert.equal(forked.comparison.status().disputed?.block, head.number);
    assert.equal(
      await readerOf(t, [lying.url]).events.accepts(head),
      true,
      'the block of a single endpoint was not accepted',
    );
  });

  test("a block that the second endpoint lacks is accepted after that endpoint's head has not changed for a minute", async (t) => {
    const late = await startFaultyEndpoint(scene.local.url, { lag: 0 });
    t.after(() => late.close());
    let now = Date.now();
    const reader = readerOf(t, [scene.local.url, late.url], { clock: () => now });
    await mine(scene.local);
    late.set({ lag: 1 });
    const head = await reader.blocks.head();
    assert.equal(await reader.events.accepts(head), false);
    now += 59_000;
    assert.equal(await reader.events.accepts(head), false);
    await mine(scene.local);
    await reader.blocks.head();
    const next = await reader.blocks.head();
    assert.equal(await reader.events.accepts(head), true, 'the block was not accepted although both endpoints have it');
    assert.equal(
      await reader.events.accepts(next),
      false,
      'the block was accepted less than a minute after the head advanced',
    );
    now += 60_000;
    assert.equal(await reader.events.accepts(next), true);
    assert.deepEqual(reader.comparison.status(), { ...AGREED, uncompared: 1 });
  });

  test('a block is accepted without a comparison while the second endpoint is far behind and its head grows', async (t) => {
    const syncing = await startFaultyEndpoint(scene.local.url, { lag: 14 });
    t.after(() => syncing.close());
    for (let blocks = 0; blocks < 16; blocks += 1) await mine(scene.local);
    let now = Date.now();
    const reader = readerOf(t, [scene.local.url, syncing.url], { clock: () => now });
    for (const lag of [14, 13, 12]) {
      syncing.set({ lag });
      const head = await reader.blocks.head();
      assert.equal(await reader.events.accepts(head), true);
      now += 60_000;
    }
    assert.deepEqual(reader.comparison.status(), { ...AGREED, uncompared: 3 });
    syncing.set({ lag: 10 });
    assert.equal(await reader.events.accepts(await reader.blocks.head()), false);
  });

  test('if one endpoint has replaced a block, and this block is the newest block of another endpoint, the block stays accepted for a minute', async (t) => {
    const lying = await liar(t, 'other-hashes');
    const honest = await startFaultyEndpoint(scene.local.url, { lag: 1 });
    t.after(() => honest.close());
    await mine(scene.local);
    let now = Date.now();
    const reader = readerOf(t, [lying.url, honest.url], { clock: () => now });
    const newest = await readerOf(t, [scene.local.url]).blocks.head();
    const cursor =
      (await readerOf(t, [honest.url]).blocks.header(newest.number - 1)) ?? assert.fail('the block is missing');
    const isContinued = () => reader.comparison.isStillContinued(cursor, newest.number);
    assert.equal(await isContinued(), true);
    now += 59_000;
    assert.equal(await isContinued(), true);
    assert.equal(reader.endpoints()[0]?.state, 'ready', 'an endpoint counts as failed before it was contradicted');
    now += 1_000;
    assert.equal(await isContinued(), false, 'the replaced block is still accepted after a minute');
    honest.set({ lag: 0 });
    assert.equal(await isContinued(), true);
    assert.match(reader.endpoints()[0]?.lastFailure ?? '', /other endpoints serve other data/);
  });

  test('while every other endpoint is down, a block is accepted without a comparison and counted', async (t) => {
    const down = await startFaultyEndpoint(scene.local.url, { faults: ['reset'], faultShare: 1 });
    t.after(() => down.close());
    const reader = readerOf(t, [scene.local.url, down.url]);
    assert.deepEqual(await reader.events.ofBlock(busy, filter), truth);
    assert.deepEqual(reader.comparison.status(), { ...AGREED, uncompared: 1 });
  });

  for (const lie of RANGE_LIES) {
    test(`a range of past blocks is not accepted while an endpoint lies about it (${lie})`, async (t) => {
      const lying = await liar(t, lie);
      for (const urls of [
        [lying.url, scene.local.url],
        [scene.local.url, lying.url],
      ]) {
        await lying.tell(lie);
        const reader = readerOf(t, urls, { clock: () => 5_000 });
        const read = () => reader.events.ofRange(scene.from, scene.to, filter);
        await assert.rejects(read(), { name: 'RpcFailure', kind: 'contradicted' });
        assert.deepEqual(reader.comparison.status().disputed, { kind: 'past', block: scene.to, since: 5_000 });
        await lying.tell('none');
        assert.deepEqual((await read()).events, allEvents);
        assert.deepEqual(reader.comparison.status(), AGREED);
      }
    });
  }

  test('two endpoints that agree about past blocks decide against a third endpoint', async (t) => {
    const lying = await liar(t, 'omits-a-log');
    const reader = readerOf(t, [lying.url, scene.local.url, scene.local.url], { clock: () => 5_000 });
    const read = () => reader.events.ofRange(scene.from, scene.to, filter);
    await assert.rejects(read(), { kind: 'contradicted' });
    assert.deepEqual((await read()).events, allEvents);
    assert.equal(reader.endpoints()[0]?.state, 'resting');
  });

  test('a block whose time differs between two endpoints is not accepted', async (t) => {
    const lying = await liar(t, 'altered-times');
    const reader = readerOf(t, [lying.url, scene.local.url]);
    const older = (await reader.blocks.header(busy.number)) ?? assert.fail('there is no header');
    assert.equal(older.time, busy.time - 3_600_000);
    assert.equal(await reader.events.ofBlock(older, filter), null);
  });

  test('both endpoints are called at the same time for a range and for a contract call', async (t) => {
    const called = new Map<string, () => void>();
    const calls = new Map(
      ['eth_getLogs', 'eth_call'].map((method) => [
        method,
        new Promise<void>((resolve) => called.set(method, resolve)),
      ]),
    );
    const first = await startGatedEndpoint(scene.local.url, async (methods) => {
      for (const method of methods) await calls.get(method);
    });
    const second = await startGatedEndpoint(scene.local.url, async (methods) => {
      for (const method of methods) called.get(method)?.();
    });
    t.after(() => Promise.all([first.close(), second.close()]));
    // The first endpoint does not respond before the second is called. A reader that calls one after the other would time out.
    const reader = readerOf(t, [first.url, second.url], { patienceMs: 1 });
    assert.deepEqual((await reader.events.ofRange(scene.from, scene.to, filter)).events, allEvents);
    const { collection, seller } = scene.addresses;
    await reader.contracts.isApprovedForAll(collection, seller, scene.addresses.seaport, scene.to);
    assert.deepEqual(reader.comparison.status(), AGREED);
    assert.deepEqual(
      reader.endpoints().map(({ failures }) => failures),
      [0, 0],
    );
  });

  test('a range is compared in parts with an endpoint that accepts only short ranges', async (t) => {
    const narrow = await startFaultyEndpoint(scene.local.url, { rangeMax: 3 });
    t.after(() => narrow.close());
    for (const urls of [
      [scene.local.url, narrow.url],
      [narrow.url, scene.local.url],
    ]) {
      const reader = readerOf(t, urls);
      const events: ChainEvent[] = [];
      for (let next = scene.from; next <= scene.to;) {
        const range = await reader.events.ofRange(next, scene.to, filter);
        events.push(...range.events);
        next = range.to + 1;
      }
      assert.deepEqual(events, allEvents);
      assert.deepEqual(reader.comparison.status(), AGREED);
    }
  });

  test('a range waits for a failing endpoint for a minute, and is then accepted without a comparison', async (t) => {
    const down = await startFaultyEndpoint(scene.local.url, { faults: ['reset'], faultShare: 1 });
    t.after(() => down.close());
    let now = 5_000;
    const reader = readerOf(t, [scene.local.url, down.url], { clock: () => now });
    const read = () => reader.events.ofRange(scene.from, scene.to, filter);
    await assert.rejects(read(), { kind: 'contradicted' });
    now += 59_000;
    await assert.rejects(read(), { kind: 'contradicted' });
    assert.equal(reader.comparison.status().disputed, null, 'a dispute was reported although the other endpoint fails');
    now += 1_000;
    assert.deepEqual((await read()).events, allEvents);
    assert.deepEqual(reader.comparison.status(), { ...AGREED, uncompared: scene.to - scene.from + 1 });
  });

  const calls: Readonly<Record<string, (reader: ChainReader) => Promise<unknown>>> = {
    'the counter of an offerer': ({ contracts }) =>
      contracts.getCounter(scene.addresses.seaport, scene.addresses.seller, scene.to),
    'the status of an order': ({ contracts }) =>
      contracts.getOrderStatus(scene.addresses.seaport, scene.cancelled.hash, scene.to),
    'an approval': ({ contracts }) =>
      contracts.isApprovedForAll(scene.addresses.collection, scene.addresses.seller, scene.addresses.seaport, scene.to),
    'the balance of an account': ({ contracts }) =>
      contracts.balanceOf(scene.addresses.editions, scene.addresses.seller, 7n.toString() as AssetId, 'latest'),
    'the standard of a contract': ({ contracts }) => contracts.tokenStandard(scene.addresses.collection),
  };
  /** Only a different result of a contract whose code is known shows that an endpoint is wrong. */
  const SETTLEMENT_CALLS = new Set(['the counter of an offerer', 'the status of an order']);
  for (const [what, call] of Object.entries(calls)) {
    test(`a contract call about which two endpoints disagree has no result, unless a third endpoint decides: ${what}`, async (t) => {
      const lying = await liar(t, 'empty-calls');
      const honest = await call(readerOf(t, [scene.local.url]));
      assert.notDeepEqual(honest, await call(readerOf(t, [lying.url])), 'the lie changes nothing');
      const two = readerOf(t, [lying.url, scene.local.url]);
      const isEvidence = SETTLEMENT_CALLS.has(what);
      await assert.rejects(call(two), { name: 'RpcFailure', kind: isEvidence ? 'contradicted' : 'call-disputed' });
      assert.equal(two.comparison.status().disputed?.kind, isEvidence ? 'call' : undefined);
      const three = readerOf(t, [lying.url, scene.local.url, scene.local.url]);
      assert.deepEqual(await call(three), honest);
      assert.equal(three.comparison.status().disputed, null);
      assert.equal(three.endpoints()[0]?.lastFailure === null, !isEvidence);
    });
  }

  const CALL_ERRORS: readonly CallResponse[] = [
    { error: { code: -32_000, message: 'INSUFFICIENT_GAS' } },
    { error: { code: -32_000, message: 'execution reverted: rate limit exceeded, batch of too many requests' } },
    { error: { code: -32_603, message: 'internal error' } },
    { error: { code: -32_000, message: 'execution aborted (timeout = 5s)' } },
    { error: { code: 3, message: 'execution reverted: missing trie node' } },
  ];
  for (const error of CALL_ERRORS) {
    test(`an endpoint does not count as failed because a contract fails with ${error.error?.message}`, async (t) => {
      const digest: Hex = `0x${'11'.repeat(32)}`;
      const data = encodeCallWithBytes('isValidSignature(bytes32,bytes)', [bytesWord(digest)], '0x22').slice(2);
      const changes = new Map([[data, () => error]]);
      const urls = [
        await startAlteredCalls(t, scene.local.url, changes),
        await startAlteredCalls(t, scene.local.url, changes),
      ];
      const reader = readerOf(t, urls, { openMs: 60_000 });
      const account = scene.addresses.collection;
      for (let times = 0; times < 10; times += 1) {
        const read = reader.contracts.isValidSignature(account, digest, '0x22', 'latest');
        await read.then(
          (isValid) => assert.equal(isValid, false),
          (failure: unknown) => assert.equal((failure as RpcFailure).kind, 'call-failed'),
        );
      }
      assert.deepEqual(
        reader.endpoints().map(({ state, failures }) => [state, failures]),
        [
          ['ready', 0],
          ['ready', 0],
        ],
      );
      assert.deepEqual(await readBlockEvents(reader, busy, filter), truth);
      assert.equal(reader.comparison.status().uncompared, 0);
    });
  }

  test('a transaction about which two endpoints disagree is not accepted', async (t) => {
    const lying = await liar(t, 'altered-transactions');
    const [fill] = truth;
    const txs = [fill?.tx ?? assert.fail('there is no event')];
    const reader = readerOf(t, [lying.url, scene.local.url]);
    await assert.rejects(reader.transactions(txs), { kind: 'contradicted' });
    await lying.tell('none');
    assert.equal((await reader.transactions(txs)).size, 1);
    assert.deepEqual(reader.comparison.status(), AGREED);
  });

  test('if no endpoint has all requested transactions, the existing ones are accepted, and the call is counted as not compared', async (t) => {
    const [fill] = truth;
    const known = fill?.tx ?? assert.fail('there is no event');
    const unknown = `0x${'0'.repeat(64)}` as const;
    const reader = readerOf(t, [scene.local.url, scene.local.url]);
    assert.deepEqual([...(await reader.transactions([known, unknown])).keys()], [known]);
    assert.deepEqual(reader.comparison.status(), { ...AGREED, uncomparedCalls: 1 });
    assert.equal((await reader.transactions([unknown])).size, 0);
    assert.deepEqual(reader.comparison.status(), { ...AGREED, uncomparedCalls: 1 });
  });

  test('with a single endpoint, all its data is accepted without a comparison, and counted', async (t) => {
    const reader = readerOf(t, [scene.local.url]);
    await reader.events.ofBlock(busy, filter);
    await reader.events.ofRange(scene.from, scene.to, filter);
    await reader.contracts.getCounter(scene.addresses.seaport, scene.addresses.seller, scene.to);
    const uncompared = scene.to - scene.from + 2;
    assert.deepEqual(reader.comparison.status(), {
      compared: 'one-endpoint',
      uncompared,
      uncomparedCalls: 1,
      disputed: null,
    });
  });

  test('with the setting `new`, everything except past blocks is compared', async (t) => {
    const lying = await liar(t, 'altered-logs');
    const reader = readerOf(t, [scene.local.url, lying.url], { compared: 'new' });
    assert.equal((await reader.events.ofRange(scene.from, scene.to, filter)).to, scene.to);
    assert.equal(await reader.events.ofBlock(busy, filter), null);
    await lying.tell('empty-calls');
    const { seaport, seller } = scene.addresses;
    await assert.rejects(reader.contracts.getCounter(seaport, seller, scene.to), { kind: 'contradicted' });
    assert.equal(reader.comparison.status().uncompared, scene.to - scene.from + 1);
  });

  test('with the setting `off`, nothing is compared', async (t) => {
    const lying = await liar(t, 'altered-logs');
    const reader = readerOf(t, [scene.local.url, lying.url], { compared: 'off' });
    assert.deepEqual(await reader.events.ofBlock(busy, filter), truth);
    assert.deepEqual((await reader.events.ofRange(scene.from, scene.to, filter)).events, allEvents);
    assert.equal(reader.comparison.status().compared, 'off');
  });
});
