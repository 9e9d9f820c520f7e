// Tests how the client follows the change stream of a running service. market.test.ts runs this suite.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { tickFloor } from '../../client/examples/floor-ticker.ts';
import type { Activity } from '../../client/src/market.ts';
import { MercatError, createMarketClient } from '../../client/src/market.ts';
import { newCollection } from '../support/service/market.ts';
import type { TestService } from '../support/service/service.ts';

const EVENTS = 20;

/** A `fetch` that counts the requests. It breaks each response in the middle of a chunk, after `chunksMax` complete chunks. */
function createBreakingFetch(chunksMax: number): { fetch: typeof globalThis.fetch; requests(): number } {
  let requests = 0;
  return {
    requests: () => requests,
    fetch: async (input, init) => {
      requests += 1;
      const response = await fetch(input, init);
      let chunks = 0;
      const breaking = new TransformStream<Uint8Array, Uint8Array>({
        transform: (chunk, controller) => {
          controller.enqueue(chunk.slice(0, Math.ceil(chunk.length / 2)));
          chunks += 1;
          if (chunks > chunksMax) controller.error(new Error('the connection broke'));
          else controller.enqueue(chunk.slice(Math.ceil(chunk.length / 2)));
        },
      });
      return new Response(response.body?.pipeThrough(breaking) ?? null, response);
    },
  };
}

export function describeStream(service: TestService): void {
  test('activity is received once and in order over connections that break', async () => {
    const subject = newCollection();
    const market = createMarketClient({ baseUrl: service.url });
    await service.load([subject.collection(), subject.token('1')]);
    const { offset, changes } = await market.snapshotThenFollow((reads) =>
      reads.listTokens({ id: subject.id }).take(1),
    );
    await changes.return();
    const breaking = createBreakingFetch(2);
    const followed: Activity[] = [];
    const following = (async () => {
      const unstable = createMarketClient({ baseUrl: service.url, fetch: breaking.fetch, random: () => 0 });
      for await (const activity of unstable.follow({ from: offset, collections: [subject.id], kinds: ['list'] })) {
        if (followed.push(activity) === EVENTS) return;
      }
    })();
    for (let index = 0; index < EVENTS; index += 1)
      await service.load([
        subject.listing(String(index), 10n ** 18n + BigInt(index), { id: `${subject.slug}-${index}` }),
      ]);
    await following;
    const page = await market.listActivityAfter({ offset });
    const stored = page.data.filter(({ collectionId, kind }) => collectionId === subject.id && kind === 'list');
    assert.deepEqual(followed, stored);
    assert.equal(typeof followed[0]?.price?.raw, 'bigint');
    assert.equal(breaking.requests() > 1, true);
  });

  test('the example floor-ticker yields the price of the cheapest listing when it starts and after each change', async () => {
    const subject = newCollection();
    await service.load([subject.collection(), subject.listing('1', 3n * 10n ** 18n)]);
    const market = createMarketClient({ baseUrl: service.url });
    const controller = new AbortController();
    const ticks = tickFloor(market, subject.slug, controller.signal);
    assert.equal((await ticks.next()).value?.raw, 3n * 10n ** 18n);
    const second = ticks.next();
    await service.load([subject.listing('2', 2n * 10n ** 18n)]);
    assert.equal((await second).value?.raw, 2n * 10n ** 18n);
    const third = assert.rejects(ticks.next(), (error) => error === controller.signal.reason);
    controller.abort();
    await third;
  });

  test('the client cannot follow from an offset beyond the end of the log: it throws an error with the code offset_expired', async () => {
    const market = createMarketClient({ baseUrl: service.url });
    const { offset } = (await market.listMarketCollections().page()).meta;
    const from = offset?.replace(/\d{15}$/, '9'.repeat(15)) ?? assert.fail();
    const changes = market.follow({ from });
    await assert.rejects(changes.next(), (error) => error instanceof MercatError && error.code === 'offset_expired');
  });

  test('a client that follows without an offset receives only events after the connection', async () => {
    const subject = newCollection();
    await service.load([subject.collection(), subject.listing('1', 1)]);
    const opened = Promise.withResolvers<void>();
    const changes = createMarketClient({ baseUrl: service.url }).follow({
      collections: [subject.id],
      kinds: ['list'],
      onConnection: () => opened.resolve(),
    });
    const next = changes.next();
    await opened.promise;
    await service.load([subject.listing('2', 2, { id: `${subject.slug}-2` })]);
    assert.equal((await next).value?.tokenId, '2');
    await changes.return();
  });
}
