// The id of a mirrored listing begins with its marketplace and is not the hash of the signed order.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseExactJson } from '../../../../src/sources/upstreams/exact-json.ts';
import { parseOpenSeaListings } from '../../../../src/sources/upstreams/opensea/listings.ts';
import { parseOpenSeaSales } from '../../../../src/sources/upstreams/opensea/sales.ts';
import { forOneEngine } from '../../../support/engines/each-engine.ts';
import { parseFixture, readFixture } from '../../../support/fixtures.ts';
import { APES } from '../../../support/replay/opensea.ts';
import { startTestService } from '../../../support/service/service.ts';
import { apes } from './opensea-market.ts';

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

forOneEngine('ids of OpenSea listings', (engine) => {
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
});
