// Solana end to end: a real service that follows a collection, local servers that answer as its sources do, and what comes out
// of the marketplace interface.

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { forEachEngine } from '../support/engines/each-engine.ts';
import { until } from '../support/until.ts';
import { collectionAssetOf, createDasStore, dasRoutes, FAMOUS_FOX, readRecordedAssets } from '../support/replay/das.ts';
import { createFeedStore, feedRoutes } from '../support/replay/feed.ts';
import { addressOf, createMagicEdenBook, listingRow, magicEdenRoutes, saleRow } from '../support/replay/magic-eden.ts';
import type { ReplayServer } from '../support/replay/replay.ts';
import { startReplayServer } from '../support/replay/replay.ts';
import type { TestService } from '../support/service/service.ts';
import { startTestService } from '../support/service/service.ts';

const LIMIT_MS = 30_000;
/** Where tokens were held while they were listed, before they could stay with their owners. */
const ESCROW = '1BWutmTvYPwDtmw9abTkS4Ssr8no61spGAvW1X6NDix';
const SELLER = addressOf('se', 9);
const BUYER = addressOf('bu', 9);
/** Two of the recorded foxes are really held there. Here the one is listed, and the other not. */
const LISTED = 23;
const UNLISTED = 41;
const SOURCES = ['das', 'magic-eden', 'feed'];
const recorded = readRecordedAssets();

