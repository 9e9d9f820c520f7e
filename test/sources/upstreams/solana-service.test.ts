// Solana end to end. A service follows a collection, with replay servers in place of its sources. The marketplace interface must
// serve what these servers sent.

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { forOneEngine } from '../../support/engines/each-engine.ts';
import { until } from '../../support/until.ts';
import { createDasStore, dasRoutes, readDasFixtures } from '../../support/replay/das.ts';
import { createFeedStore, feedRoutes } from '../../support/replay/feed.ts';
import {
  addressOf,
  createMagicEdenBook,
  listingRow,
  magicEdenRoutes,
  saleRow,
  LANTERNS,
} from '../../support/replay/magic-eden.ts';
import type { ReplayServer } from '../../support/replay/replay.ts';
import { startReplayServer } from '../../support/replay/replay.ts';
import type { TestService } from '../../support/service/service.ts';
import { startTestService } from '../../support/service/service.ts';

const LIMIT_MS = 60_000;
/** The wallet that holds two assets of the fixture. One of them is listed. */
const ESCROW = 'GbEaKK8vSvSRU9m6ZMSaQjuSgbHjcfNKXTpJPk6Hb8Cp';
const SELLER = addressOf('se', 9);
const BUYER = addressOf('bu', 9);
/** Indexes of assets in the fixture. */
const MOVED = 0;
const LISTED_TOO = 1;
const LISTED = 3;
const UNLISTED = 4;
const SOLD = 5;
const LISTED_HERE = 6;
const LAST = 7;
const SOURCES = ['das', 'magic-eden', 'feed'];
const { group, collection } = readDasFixtures();

