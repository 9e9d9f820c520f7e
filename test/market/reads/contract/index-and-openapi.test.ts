// GET /v1 and GET /v1/openapi.json.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { forOneMarket } from '../../../support/service/market.ts';

const BASE_URL = 'https://data.example.org/nft';

const STATUSES: Record<string, number[]> = {
  '/v1': [200, 429],
  '/v1/openapi.json': [200, 429],
  '/v1/collections': [200, 400, 429, 502],
  '/v1/collections/{id}': [200, 404, 429],
  '/v1/collections/{id}/floor': [200, 404, 429],
  '/v1/collections/{id}/listings': [200, 400, 404, 429],
  '/v1/collections/{id}/sales': [200, 400, 404, 429, 502],
  '/v1/tokens/{chain}/{address}/{tokenId}': [200, 400, 404, 429],
};
const CHAINS = ['solana', 'ethereum', 'polygon', 'base', 'ink', 'apechain', 'abstract'];

/** The required fields and the optional fields that each schema must have. */
const FIELDS: Record<string, { required: string[]; optional?: string[] }> = {
  Price: { required: ['raw', 'decimal', 'currency', 'usd'] },
  MarketItem: {
    required: (
      'chain contractAddress tokenId mint collectionId price seller buyer marketplace status expiresAt timestamp ' +
      'orderId tx'
    ).split(' '),
  },
  CollectionSummary: {
    required: ['id', 'chain', 'contractAddress', 'name', 'slug', 'stats'],
    optional: ['image', 'banner', 'description', 'tokenStandard', 'royaltyBps'],
  },
  CollectionDetail: {
    required: ['id', 'chain', 'contractAddress', 'name', 'slug', 'stats', 'stale'],
    optional: ['image', 'banner', 'description', 'tokenStandard', 'royaltyBps'],
  },
  FloorResponse: { required: ['collectionId', 'askFloor', 'buyerFloor', 'aggregated', 'updatedAt', 'stale'] },
  TokenDetail: {
    required: ['chain', 'contractAddress', 'tokenId', 'mint', 'collectionId', 'name', 'owner', 'listing', 'lastSale'],
    optional: ['image', 'rarity'],
  },
  Pagination: { required: ['nextCursor', 'hasMore'] },
};

const settings = { SERVICE_NAME: 'bazaar', BASE_URL, EXTRA_CHAIN: 'monad:evm:MON:18:143' };

