// OpenSea: the fixtures and the replay server's responses conform to the vendor's API document. Recorded responses become records.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { readOpenSeaStats } from '../../src/sources/upstreams/opensea/collection.ts';
import { parseOpenSeaListings } from '../../src/sources/upstreams/opensea/listings.ts';
import { parseExactJson } from '../../src/sources/upstreams/exact-json.ts';
import { parseFixture } from '../support/fixtures.ts';
import { needsPayloads, readPayload } from '../support/recordings/payloads.ts';
import { GHOSTS } from '../support/recordings/subjects.ts';
import { assertValidRecords, createTestUpstream } from '../support/replay/every-fault.ts';
import { APES, makeAddress, makeCollection, makeHash, openseaRoutes } from '../support/replay/opensea.ts';
import { startReplayServer } from '../support/replay/replay.ts';

const AT = Date.parse('2026-09-01T00:00:00Z');
const DOCUMENT = 'opensea/openapi.opensea-2026-08.json';
const STATS = 'opensea/collections_slug_stats.recorded.json';
const ORDERS = 'opensea/orders_listings_v2.seaport15.json';

const served = makeCollection({
  tokens: ['1', '2', '7'],
  listings: [1, 2].map((number) => ({
    tokenId: String(number),
    seller: makeAddress(number),
    total: 10n ** 18n,
    hash: makeHash(number),
  })),
  sales: [{ tokenId: '1', raw: 10n ** 18n, tx: makeHash(90_000), soldAt: 1_770_000_000 }],
});

test(
  'the fixtures and the responses of the replay server conform to the vendor’s API document',
  needsPayloads(DOCUMENT),
  async (t) => {
    const ajv = new Ajv2020({
      strict: false,
      allErrors: true,
      formats: { double: true, float: true, int32: true, int64: true },
    });
    addFormats.default(ajv);
    ajv.addSchema(JSON.parse(readPayload(DOCUMENT)) as object, 'opensea');
    const check = (what: string, schema: object, value: unknown) => {
      const isValid = ajv.compile(schema);
      assert.ok(isValid(value), `${what}: ${ajv.errorsText(isValid.errors)}`);
    };
    const schemaOf = (name: string) => ({ $ref: `opensea#/components/schemas/${name}` });
    for (const [name, schema] of Object.entries({
      contract: 'ContractResponse',
      collection: 'CollectionDetailedResponse',
      stats: 'CollectionStatsResponse',
      listings: 'ListingsResponse',
      nfts: 'NftListResponse',
      nft: 'NftResponse',
    })) {
      check(name, schemaOf(schema), parseFixture(`opensea/${name}.json`));
    }
    const replay = await startReplayServer(t, openseaRoutes([served]));
    const contract = `/api/v2/chain/ape_chain/contract/${APES.contract}`;
    for (const [path, schema] of [
      [contract, 'ContractResponse'],
      [`/api/v2/collections/${APES.slug}`, 'CollectionDetailedResponse'],
      [`/api/v2/collections/${APES.slug}/stats`, 'CollectionStatsResponse'],
      [`/api/v2/collections/${GHOSTS.slug}/stats`, 'CollectionStatsResponse'],
      [`/api/v2/listings/collection/${APES.slug}/all?limit=200`, 'ListingsResponse'],
      [`/api/v2/listings/collection/${APES.slug}/best`, 'ListingsResponse'],
      [`${contract}/nfts`, 'NftListResponse'],
      [`${contract}/nfts/7`, 'NftResponse'],
    ] as const) {
      check(path, schemaOf(schema), await (await fetch(replay.url + path)).json());
    }
    // In the vendor's document an event has one of three schemas. One event can match several of them, so a sale is checked against
    // the schema of sales only.
    const sales = { type: 'array', minItems: 1, items: schemaOf('SaleEvent') };
    check('events', sales, parseFixture('opensea/events.json').asset_events);
    const events: any = await (await fetch(`${replay.url}/api/v2/events/collection/${APES.slug}`)).json();
    check('served events', sales, events.asset_events);
  },
);

test('recorded statistics become records with an exact floor', needsPayloads(STATS), async (t) => {
  const text = readPayload(STATS);
  const replay = await startReplayServer(t, [{ path: /.*/, origin: 'recorded', answer: () => text }]);
  const { records, rejected } = await readOpenSeaStats(createTestUpstream(replay.url), GHOSTS, { at: AT });
  const fields = { chain: 'ethereum', contractAddress: GHOSTS.contractAddress, at: '2026-09-01T00:00:00.000Z' };
  assert.deepEqual(rejected, []);
  assert.deepEqual(records, [
    { kind: 'stats', ...fields, floorRaw: '15690000000000000', owners: 2_907 },
    {
      kind: 'analytics',
      ...fields,
      floorRaw: '15690000000000000',
      volume: { allTime: 46.07304008849007, twentyFourHour: 0.1258, sevenDay: 0.21618999999999997 },
      sales: { allTime: 2_791, twentyFourHour: 9, sevenDay: 17 },
    },
  ]);
  assertValidRecords(records);
});

test('four recorded orders become four listings with different ids', needsPayloads(ORDERS), () => {
  const { orders } = parseExactJson(Buffer.from(readPayload(ORDERS))) as { orders: unknown[] };
  const { records, rejected } = parseOpenSeaListings(orders, GHOSTS);
  assert.deepEqual(rejected, []);
  assert.deepEqual(records[0], {
    kind: 'listing',
    source: 'opensea',
    chain: 'ethereum',
    contractAddress: GHOSTS.contractAddress,
    tokenId: '5333',
    id: 'opensea_66f066c353946d472c833e8d4cffe98c',
    orderHash: '0xe5abef0267b3c4f14aac409cc98a1afff8786055123e0f08273b17592ac97c17',
    priceRaw: '489955000000000000',
    buyerTotalRaw: '489955000000000000',
    seller: '0x0097b9cfe64455eed479292671a1121f502bc954',
    protocolAddress: '0x00000000000000adc04c56bf30ac9d3c0aaf14dc',
    operator: '0x1e0049783f008a0085193e00003d00cd54003c71',
    counter: '1355522315295644597181349433705672488437',
    status: 'active',
    timestamp: '2023-11-22T08:24:31.000Z',
    expiresAt: '2023-11-23T08:24:31.000Z',
  });
  assert.equal(new Set(records.map((record) => record['id'])).size, 4);
  assertValidRecords(records);
});
