// New blocks of a real local chain are compared between endpoints that lie, lag or fail.

import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import type { TestContext } from 'node:test';
import { mine } from '../../../devnet/chain.ts';
import type { BlockHeader, ChainEvent } from '../../../src/chain-log/chain-event.ts';
import type { ChainReader, ChainReaderOptions } from '../../../src/chains/rpc/chain-reader.ts';
import type { EventFilter } from '../../../src/chains/rpc/log-query.ts';
import { startFaultyEndpoint } from '../../support/chain/faulty-endpoint.ts';
import type { Lie, LyingEndpoint } from '../../support/chain/lying-endpoint.ts';
import { startLyingEndpoint } from '../../support/chain/lying-endpoint.ts';
import { createTestReader, readBlockEvents } from '../../support/chain/reader.ts';
import type { SeaportHistory } from '../../support/chain/seaport-history.ts';
import { startSeaportHistory } from '../../support/chain/seaport-history.ts';

suite('new blocks are compared with a second endpoint', () => {
  let scene: SeaportHistory;
  let filter: EventFilter;
  /** The block of the sale, which has transfers and a fill. */
  let busy: BlockHeader;
  let truth: ChainEvent[];
  before(async () => {
    scene = await startSeaportHistory();
    filter = scene.filter;
    const reader = createTestReader({ chain: scene.chain, urls: [scene.local.url] });
    const { events } = await reader.events.ofRange(scene.from, scene.to, filter);
    const fill = events.find(({ kind }) => kind === 'order-fulfilled');
    busy = (await reader.blocks.header(fill?.blockNumber ?? -1)) ?? assert.fail('there is no sale');
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
    assert.deepEqual(reader.comparison().disputed, { block: busy.number, since: 5_000 });
    await lying.tell('none');
    assert.deepEqual(await reader.events.ofBlock(busy, filter), truth);
    assert.deepEqual(reader.comparison(), { uncompared: 0, disputed: null });
  });

  test('two endpoints that agree decide against a third endpoint', async (t) => {
    const lying = await liar(t, 'altered-logs');
    let now = 5_000;
    const reader = readerOf(t, [lying.url, scene.local.url, scene.local.url], { clock: () => now });
    assert.equal(await reader.events.ofBlock(busy, filter), null);
    assert.equal(reader.comparison().disputed, null);
    assert.deepEqual(await reader.events.ofBlock(busy, filter), truth);
    const states = () => reader.endpoints().map(({ state }) => state);
    now += 59_000;
    assert.deepEqual(states(), ['resting', 'ready', 'ready']);
    assert.match(reader.endpoints()[0]?.lastFailure ?? '', /other endpoints serve other data/);
  });

  test('a block that only one endpoint has is not accepted', async (t) => {
    const lying = await liar(t, 'new-fork');
    await mine(scene.local);
    const forked = readerOf(t, [lying.url, scene.local.url]);
    const head = await forked.blocks.head();
    assert.match(head.hash, /f0f0f0f0$/, 'the head is not the block of the fork');
    assert.equal(await forked.events.accepts(head), false);
    assert.equal(await forked.events.ofBlock(head, filter), null);
    assert.equal(forked.comparison().disputed?.block, head.number);
    assert.equal(
      await readerOf(t, [lying.url]).events.accepts(head),
      true,
      'the block of a single endpoint was not accepted',
    );
  });

  test("a block that the second endpoint lacks is accepted once that endpoint's head has stood still for a minute", async (t) => {
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
    assert.deepEqual(reader.comparison(), { uncompared: 1, disputed: null });
  });

  test('while every other endpoint is down, a block is accepted without a comparison and counted', async (t) => {
    const down = await startFaultyEndpoint(scene.local.url, { faults: ['reset'], faultShare: 1 });
    t.after(() => down.close());
    const reader = readerOf(t, [scene.local.url, down.url]);
    assert.deepEqual(await reader.events.ofBlock(busy, filter), truth);
    assert.deepEqual(reader.comparison(), { uncompared: 1, disputed: null });
  });

  test('past blocks are compared only with the setting `all`', async (t) => {
    const lying = await liar(t, 'altered-logs');
    const urls = [scene.local.url, lying.url];
    const range = (compared: ChainReaderOptions['compared']) =>
      readerOf(t, urls, { ...(compared && { compared }) }).events.ofRange(scene.from, scene.to, filter);
    await assert.rejects(range('all'), { name: 'RpcFailure', kind: 'contradicted' });
    assert.equal((await range('new')).to, scene.to);
    assert.deepEqual(await readerOf(t, urls, { compared: 'off' }).events.ofBlock(busy, filter), truth);
  });
});