forOneMarket('index and OpenAPI document', { settings }, (market) => {
  test('the index has the name of the service and the URLs of the documentation', async () => {
    const { data } = await market.ok('/v1');
    assert.deepEqual(Object.keys(data), ['name', 'version', 'documentation', 'openapi', 'endpoints']);
    assert.equal(data.name, 'bazaar');
    assert.match(data.version, /^\d+\.\d+\.\d+/);
    assert.equal(data.documentation, `${BASE_URL}/docs`);
    assert.equal(data.openapi, `${BASE_URL}/v1/openapi.json`);
  });

  test('the documentation URL of the index leads to an HTML page', async () => {
    const response = await fetch(`${market.url}/docs`);
    assert.equal(response.status, 200);
    assert.match(response.headers.get('content-type') ?? '', /^text\/html/);
    await response.text();
  });

  test('the index lists every endpoint', async () => {
    const { data } = await market.ok('/v1');
    assert.deepEqual(data.endpoints.map((one: any) => one.path).sort(), Object.keys(STATUSES).sort());
    for (const endpoint of data.endpoints) {
      assert.deepEqual(Object.keys(endpoint), ['method', 'path', 'description']);
      assert.equal(endpoint.method, 'GET');
      assert.notEqual(endpoint.description, '');
    }
  });

  test('the document is OpenAPI 3.1.0 and is served without an envelope', async () => {
    const document = await market.ok('/v1/openapi.json');
    assert.equal(document.openapi, '3.1.0');
    assert.equal(document.info.version, '1.0.0');
    assert.deepEqual(document.servers, [{ url: BASE_URL }]);
  });

  test('the document has exactly the endpoints of the interface', async () => {
    const { paths } = await market.ok('/v1/openapi.json');
    assert.deepEqual(Object.keys(paths).sort(), Object.keys(STATUSES).sort());
    for (const item of Object.values(paths)) assert.deepEqual(Object.keys(item as object), ['get']);
  });

  test('every endpoint documents its statuses', async () => {
    const { paths } = await market.ok('/v1/openapi.json');
    for (const [path, statuses] of Object.entries(STATUSES)) {
      const documented = Object.keys(paths[path].get.responses).map(Number);
      for (const status of statuses) assert.ok(documented.includes(status), `${path} does not document ${status}`);
      assert.equal(
        documented.includes(502),
        statuses.includes(502),
        `${path}: the endpoint can return 502 and does not document it, or documents 502 and cannot return it`,
      );
    }
  });

  test('the document gives each 429 response the four rate limit headers, and each 200 response no headers', async () => {
    const { paths } = await market.ok('/v1/openapi.json');
    for (const item of Object.values<any>(paths)) {
      assert.deepEqual(Object.keys(item.get.responses[429].headers).sort(), [
        'Retry-After',
        'X-RateLimit-Limit',
        'X-RateLimit-Remaining',
        'X-RateLimit-Reset',
      ]);
      assert.equal(item.get.responses[200].headers, undefined);
    }
  });

  test('each list endpoint has the parameters `cursor` and `limit`, and `limit` has bounds and a default', async () => {
    const { paths } = await market.ok('/v1/openapi.json');
    const parametersOf = (path: string, location: 'query' | 'path') =>
      Object.fromEntries(
        (paths[path].get.parameters ?? [])
          .filter((one: any) => one.in === location)
          .map((one: any) => [one.name, { required: one.required ?? false, ...one.schema }]),
      );
    const list = parametersOf('/v1/collections', 'query');
    assert.deepEqual(Object.keys(list).sort(), ['chain', 'cursor', 'limit', 'sort']);
    assert.deepEqual(list.chain.enum, CHAINS);
    assert.deepEqual([list.sort.enum, list.sort.default], [['volume', 'floor', 'recent'], 'volume']);
    for (const path of ['/v1/collections', '/v1/collections/{id}/listings', '/v1/collections/{id}/sales']) {
      const { limit, cursor, ...more } = parametersOf(path, 'query');
      assert.deepEqual([limit.type, limit.minimum, limit.maximum, limit.default], ['integer', 1, 100, 25]);
      assert.deepEqual([limit.required, cursor.required, cursor.type], [false, false, 'string']);
      if (path !== '/v1/collections') assert.deepEqual(more, {});
    }
    assert.deepEqual(parametersOf('/v1/collections/{id}', 'query'), {});
    assert.deepEqual(parametersOf('/v1/collections/{id}/floor', 'query'), {});
    const token = '/v1/tokens/{chain}/{address}/{tokenId}';
    assert.deepEqual(parametersOf(token, 'query'), {});
    assert.deepEqual(parametersOf(token, 'path').chain.enum, CHAINS);
  });

  test('every schema has exactly its expected fields', async () => {
    const { components } = await market.ok('/v1/openapi.json');
    for (const [name, { required, optional = [] }] of Object.entries(FIELDS)) {
      const schema = components.schemas[name];
      for (const field of required) assert.ok(schema.required.includes(field), `${name} does not require ${field}`);
      assert.deepEqual(Object.keys(schema.properties).sort(), [...required, ...optional].sort(), name);
      assert.equal(schema.additionalProperties, false, name);
    }
    const { MarketItem, TokenDetail, CollectionDetail, CollectionSummary } = components.schemas;
    assert.deepEqual(MarketItem.properties.chain.enum, CHAINS);
    assert.deepEqual(MarketItem.properties.status.enum, ['active', 'filled', 'cancelled', 'expired', 'sold']);
    assert.deepEqual(TokenDetail.properties.owner.properties.kind.enum, ['wallet', 'custody', 'unknown']);
    assert.deepEqual(CollectionSummary.properties.stats.required, ['floor', 'volumeAllTime', 'supply', 'owners']);
    assert.deepEqual(CollectionDetail.properties.stats.required, [
      'floor',
      'volume',
      'sales',
      'supply',
      'owners',
      'listedCount',
    ]);
  });

  test('a chain that the settings add is not in the document', async () => {
    const { text } = await market.get('/v1/openapi.json');
    assert.doesNotMatch(text, /monad/i);
  });

  test('a request for an unknown path gets a 404 in the error envelope', async () => {
    for (const path of [
      '/v1/nothing',
      '/v1/collections/a/nothing',
      '/v1/tokens',
      '/v1/tokens/ethereum',
      '/v2',
      '/nothing',
    ]) {
      const response = await market.get(path);
      assert.equal(response.status, 404, path);
      assert.equal(response.body.error.code, 'not_found');
    }
  });
});
