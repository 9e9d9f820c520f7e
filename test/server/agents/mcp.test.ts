// Calls the tools of the MCP server at /mcp with a client of the official SDK. The service has the sample marketplace.

import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { Ajv2020 } from 'ajv/dist/2020.js';
import type { McpClient } from '../../support/service/mcp-client.ts';
import { connectMcp } from '../../support/service/mcp-client.ts';
import { useSampleService } from '../../support/service/sample-service.ts';
import { startTestService } from '../../support/service/service.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

const TOKENS_MAX = 3_300;
/** A low estimate: with the tokenizers o200k and cl100k, a token of the definitions has more than 4 characters on average. */
const CHARACTERS_A_TOKEN = 3.5;
const COLLECTION = 'harbour-lights';
const CONTRACT = '0x3dd4e9f052dbe1a6e836dc9b9787879836f2c5dd';

describe('the MCP server', () => {
  const service = useSampleService({ settings: { BASE_URL: 'https://market.example/mercat' } });
  let client: McpClient;
  let seller: string;
  let orderId: string;
  /** A trait of a listed token. */
  let trait: { name: string; value: string };
  before(async () => {
    client = await connectMcp(service.url);
    const { data } = await service.ok(`/v1/collections/${COLLECTION}/listings?limit=1`);
    ({ seller, orderId } = data[0]);
    const traits = (await service.ok(`/explore/v1/collections/${COLLECTION}/traits`)).data;
    const ofListed = traits[0].values.find(({ floor }: any) => floor);
    trait = { name: traits[0].name, value: ofListed.value };
  });

  /** A call of each tool, and the path that serves the same data. The path is null if the tool combines several paths. */
  const callsOf = (): Record<string, [given: Record<string, unknown>, path: string | null]> => ({
    search: [
      { q: 'harbour lihgts', chain: 'ethereum', limit: 2 },
      '/explore/v1/search?q=harbour+lihgts&chain=ethereum&limit=2',
    ],
    list_collections: [{ chain: 'ethereum', sort: 'floor', limit: 3 }, null],
    get_collection: [{ collection: COLLECTION }, null],
    get_history: [{ collection: COLLECTION }, null],
    list_listings: [{ collection: CONTRACT, limit: 2 }, `/v1/collections/${CONTRACT}/listings?limit=2`],
    list_sales: [{ collection: COLLECTION, limit: 2 }, `/v1/collections/${COLLECTION}/sales?limit=2`],
    list_tokens: [
      { collection: COLLECTION, sort: 'rank', listed: true, traits: { [trait.name]: trait.value }, limit: 2 },
      `/explore/v1/collections/${COLLECTION}/tokens?sort=rank&listed=true&traits[${trait.name}]=${encodeURIComponent(trait.value)}&limit=2`,
    ],
    list_traits: [{ collection: COLLECTION, limit: 2 }, `/explore/v1/collections/${COLLECTION}/traits?limit=2`],
    get_token: [
      { chain: 'ethereum', address: CONTRACT, tokenId: '249' },
      `/explore/v1/tokens/ethereum/${CONTRACT}/249`,
    ],
    list_wallet: [
      { address: seller, chain: 'ethereum' },
      `/explore/v1/wallets/${seller}/tokens?chain=ethereum&limit=6`,
    ],
    list_activity: [
      { collection: COLLECTION, kinds: 'list,sale', limit: 3 },
      `/explore/v1/activity?collection=${COLLECTION}&kinds=list,sale&limit=3`,
    ],
    list_orders: [
      { collection: COLLECTION, maker: seller, sort: 'expires', limit: 2 },
      `/explore/v1/orders?collection=${COLLECTION}&maker=${seller}&sort=expires&limit=2`,
    ],
    get_order: [{ orderId }, `/explore/v1/orders/${orderId}`],
    get_holders: [{ collection: COLLECTION }, `/explore/v1/collections/${COLLECTION}/holders`],
  });

  test('the definitions of all tools together have fewer than 3,300 tokens of a language model, and each tool has a title and is read-only', () => {
    // Clients show titles to people, and not to the model.
    const forModels = client.tools.map(({ title: _title, ...tool }) => tool);
    assert.ok(JSON.stringify(forModels).length / CHARACTERS_A_TOKEN < TOKENS_MAX);
    for (const { name, title, description = '', outputSchema, annotations } of client.tools) {
      assert.match(title ?? '', /^[A-Z][a-z]+( [a-z]+)*$/, name);
      assert.ok(description.length > 20 && outputSchema, name);
      assert.deepEqual(annotations, { readOnlyHint: true }, name);
    }
  });

  test('each tool has the data of its path, with units added and inline images left out', async () => {
    const calls = callsOf();
    assert.deepEqual(
      client.tools.map(({ name }) => name),
      Object.keys(calls),
    );
    const ajv = new Ajv2020({ strict: false });
    for (const { name, outputSchema } of client.tools) {
      const [given, path] = calls[name] ?? assert.fail();
      const { nextCursor, degraded, readAt, data } = await client.ok(name, given);
      assert.ok(ajv.validate(outputSchema as object, { nextCursor: nextCursor ?? null, degraded, readAt, data }), name);
      assert.equal(degraded, false, name);
      assert.ok(Math.abs(Date.parse(readAt) - Date.now()) < 60_000, name);
      if (path === null) continue;
      const served = await service.ok(path);
      assert.deepEqual(withoutUnits(data), withoutImages(served.data), name);
      assert.equal(nextCursor, served.pagination?.nextCursor, name);
      assert.ok(!Array.isArray(data) || data.length > 0, name);
    }
  });

  test('a result has at most 12,000 characters unless the call asks for more rows', async () => {
    for (const [name, [given]] of Object.entries(callsOf())) {
      const usual = Object.fromEntries(Object.entries(given).filter(([argument]) => argument !== 'limit'));
      const text = JSON.stringify(await client.ok(name, usual));
      assert.ok(text.length <= 12_000, `${name}: ${text.length}`);
    }
  });

  test('each amount has its unit', async () => {
    for (const [name, [given]] of Object.entries(callsOf())) {
      const { data } = await client.ok(name, given);
      const prices = membersOf(data, 'raw');
      for (const { rawUnit, currency } of prices) assert.match(rawUnit, new RegExp(`^10\\^-(18|9) ${currency}$`), name);
      for (const { volumeCurrency } of membersOf(data, 'volumeAllTime')) assert.equal(volumeCurrency, 'ETH');
      if (name !== 'get_holders' && name !== 'get_history') assert.ok(prices.length > 0, name);
    }
  });

  test('get_history has the points of the history in the native currency, and list_collections the figures of its window', async () => {
    const from = new Date(Date.now() - 200 * 86_400_000).toISOString();
    const { data: all } = await service.ok(`/explore/v1/collections/${COLLECTION}/history?interval=day&from=${from}`);
    const toPoint = ({ from: at, floor, volume, sales, listed }: any) => ({
      from: at.slice(0, 10),
      open: floor.open?.decimal ?? null,
      high: floor.high?.decimal ?? null,
      low: floor.low?.decimal ?? null,
      close: floor.close?.decimal ?? null,
      volume,
      sales,
      listed,
    });
    const given = await client.ok('get_history', { collection: COLLECTION, interval: 'day', from });
    assert.deepEqual(given.data, { currency: 'ETH', points: all.map(toPoint) });
    assert.ok(given.data.points.some(({ close }: any) => close !== null));
    const usual = await client.ok('get_history', { collection: COLLECTION, interval: 'hour' });
    assert.equal(usual.data.points.length, 90);
    const rows = (await service.ok('/explore/v1/collections?chain=ethereum&sort=volume&window=7d&limit=3')).data;
    const changes = await client.ok('list_collections', { chain: 'ethereum', window: '7d', limit: 3 });
    assert.deepEqual(
      changes.data.map(({ id, floor, floorChange, volume, volumeChange, sales, listed }: any) => [
        [id, floor.raw, floorChange],
        [volume, volumeChange, sales, listed],
      ]),
      rows.map(({ id, stats }: any) => [
        [id, stats.floor.raw, stats.floorChange.sevenDay],
        [stats.volume.sevenDay, stats.volumeChange.sevenDay, stats.sales.sevenDay, stats.listedCount],
      ]),
    );
  });

  test('the chains are an enum in the schema of each tool that takes one', () => {
    const withChain = client.tools.flatMap(({ name, inputSchema }) => {
      const { chain } = (inputSchema.properties ?? {}) as Record<string, { enum?: string[] }>;
      return chain ? [[name, chain.enum?.includes('ethereum'), chain.enum?.length]] : [];
    });
    assert.ok(withChain.length >= 4);
    for (const one of withChain) assert.deepEqual(one.slice(1), [true, 7], String(one[0]));
  });

  test('get_collection returns each figure with its unit and provenance, the ask floor and the buyer floor', async () => {
    const { data } = await client.ok('get_collection', { collection: COLLECTION });
    const { stats } = (await service.ok(`/explore/v1/collections/${COLLECTION}`)).data;
    const floors = (await service.ok(`/v1/collections/${COLLECTION}/floor`)).data;
    const provenance = (await service.ok(`/explore/v1/collections/${COLLECTION}/provenance`)).data;
    const figures = provenance.figures.filter(({ figure }: any) => figure !== 'rarity.rank');
    assert.deepEqual(
      data.figures.map(({ figure, value, unit }: any) => [figure, value, unit]),
      [
        ['floor', stats.floor.decimal, 'ETH'],
        ['volume.allTime', stats.volume.allTime, 'ETH'],
        ['volume.thirtyDay', stats.volume.thirtyDay, 'ETH'],
        ['volume.sevenDay', stats.volume.sevenDay, 'ETH'],
        ['volume.twentyFourHour', stats.volume.twentyFourHour, 'ETH'],
        ['volume.oneHour', stats.volume.oneHour, 'ETH'],
        ['sales.allTime', stats.sales.allTime, 'sales'],
        ['sales.thirtyDay', stats.sales.thirtyDay, 'sales'],
        ['sales.sevenDay', stats.sales.sevenDay, 'sales'],
        ['sales.twentyFourHour', stats.sales.twentyFourHour, 'sales'],
        ['sales.oneHour', stats.sales.oneHour, 'sales'],
        ['supply', stats.supply, 'tokens'],
        ['owners', stats.owners, 'owners'],
        ['listedCount', stats.listedCount, 'listings'],
        ['topBid', stats.topBid.proceeds.decimal, 'ETH'],
      ],
    );
    assert.deepEqual(
      data.figures.map(({ kind, source, complete }: any) => ({ kind, source, complete })),
      figures.map(({ kind, source, complete }: any) => ({ kind, source, complete })),
    );
    const withoutTime = new Set(['unknown', 'snapshot', 'imported']);
    // When a marketplace last reported its bid is not stored.
    const timed = data.figures.filter(({ figure }: any) => figure !== 'topBid');
    assert.ok(timed.every(({ kind, at }: any) => withoutTime.has(kind) || at !== null));
    assert.deepEqual([data.buyerFloor.raw, data.askFloor.raw], [floors.buyerFloor.raw, floors.askFloor.raw]);
    assert.ok(BigInt(data.buyerFloor.raw) > BigInt(data.askFloor.raw));
  });

  test('a cursor leads to the next page', async () => {
    const first = await client.ok('list_sales', { collection: COLLECTION, limit: 2 });
    const second = await client.ok('list_sales', { collection: COLLECTION, limit: 2, cursor: first.nextCursor });
    const all = await client.ok('list_sales', { collection: COLLECTION, limit: 4 });
    assert.deepEqual([...first.data, ...second.data], all.data);
  });

  test('a wrong argument is a tool error that says how to correct the call', async () => {
    const wrong: [string, Record<string, unknown>, RegExp][] = [
      ['list_listings', {}, /collection is required$/],
      ['list_listings', { collection: COLLECTION, limit: 0 }, /limit must be an integer from 1 to 100$/],
      ['list_listings', { collection: COLLECTION, limit: '5' }, /limit must be an integer from 1 to 100$/],
      ['list_collections', { sort: 'x' }, /sort must be one of volume, sales, floor, change, listed, recent$/],
      ['list_tokens', { collection: COLLECTION, listed: 'yes' }, /listed must be true or false$/],
      ['list_tokens', { collection: COLLECTION, traits: 'Fog' }, /traits must be an object whose values are texts$/],
      ['list_tokens', { collection: COLLECTION, traits: { Weather: ['Fog'] } }, /traits must be an object whose/],
      [
        'list_activity',
        { token: '1' },
        /^Argument token must be chain\/address\/tokenId, or with collection the token id/,
      ],
      ['list_activity', { kinds: 'lists' }, /^Argument kinds must be kinds of activity, separated by commas: mint, /],
      ['search', {}, /q is required$/],
      ['get_collection', { collection: 5 }, /collection must be text$/],
      ['list_sales', { id: COLLECTION }, /id is not an argument. The arguments are collection, limit, cursor$/],
      ['get_order', { orderId, constructor: 1 }, /constructor is not an argument. The arguments are orderId, token$/],
      ['list_collections', { chain: 'Ethereum' }, /chain must be one of solana, ethereum, [a-z, ]+$/],
      ['list_collections', { cursor: 'abc' }, /^Argument cursor is not a cursor of this list$/],
      ['list_wallet', { address: 'me' }, /^Argument address is not an EVM or Solana address$/],
      ['get_collection', { collection: 'nobody' }, /^Collection not found. Give an id, slug or address: search finds /],
      ['get_order', { orderId: 'nothing' }, /^Order not found. The rows of list_orders, /],
      ['get_token', { chain: 'ethereum', address: CONTRACT, tokenId: '99999' }, /^Token not found. list_tokens has /],
      ['get_collection', { collection: '..' }, /^Argument collection is empty or consists of dots$/],
      ['get_collection', { collection: '\u{d800}' }, /collection must not contain half of a surrogate pair$/],
      ['get_order', { orderId: 'a\u{dc00}' }, /orderId must not contain half of a surrogate pair$/],
      ['search', { q: '\u{d800}' }, /q must not contain half of a surrogate pair$/],
      ['list_tokens', { collection: COLLECTION, traits: { '\u{d800}': 'Fog' } }, /traits must not contain half of/],
      ['list_tokens', { collection: COLLECTION, traits: { Weather: '\u{d800}' } }, /traits must not contain half of/],
    ];
    for (const [name, given, message] of wrong) assert.match(await client.error(name, given), message);
  });

  test('an argument with characters that have a meaning in URLs, such as / and ?, cannot make a tool read another path', async () => {
    for (const collection of ['../../status', `${COLLECTION}/floor`, `${COLLECTION}?limit=1`, '%2e%2e', '#']) {
      assert.match(await client.error('list_listings', { collection }), /^Collection not found/, collection);
    }
  });

  test('get_order passes the token for which a seller wants the proof of a bid', async () => {
    assert.match(
      await client.error('get_order', { orderId, token: '249' }),
      /token is only for a bid that several tokens meet/,
    );
    const { data } = await service.ok(`/explore/v1/orders?side=bid&kind=trait&collection=${COLLECTION}&limit=1`);
    const bid = { orderId: data[0].orderId, token: '249' };
    assert.match(await client.error('get_order', bid), /token is only for a bid of this service/);
  });

  test('a tool that does not exist is an error of the protocol', async () => {
    await assert.rejects(client.error('buy_token', {}), /buy_token not found/);
  });

  test('clients of the newest protocol version get the same tools and results', async () => {
    const newest = await connectMcp(service.url, { isNewest: true });
    try {
      assert.deepEqual([client.protocolVersion, newest.protocolVersion], ['2025-11-25', '2026-07-28']);
      assert.deepEqual(newest.tools, client.tools);
      const { data } = await newest.ok('list_listings', { collection: COLLECTION, limit: 1 });
      assert.equal(data[0].orderId, orderId);
      assert.match(newest.instructions, /Null means unknown, never zero/);
    } finally {
      await newest.close();
    }
  });

  test('a web page of another origin gets a 403; a program, a page of the service and a local page do not', async () => {
    for (const origin of ['https://evil.example', 'http://market.example', 'null', 'https://localhost.evil.example']) {
      const response = await post(service.url, LIST, { origin });
      assert.equal(response.status, 403, origin);
      assert.match(await response.text(), /"code":"forbidden"/);
    }
    for (const origin of ['https://market.example', 'http://localhost:6274', 'http://127.0.0.1', 'http://[::1]:80']) {
      assert.equal((await post(service.url, LIST, { origin })).status, 200, origin);
    }
    const response = await post(service.url, LIST);
    assert.equal(response.status, 200);
    assert.equal(response.headers.get('access-control-allow-origin'), null);
    assert.equal(response.headers.get('cache-control'), 'no-store');
  });

  test('a body that is not one small JSON-RPC message is rejected', async () => {
    const rejected: [string, number, RegExp][] = [
      ['{', 400, /Parse error/],
      [JSON.stringify([LIST, LIST]), 400, /Batches are not supported/],
      [`\u{feff}${JSON.stringify([LIST, LIST])}`, 400, /Batches are not supported/],
      [JSON.stringify({ ...LIST, params: { x: 'y'.repeat(65_536) } }), 400, /at most 64 KiB/],
      ['', 400, /Parse error/],
    ];
    for (const [body, status, message] of rejected) {
      const response = await post(service.url, body);
      assert.equal(response.status, status, body.slice(0, 99));
      assert.match(await response.text(), message);
    }
    assert.equal((await post(service.url, LIST, { 'content-type': 'text/plain' })).status, 415);
  });

  test('server.json describes the server in the form of the registry of MCP servers', async () => {
    const response = await fetch(`${service.url}/mcp/server.json`);
    const { $schema, version, description, ...described } = (await response.json()) as any;
    assert.match($schema, /^https:\/\/static\.modelcontextprotocol\.io\/schemas\/[\d-]+\/server\.schema\.json$/);
    assert.match(version, /^\d+\.\d+\.\d+/);
    assert.ok(description.length <= 100);
    assert.deepEqual(described, {
      name: 'example.market/mercat',
      title: 'Mercat',
      websiteUrl: 'https://market.example/mercat/docs/agents.md',
      remotes: [{ type: 'streamable-http', url: 'https://market.example/mercat/mcp' }],
    });
  });

  test('at an address without a domain there is no server.json, because a registry names a server by its domain', async (t) => {
    for (const host of ['', 'http://192.0.2.7:8080', 'http://[2001:db8::1]', 'http://localhost:8080']) {
      const local = await startTestService({ settings: { BASE_URL: host, DATA_DIR: temporaryDirectory() } });
      t.after(() => local.close());
      const response = await fetch(`${local.url}/mcp/server.json`);
      const { error } = (await response.json()) as any;
      assert.deepEqual([response.status, error.code], [404, 'not_found'], host);
      assert.match(error.message, /Set BASE_URL to the public address of the service, with a domain/);
    }
  });

  test('only POST is allowed, and nothing can be subscribed to', async () => {
    for (const method of ['GET', 'HEAD', 'PUT', 'DELETE']) {
      const response = await fetch(`${service.url}/mcp`, { method });
      assert.deepEqual([response.status, response.headers.get('allow')], [405, 'POST, OPTIONS'], method);
    }
    assert.equal((await fetch(`${service.url}/mcp`, { method: 'OPTIONS' })).status, 204);
    const version = '2026-07-28';
    const _meta = {
      'io.modelcontextprotocol/protocolVersion': version,
      'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1.0.0' },
      'io.modelcontextprotocol/clientCapabilities': {},
    };
    const headers = { 'mcp-protocol-version': version, 'mcp-method': 'subscriptions/listen' };
    const listen = { ...LIST, method: 'subscriptions/listen', params: { _meta, filter: {} } };
    assert.match(await (await post(service.url, listen, headers)).text(), /Subscription limit reached/);
  });
});

const LIST = { jsonrpc: '2.0', id: 1, method: 'tools/list' };

function post(url: string, message: object | string, headers: Record<string, string> = {}): Promise<Response> {
  return fetch(`${url}/mcp`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream', ...headers },
    body: typeof message === 'string' ? message : JSON.stringify(message),
  });
}

/** All objects in `value` that have the member `name`. */
function membersOf(value: any, name: string): any[] {
  if (typeof value !== 'object' || value === null) return [];
  const below = Object.values(value).flatMap((one) => membersOf(one, name));
  return name in value ? [value, ...below] : below;
}

const IMAGES = new Set(['image', 'banner']);
const UNITS = new Set(['rawUnit', 'volumeCurrency']);

function withoutUnits(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value), (name, one) => (UNITS.has(name) ? undefined : one));
}

function withoutImages(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value), (name, one) =>
    IMAGES.has(name) && String(one).startsWith('data:') ? 'inline image, left out' : one,
  );
}
