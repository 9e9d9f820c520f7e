// A followed collection of a thousand tokens with a mixed book: signed orders on a local chain, two marketplaces that list
// some of the same orders, invalid rows, and changes on all sides. After every step the service has to serve what an
// independent computation expects (test/end-to-end/mixed-book/expected.ts). MIXED_SEED selects another random book.

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { createRandom } from '../../devnet/random.ts';
import { canRunPostgres } from '../support/engines/postgres-server.ts';
import { forEachEngine } from '../support/engines/each-engine.ts';
import type { MixedBook } from './mixed-book/book.ts';
import { startMixedBook, VENUE_NAMES } from './mixed-book/book.ts';
import {
  churnChain,
  churnMarketplaces,
  endOnChain,
  listAt,
  postDearer,
  postOwn,
  reorganise,
  tellOdd,
  tellOwn,
  tellThenPost,
  tellTwins,
  voidOrders,
} from './mixed-book/changes.ts';
import type { BookCounts } from './mixed-book/expected.ts';
import { shownBy } from './mixed-book/marketplaces.ts';

const SEED = Number(process.env['MIXED_SEED'] ?? 1);
const MINUTE_MS = 60_000;
const OWN_ORDERS = 80;
const OPENSEA_LISTINGS = 340;
const ASKS = 160;
const ROUNDS = 2;

forEachEngine('a mixed book', (engine) => {
  // The suite takes minutes, so it runs on one engine: on PostgreSQL where it is available. Other suites test how the engines differ.
  if (engine.name === 'embedded' && canRunPostgres()) return;
  describe('of a followed collection', () => {
    const closers: (() => unknown)[] = [];
    const random = createRandom(SEED);
    let book: MixedBook;

    before(async () => {
      book = await startMixedBook({ seed: SEED, random, settings: await engine.settings(), closers });
    });
    after(async () => {
      for (const close of closers.toReversed()) await close();
    });

    test('one row is served for each token, orders of the service before mirrored listings, cheapest first, by every read', async (t) => {
      await postOwn(book, OWN_ORDERS);
      listAt(book, 'opensea', OPENSEA_LISTINGS);
      listAt(book, 'magicEden', ASKS);
      tellOwn(book, 24);
      tellTwins(book, 50);
      tellOdd(book);
      await book.syncAll();
      const seen = await book.compare();
      t.diagnostic(JSON.stringify(seen));
      const wanted: Partial<BookCounts> = { ownDearer: 5, twins: 50, toldOwn: 20, severalOrders: 30, equalPrices: 30 };
      for (const [what, least] of Object.entries({ ...wanted, notStarted: 4 })) {
        assert.ok(seen[what as keyof BookCounts] >= least, `${what}: ${seen[what as keyof BookCounts]} of ${least}`);
      }
      await book.compareAllWays();
      await postDearer(book);
    });

    test('an order that marketplaces listed first is one order when it is submitted, and ends when it ends on the chain', async () => {
      const orders = await tellThenPost(book, 8);
      await book.compare();
      await endOnChain(book, orders);
      const seen = await book.compare();
      assert.ok(
        seen.toldDeadOwn >= 6,
        `${seen.toldDeadOwn} ended orders of the own book are still listed by marketplaces`,
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

    test('a marketplace snapshot that is suddenly much shorter ends no listing until it has repeated for five minutes', async () => {
      for (const name of VENUE_NAMES) {
        const venue = book.venues[name];
        const { odd } = venue;
        venue.odd = [];
        venue.shown = (listings) => listings.slice(0, Math.floor(listings.length / 4));
        for (const minutes of [3, 1]) {
          book.pass(minutes * MINUTE_MS);
          await book.sync(name, { isBelieved: false });
          await book.compare();
        }
        if (name === 'opensea') {
          book.pass(5 * MINUTE_MS);
          await book.sync(name, { isBelieved: true });
          await book.compare();
        }
        venue.odd = odd;
        venue.shown = null;
        await book.sync(name, { isBelieved: true });
        await book.compare();
      }
    });

    test('a snapshot with too many invalid rows adds new listings and ends none', async () => {
      book.pass(3 * MINUTE_MS);
      const venue = book.venues.opensea;
      const listings = shownBy(venue);
      venue.shown = () => listings.slice(30);
      listAt(book, 'opensea', 10);
      const { odd } = venue;
      venue.odd = [
        ...odd,
        ...Array.from({ length: Math.ceil(listings.length / 8) }, (_, index) => ({ order_hash: index })),
      ];
      await book.sync('opensea', { isBelieved: false });
      await book.compare();
      venue.odd = odd;
      await book.sync('opensea', { isBelieved: true });
      await book.compare();
      venue.shown = null;
    });

    test('orders are listed from their start until their expiry', async () => {
      const before = await book.compare();
      book.pass(100 * MINUTE_MS);
      const between = await book.compare();
      await book.syncAll();
      const seen = await book.compare();
      assert.ok(between.expired > before.expired, `${between.expired - before.expired} rows have ended by the clock`);
      assert.ok(
        seen.notStarted < before.notStarted,
        `${before.notStarted - seen.notStarted} rows have started by the clock`,
      );
    });
  });
});