forEachEngine('Solana from its sources to the interface', (engine) => {
  describe('service', () => {
    if (!recorded) {
      test('not run', (t) => t.diagnostic('the recorded assets are not at hand: nothing was tested'));
      return;
    }
    const { foxes } = recorded;
    const mintOf = (index: number): string => foxes[index]?.['id'] ?? assert.fail('there is no such fox');
    const closers: (() => Promise<void>)[] = [];
    const replays: ReplayServer[] = [];
    const feed = createFeedStore();
    const das = createDasStore();
    let service: TestService;

    before(async () => {
      const start = async (routes: Parameters<typeof startReplayServer>[1]) => {
        const replay = await startReplayServer(
          { after: (close) => closers.push(close as () => Promise<void>) },
          routes,
        );
        replays.push(replay);
        return replay.url;
      };
      const book = createMagicEdenBook();
      const listed = { token: undefined, listingSource: 'M2', rarity: {}, seller: SELLER };
      book.listings.set('famous_fox_federation', [
        listingRow(1, { ...listed, tokenMint: mintOf(LISTED), price: 2.5, priceInfo: undefined }),
        listingRow(2, {
          ...listed,
          tokenMint: mintOf(2),
          priceInfo: { solPrice: { rawAmount: '3000000001', decimals: 9 } },
        }),
      ]);
      book.stats.set('famous_fox_federation', {
        symbol: 'famous_fox_federation',
        listedCount: 2,
        floorPrice: 2500000000,
      });
      const seconds = Math.floor(Date.now() / 1_000) - 3_600;
      book.activities.set('famous_fox_federation', [
        saleRow(1, seconds, {
          tokenMint: mintOf(3),
          collectionSymbol: 'famous_fox_federation',
          buyer: BUYER,
          price: 1.75,
        }),
      ]);
      feed.lines = [
        { kind: 'feed', snapshot: ['listing'] },
        {
          kind: 'listing',
          source: 'mercat',
          chain: 'solana',
          contractAddress: FAMOUS_FOX,
          mint: mintOf(4),
          id: 'one',
          priceRaw: '2000000000',
          seller: SELLER,
          timestamp: '2026-05-01T00:00:00Z',
        },
        { kind: 'feed', end: true },
      ];
      const [fox] = foxes;
      das.assets = structuredClone([...foxes, ...(fox ? [collectionAssetOf(fox)] : [])]);
      service = await startTestService({
        settings: {
          ...(await engine.settings()),
          DAS_URL: await start(dasRoutes(das)),
          MAGICEDEN_URL: await start(magicEdenRoutes(book)),
          FEED_URL: `${await start(feedRoutes(feed))}/feed`,
          CUSTODY_WALLETS: `${ESCROW}=Magic Eden escrow`,
          PRICE_SOURCES: 'none',
        },
      });
      // What runs at once when a service starts has nothing to follow yet; a run that is under way cannot be had again.
      await until(
        async () => (await readTasks()).every((task) => task.lastSuccess !== null),
        LIMIT_MS,
        'the first runs',
      );
      const added = await service.operate('collections.add', {
        chain: 'solana',
        address: FAMOUS_FOX,
        slug: 'famous-foxes',
        magiceden: 'famous_fox_federation',
      });
      assert.equal(added.status, 200, JSON.stringify(added.body));
      // Marketplaces are asked at once about what is followed anew; a feed does not depend on it.
      const started = await service.operate('sync.start', { name: 'feed' });
      assert.equal(started.status, 200, JSON.stringify(started.body));
      await until(
        async () => (await service.ok('/v1/collections/famous-foxes/sales')).data.length === 1,
        LIMIT_MS,
        'sales',
      );
      await until(
        async () => (await service.ok('/v1/collections/famous-foxes/listings')).data.length === 3,
        LIMIT_MS,
        'three listings',
      );
      await until(async () => (await readToken(mintOf(49))).status === 200, LIMIT_MS, 'the last of the tokens');
    });
    after(async () => {
      await service.close();
      for (const close of closers) await close();
    });

    const readTasks = async (): Promise<{ lastSuccess: string | null }[]> =>
      (await Promise.all(SOURCES.map((name) => service.operate('sync.read', { name })))).flatMap(
        ({ body }) => body.result,
      );
    const readToken = (mint: string) => service.get(`/v1/tokens/solana/${FAMOUS_FOX}/${mint}`);
    const token = async (index: number) => (await service.ok(`/v1/tokens/solana/${FAMOUS_FOX}/${mintOf(index)}`)).data;

    test('50 recorded assets come out with their names, pictures and mints as they are written', async () => {
      for (const [index, fox] of foxes.entries()) {
        const { mint, name, image, collectionId } = await token(index);
        assert.deepEqual(
          { mint, name, image, collectionId },
          {
            mint: fox['id'],
            name: fox['content'].metadata.name,
            image: fox['content'].links.image,
            collectionId: `solana_${FAMOUS_FOX.toLowerCase()}`,
          },
        );
      }
      const { data } = await service.ok('/v1/collections/famous-foxes');
      assert.deepEqual([data.contractAddress, data.name], [FAMOUS_FOX, 'Famous Fox Federation']);
      assert.equal((await readToken(mintOf(49).toLowerCase())).status === 200, false, 'a mint has one spelling');
    });

    test('frozen and delegated tokens belong to the wallet that holds them', async () => {
      let frozen = 0;
      for (const [index, { ownership }] of foxes.entries()) {
        if (index < 5 || ownership.owner === ESCROW) continue;
        if (ownership.frozen && ownership.delegated) frozen += 1;
        assert.deepEqual((await token(index)).owner, { address: ownership.owner, kind: 'wallet', label: null });
      }
      assert.ok(frozen > 30, `${frozen} of the recorded ones are`);
    });

    test('a token in escrow belongs to its seller while it is listed, and else shows custody without the address', async () => {
      for (const index of [LISTED, UNLISTED]) assert.equal(foxes[index]?.['ownership'].owner, ESCROW);
      const listed = await token(LISTED);
      assert.deepEqual(listed.owner, { address: SELLER, kind: 'wallet', label: null });
      assert.deepEqual([listed.listing.price.raw, listed.listing.marketplace], ['2500000000', 'magic-eden']);
      assert.deepEqual((await token(UNLISTED)).owner, { address: null, kind: 'custody', label: 'Magic Eden escrow' });
      assert.equal(JSON.stringify(await token(UNLISTED)).includes(ESCROW), false);
    });

    test('listings of both books are one window, cheapest first, with the own one under the prefix of the service', async () => {
      const { data } = await service.ok('/v1/collections/famous-foxes/listings');
      assert.deepEqual(
        data.map((row: any) => [row.mint, row.price.raw]),
        [
          [mintOf(4), '2000000000'],
          [mintOf(LISTED), '2500000000'],
          [mintOf(2), '3000000001'],
        ],
      );
      assert.deepEqual([data[0].orderId, data[0].marketplace], ['mercat_one', 'MERCAT']);
    });

    test('the sale has its signature and exact price, and the floor is the cheapest of both books', async () => {
      const { data } = await service.ok('/v1/collections/famous-foxes/sales');
      assert.deepEqual([data[0].price.raw, data[0].mint, data[0].buyer], ['1750000000', mintOf(3), BUYER]);
      assert.equal((await token(3)).lastSale.price.raw, '1750000000');
      const { data: floor } = await service.ok('/v1/collections/famous-foxes/floor');
      // Platform fee and royalty, which DAS told, come on top of the own ask.
      assert.equal(floor.askFloor.raw, '2000000000');
      const own = 2_000_000_000 * (1 + 0.02 + 0.042);
      assert.equal(floor.buyerFloor.raw, String(Math.min(own, 2_500_000_000)));
      const { data: collection } = await service.ok('/v1/collections/famous-foxes');
      assert.equal(collection.stats.listedCount, 3);
    });

    test('the status shows every source without a word of where it is', async () => {
      const { body } = await service.operate('status', {});
      const text = JSON.stringify(body);
      for (const name of ['das-tokens', 'magic-eden-listings', 'magic-eden-sales', 'feed'])
        assert.ok(text.includes(name), name);
      for (const { url } of replays) assert.equal(text.includes(url), false);
    });

    test('a token that somebody looks at has its owner soon, long before the next walk over all of them', async () => {
      const moved = das.assets[5] ?? assert.fail();
      const before = (await token(5)).owner.address;
      moved['ownership'].owner = BUYER;
      das.asked = [];
      const isFresh = async () => {
        await service.operate('sync.start', { name: 'das-shown-tokens' });
        return (await token(5)).owner.address === BUYER;
      };
      assert.notEqual(before, BUYER);
      await until(isFresh, LIMIT_MS, 'its new owner');
      const methods = new Set(das.asked.map(({ method }) => method));
      assert.deepEqual([...methods], ['getAssetBatch'], 'nothing else was asked');
    });
  });
});
