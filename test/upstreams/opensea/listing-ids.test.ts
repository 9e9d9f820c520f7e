// The id of a mirrored listing begins with its marketplace and is not the hash of the signed order. A migration renames rows that
// earlier versions stored under the hash.

import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { test } from 'node:test';
import { readConfig } from '../../../src/config.ts';
import { createLog } from '../../../src/core/log.ts';
import { migrate, migrateWithin } from '../../../src/database/migrate.ts';
import { openDatabases } from '../../../src/database/open.ts';
import { parseExactJson } from '../../../src/upstreams/exact-json.ts';
import { parseOpenSeaListings } from '../../../src/upstreams/opensea/listings.ts';
import { parseOpenSeaSales } from '../../../src/upstreams/opensea/sales.ts';
import type { SourceRecord } from '../../../src/upstreams/response-rows.ts';
import { forEachEngine } from '../../support/engines/each-engine.ts';
import { parseFixture, readFixture } from '../../support/fixtures.ts';
import { APES } from '../../support/replay/opensea.ts';
import { runImport, toContext, toNdjson } from '../../support/service/intake.ts';
import { startTestService } from '../../support/service/service.ts';
import { apes } from './opensea-market.ts';

const RENAMING = '0008-listing-ids.sql';
const MIGRATIONS = new URL('../../../src/database/migrations/indexer/', import.meta.url);
const NOW = Date.UTC(2025, 11, 1);
const ID = /^opensea_[0-9a-f]{32}$/;
const COLLECTION = { kind: 'collection', chain: 'apechain', contractAddress: APES.contract, name: 'Apes' };

/** A listing, and a sale of its order, as OpenSea reports them. */
function readOrder() {
  const { listings } = parseExactJson(Buffer.from(readFixture('opensea/listings.json'))) as { listings: unknown[] };
  const [listing = assert.fail()] = parseOpenSeaListings(listings, apes).records;
  const [event] = parseFixture('opensea/events.json').asset_events;
  const filled = { ...event, order_hash: listing['orderHash'] };
  const { records } = parseOpenSeaSales(parseExactJson(Buffer.from(JSON.stringify([filled]))) as unknown[], apes);
  return { listing, sale: records[0] ?? assert.fail(), orderHash: String(listing['orderHash']) };
}

const without = (record: SourceRecord, name: string) =>
  Object.fromEntries(Object.entries(record).filter(([field]) => field !== name));

forEachEngine('ids of OpenSea listings', (engine) => {
  test('in the listings and the sales of a collection, orderId is the id of the listing; in the listing of a token, orderId is the order hash', async () => {
    const { listing, sale, orderHash } = readOrder();
    const service = await startTestService({ settings: await engine.settings(), clock: () => NOW });
    try {
      await service.load([COLLECTION, listing, sale]);
      const [listed] = await service.walk(`/v1/collections/apechain_${APES.contract}/listings`);
      const [sold] = await service.walk(`/v1/collections/apechain_${APES.contract}/sales`);
      assert.match(listed.orderId, ID);
      assert.equal(sold.orderId, listed.orderId);
      const { data } = await service.ok(`/v1/tokens/apechain/${APES.contract}/${String(listing['tokenId'])}`);
      assert.equal(data.listing.orderId, orderHash);
    } finally {
      await service.close();
    }
  });

  test('the migration replaces ids that are order hashes, so that no listing or sale is stored twice', async (t) => {
    if (engine.hasCitus) return t.skip('the versions before this migration do not run on a cluster');
    const { listing, sale, orderHash } = readOrder();
    const { main, indexer, close } = await openDatabases(
      readConfig(await engine.settings('empty')),
      createLog('silent'),
    );
    try {
      await migrate(main, 'main');
      const earlier = new Set(readdirSync(MIGRATIONS).filter((name) => name !== RENAMING));
      await indexer.transaction((tx) => migrateWithin(tx, 'indexer', { only: earlier }));
      const sales = [sale, { ...without(sale, 'tx'), price: '7 "ΞTH"' }];
      const stored = [
        { ...listing, id: orderHash },
        ...sales.map((one) => ({ ...one, listingId: orderHash })),
        // The migration does not rename this row, because its id is not an order hash.
        { ...listing, id: 'mine', tokenId: '9', orderHash: undefined },
      ];
      const context = toContext(indexer, { clock: () => NOW });
      assert.deepEqual((await runImport(context, toNdjson(stored))).refused, []);
      await migrate(indexer, 'indexer');
      const { summary } = await runImport(context, toNdjson([listing, ...sales]));
      assert.deepEqual([summary.inserted, summary.updated, summary.unchanged], [0, 0, 3]);
      const rows = await indexer.query(
        `select listing.id, listing.key = listed.listing_key as served from indexer.listing
         join indexer.listed_asset as listed using (collection_id, asset) order by id`,
      );
      assert.deepEqual(rows, [
        { id: 'mine', served: true },
        { id: listing['id'], served: true },
      ]);
    } finally {
      await close();
    }
  });
});