forOneEngine('Solana from its sources to the interface', (engine) => {
  describe('service', () => {
    const mintOf = (index: number): string => group[index]?.['id'] ?? assert.fail('the fixture lacks an asset');
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
      book.listings.set('paper_lanterns', [
        listingRow(1, { ...listed, tokenMint: mintOf(LISTED), price: 2.5, priceInfo: undefined }),
        listingRow(2, {
          ...listed,
          tokenMint: mintOf(LISTED_TOO),
          priceInfo: { solPrice: { rawAmount: '3000000001', decimals: 9 } },
        }),
      ]);
      book.stats.set('paper_lanterns', {
        symbol: 'paper_lanterns',
        listedCount: 2,
        floorPrice: 2500000000,
      });
      const seconds = Math.floor(Date.now() / 1_000) - 3_600;
      book.activities.set('paper_lanterns', [
        saleRow(1, seconds, {
          tokenMint: mintOf(SOLD),
          collectionSymbol: 'paper_lanterns',
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
          contractAddress: LANTERNS,
          mint: mintOf(LISTED_HERE),
          id: 'one',
          priceRaw: '2000000000',
          seller: SELLER,
          timestamp: '2026-05-01T00:00:00Z',
        },
        { kind: 'feed', end: true },
      ];
      das.assets = structuredClone([...group, collection]);
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
      // Each task runs once when the service starts, before any collection is followed. During this run the task cannot be started
      // again.
      await until(
        async () => (await readTasks()).every((task) => task.lastSuccess !== null),
        LIMIT_MS,
        'the first runs did not end',
      );
      const added = await service.operate('collections.add', {
        chain: 'solana',
        address: LANTERNS,
        slug: 'paper-lanterns',
        magiceden: 'paper_lanterns',
      });
      assert.equal(added.status, 200, JSON.stringify(added.body));
      // Adding a collection starts the marketplace tasks immediately, but not the feed's task, which does not depend on what is
      // followed.
      const started = await service.operate('sync.start', { name: 'feed' });
      assert.equal(started.status, 200, JSON.stringify(started.body));
      await until(
        async () => (await service.ok('/v1/collections/paper-lanterns/sales')).data.length === 1,
        LIMIT_MS,
        'the sale was not served',
      );
      await until(
        async () => (await service.ok('/v1/collections/paper-lanterns/listings')).data.length === 3,
        LIMIT_MS,
        'the three listings were not served',
      );
      await until(
        async () => (await readToken(mintOf(LAST))).status === 200,
        LIMIT_MS,
        'the last token was not stored',
      );
    });
    after(async () => {
      await service.close();
      for (const close of closers) await close();
    });

    const readTasks = async (): Promise<{ lastSuccess: string | null }[]> =>
      (await Promise.all(SOURCES.map((name) => service.operate('sync.read', { name })))).flatMap(
        ({ body }) => body.result,
      );
    const readToken = (mint: string) => service.get(`/v1/tokens/solana/${LANTERNS}/${mint}`);
    const token = async (index: number) => (await service.ok(`/v1/tokens/solana/${LANTERNS}/${mintOf(index)}`)).data;

    test('assets are served with their names, pictures and mints as DAS has them', async () => {
      for (const [index, asset] of group.entries()) {
        const { mint, name, image, collectionId } = await token(index);
        assert.deepEqual(
          { mint, name, image, collectionId },
          {
            mint: asset['id'],
            name: asset['content'].metadata.name,
            image: asset['content'].links.image,
            collectionId: `solana_${LANTERNS.toLowerCase()}`,
          },
        );
      }
      const { data } = await service.ok('/v1/collections/paper-lanterns');
      assert.deepEqual([data.contractAddress, data.name], [LANTERNS, 'Paper Lanterns']);
      assert.equal(
        (await readToken(mintOf(LAST).toLowerCase())).status === 200,
        false,
        'a token was found by its mint in lower case',
      );
    });

    test('the owner of a frozen and delegated token is the wallet that holds the token', async () => {
      const delegated = group.filter(({ ownership }) => ownership.frozen && ownership.delegated);
      assert.equal(delegated.length, 3);
      for (const asset of delegated) {
        const { owner } = await token(group.indexOf(asset));
        assert.deepEqual(owner, { address: asset['ownership'].owner, kind: 'wallet', label: null });
      }
    });

    test('the owner of a token in escrow is the seller while the token is listed; while it is not listed, only the label of the escrow wallet is served', async () => {
      for (const index of [LISTED, UNLISTED]) assert.equal(group[index]?.['ownership'].owner, ESCROW);
      const listed = await token(LISTED);
      assert.deepEqual(listed.owner, { address: SELLER, kind: 'wallet', label: null });
      assert.deepEqual([listed.listing.price.raw, listed.listing.marketplace], ['2500000000', 'magic-eden']);
      assert.deepEqual((await token(UNLISTED)).owner, { address: null, kind: 'custody', label: 'Magic Eden escrow' });
      assert.equal(JSON.stringify(await token(UNLISTED)).includes(ESCROW), false);
    });

    test('mirrored and own listings are served as one list, cheapest first', async () => {
      const { data } = await service.ok('/v1/collections/paper-lanterns/listings');
      assert.deepEqual(
        data.map((row: any) => [row.mint, row.price.raw]),
        [
          [mintOf(LISTED_HERE), '2000000000'],
          [mintOf(LISTED), '2500000000'],
          [mintOf(LISTED_TOO), '3000000001'],
        ],
      );
      assert.deepEqual([data[0].orderId, data[0].marketplace], ['mercat_one', 'MERCAT']);
    });

    test('sales and floors have exact prices', async () => {
      const { data } = await service.ok('/v1/collections/paper-lanterns/sales');
      assert.deepEqual([data[0].price.raw, data[0].mint, data[0].buyer], ['1750000000', mintOf(SOLD), BUYER]);
      assert.equal((await token(SOLD)).lastSale.price.raw, '1750000000');
      const { data: floor } = await service.ok('/v1/collections/paper-lanterns/floor');
      // The ask floor is the ask of the own listing. The buyer of this listing also pays the platform fee, and the royalty that DAS reports.
      assert.equal(floor.askFloor.raw, '2000000000');
      const own = 2_000_000_000 * (1 + 0.02 + 0.042);
      assert.equal(floor.buyerFloor.raw, String(Math.min(own, 2_500_000_000)));
      const { data: collection } = await service.ok('/v1/collections/paper-lanterns');
      assert.equal(collection.stats.listedCount, 3);
    });

    test('the status shows every task without the URL of its source', async () => {
      const { body } = await service.operate('status', {});
      const text = JSON.stringify(body);
      for (const name of ['das-tokens', 'magic-eden-listings', 'magic-eden-sales', 'feed'])
        assert.ok(text.includes(name), name);
      for (const { url } of replays) assert.equal(text.includes(url), false);
    });

    test('a viewed token gets its current owner long before the next walk over all tokens', async () => {
      const moved = das.assets[MOVED] ?? assert.fail();
      const before = (await token(MOVED)).owner.address;
      moved['ownership'].owner = BUYER;
      das.asked = [];
      const isFresh = async () => {
        await service.operate('sync.start', { name: 'das-shown-tokens' });
        return (await token(MOVED)).owner.address === BUYER;
      };
      assert.notEqual(before, BUYER);
      await until(isFresh, LIMIT_MS, 'the new owner was not served');
      const methods = new Set(das.asked.map(({ method }) => method));
      assert.deepEqual([...methods], ['getAssetBatch'], 'a method other than getAssetBatch was called');
    });
  });
});
