// A followed collection of a thousand tokens with a mixed book: signed orders on a local chain, two marketplaces that list some of
// the same orders, and unusable rows. The chain and the marketplaces then change. After each step the responses must equal an
// independent computation (test/end-to-end/mixed-book/expected.ts). MIXED_SEED selects another random book.

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { createRandom } from '../../devnet/random.ts';
import { canRunPostgres } from '../support/engines/postgres-server.ts';
import { forEachEngine } from '../support/engines/each-engine.ts';
import type { MixedBook } from './mixed-book/book.ts';
import { startMixedBook, MARKETPLACE_NAMES } from './mixed-book/book.ts';
import {
  churnChain,
  churnMarketplaces,
  endOnChain,
  listAt,
  postHigherPriced,
  postOwn,
  reorganise,
  listUnusable,
  listOwn,
  listThenPost,
  listTwins,
  voidOrders,
} from './mixed-book/changes.ts';
import type { BookCounts } from './mixed-book/expected.ts';
import { servedBy } from './mixed-book/marketplaces.ts';

const SEED = Number(process.env['MIXED_SEED'] ?? 1);
const MINUTE_MS = 60_000;
const OWN_ORDERS = 80;
const OPENSEA_LISTINGS = 340;
const ASKS = 160;
const ROUNDS = 2;

forEachEngine('a mixed book', (engine) => {
  // The suite takes minutes, so it runs on one engine: on PostgreSQL if this machine has PostgreSQL, otherwise on the embedded engine.
  if (engine.name === 'embedded' && canRunPostgres()) return;
  describe('a mixed book of a followed collection', () => {
    const closers: (() => unknown)[] = [];
    const random = createRandom(SEED);
    let book: MixedBook;

    before(async () => {
      book = await startMixedBook({ seed: SEED, random, settings: await engine.settings(), closers });
    });
    after(async () => {
      for (const close of closers.toReversed()) await close();
    });

    test('every read serves the cheapest own order of a token; for a token without own orders, its cheapest mirrored listing', async (t) => {
      await postOwn(book, OWN_ORDERS);
      listAt(book, 'opensea', OPENSEA_LISTINGS);
      listAt(book, 'magicEden', ASKS);
      listOwn(book, 24);
      listTwins(book, 50);
      // The marketplaces serve no unusable rows at first, because the service learns the number of listings only from a list without invalid rows.
      await book.syncAll();
      listUnusable(book);
      await book.syncAll();
      const counts = await book.compare();
      t.diagnostic(JSON.stringify(counts));
      const wanted: Partial<BookCounts> = {
        ownHigherPriced: 5,
        twins: 50,
        mirroredOwn: 20,
        severalOrders: 30,
        equalPrices: 30,
      };
      for (const [what, least] of Object.entries({ ...wanted, notStarted: 4 })) {
        assert.ok(
          counts[what as keyof BookCounts] >= least,
          `${what}: the book has ${counts[what as keyof BookCounts]}, but the test needs at least ${least}`,
        );
      }
      await book.compareAllWays();
      await postHigherPriced(book);
    });

    test('an order that marketplaces list before it is submitted to the service is served only once', async () => {
      const orders = await listThenPost(book, 8);
      await book.compare();
      await endOnChain(book, orders);
      const counts = await book.compare();
      assert.ok(
        counts.mirroredEndedOwn >= 6,
        `only ${counts.mirroredEndedOwn} ended orders of the own book are still listed by marketplaces`,
      );
      await book.syncAll();
      await book.compare();
    });

    test('the served listings stay correct through changes on the chain and at the marketplaces', async (t) => {
      for (let round = 0; round < ROUNDS; round += 1) {
        book.pass(3 * MINUTE_MS);
        await churnChain(book);
        if (round === 0) await reorganise(book, 2);
        await voidOrders(book);
        await postOwn(book, 8);
        await book.compare();
        churnMarketplaces(book);
        await book.syncAll();
        t.diagnostic(JSON.stringify(await book.compare()));
      }
    });

    test("when a marketplace's list is suddenly much shorter, no listing ends for five minutes", async () => {
      for (const name of MARKETPLACE_NAMES) {
        const marketplace = book.marketplaces[name];
        const { unusable } = marketplace;
        marketplace.unusable = [];
        marketplace.served = (listings) => listings.slice(0, Math.floor(listings.length / 4));
        for (const minutes of [3, 1]) {
          book.pass(minutes * MINUTE_MS);
          await book.sync(name, { isAccepted: false });
          await book.compare();
        }
        if (name === 'opensea') {
          book.pass(5 * MINUTE_MS);
          await book.sync(name, { isAccepted: true });
          await book.compare();
        }
        marketplace.unusable = unusable;
        marketplace.served = null;
        await book.sync(name, { isAccepted: true });
        await book.compare();
      }
    });

    test("when a marketplace's list has too many invalid rows, no listing ends", async () => {
      book.pass(3 * MINUTE_MS);
      const marketplace = book.marketplaces.opensea;
      const listings = servedBy(marketplace);
      marketplace.served = () => listings.slice(30);
      listAt(book, 'opensea', 10);
      const { unusable } = marketplace;
      marketplace.unusable = [
        ...unusable,
        ...Array.from({ length: Math.ceil(listings.length / 8) }, (_, index) => ({ order_hash: index })),
      ];
      await book.sync('opensea', { isAccepted: false });
      await book.compare();
      marketplace.unusable = unusable;
      await book.sync('opensea', { isAccepted: true });
      await book.compare();
      marketplace.served = null;
    });

    test('orders are listed from their start until their expiry', async () => {
      const before = await book.compare();
      book.pass(100 * MINUTE_MS);
      const between = await book.compare();
      await book.syncAll();
      const counts = await book.compare();
      assert.ok(
        between.expired > before.expired,
        `no row has expired: ${before.expired} expired rows before, ${between.expired} after`,
      );
      assert.ok(
        counts.notStarted < before.notStarted,
        `no row has started: ${before.notStarted} rows had not started before, ${counts.notStarted} after`,
      );
    });
  });
});
