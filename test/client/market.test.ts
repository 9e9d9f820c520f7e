// Tests the client with a service that has the sample marketplace. The suites in other files of this folder test the examples, the
// client in a browser, and the change stream.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { MercatError, createMarketClient, formatAmount } from '../../client/src/market.ts';
import { describeBrowser } from './browser.suite.ts';
import { describeExamples } from './examples.suite.ts';
import { describeStream } from './stream.suite.ts';
import { useSampleService } from '../support/service/sample-service.ts';

const service = useSampleService({ settings: { WEBHOOK_ALLOW_PRIVATE: 'true' } });
const open = () => createMarketClient({ baseUrl: `${service.url}/` });

const SLUG = 'harbour-lights';

test('an amount is the bigint of the decimal text that the service sends', async () => {
  const { data } = await open().listListings({ id: SLUG, limit: 1 }).page();
  const sent = await service.ok(`/v1/collections/${SLUG}/listings?limit=1`);
  assert.equal(typeof data[0]?.price.raw, 'bigint');
  assert.equal(String(data[0]?.price.raw), sent.data[0].price.raw);
});

test('a list yields the rows of all pages in their order', async () => {
  const expected = await service.walk(`/v1/collections/${SLUG}/listings?limit=100`);
  const ids: (string | null)[] = [];
  for await (const listing of open().listListings({ id: SLUG, limit: 100 })) ids.push(listing.orderId);
  assert.equal(ids.length > 100, true);
  assert.deepEqual(
    ids,
    expected.map((row) => row.orderId),
  );
});

test('a list requests only the pages whose rows are taken', async () => {
  let requests = 0;
  const counted = createMarketClient({
    baseUrl: service.url,
    fetch: (...request) => {
      requests += 1;
      return fetch(...request);
    },
  });
  const listings = counted.listListings({ id: SLUG, limit: 2 });
  assert.equal(requests, 0);
  assert.equal((await listings.take(3)).length, 3);
  assert.equal(requests, 2);
});

test('a batch of tokens is read with one request', async () => {
  const [listed] = await open().listTokens({ id: SLUG, listed: true }).take(1);
  const { chain, contractAddress, tokenId } = listed ?? assert.fail();
  const tokens = [{ chain, address: contractAddress ?? '', tokenId: tokenId ?? '' }];
  const { data } = await open().readTokens({ tokens });
  assert.deepEqual(data, [listed]);
});

test('the client returns the points of a history that the service sends, with floors as bigints', async () => {
  const { data } = await open().getHistory({ id: SLUG, interval: 'day' });
  const sent = await service.ok(`/explore/v1/collections/${SLUG}/history?interval=day`);
  assert.equal(typeof data.at(-1)?.floor.close?.raw, 'bigint');
  assert.deepEqual(asText(data), asText(sent.data));
});

test('with amounts as text, every row is what the service sends, and can be written as JSON', async () => {
  const market = createMarketClient({ baseUrl: service.url, amounts: 'text' });
  const sent = await service.ok(`/explore/v1/collections/${SLUG}/tokens?listed=true&limit=5`);
  const tokens = await market.listTokens({ id: SLUG, listed: true, limit: 5 }).take(5);
  const raw: string | undefined = tokens[0]?.listing?.price?.raw;
  assert.match(raw ?? '', /^\d+$/);
  assert.deepEqual(JSON.parse(JSON.stringify(tokens)), sent.data);
  assert.equal(formatAmount(raw ?? '', 18), formatAmount(BigInt(raw ?? ''), 18));
  const { snapshot, changes } = await market.snapshotThenFollow((reads) =>
    reads.getFloor({ id: SLUG }).then(async ({ data }) => {
      await reads.getHolders({ id: SLUG });
      return data;
    }),
  );
  await changes.return();
  assert.equal(typeof snapshot.askFloor?.raw, 'string');
  for await (const { price } of market.follow({ from: '0', kinds: ['list'] })) {
    const followed: string | undefined = price?.raw;
    assert.equal(typeof followed, 'string');
    break;
  }
});

test('the client returns the market collections that the service sends, from a list of several pages and by id', async () => {
  const listed = await open().listMarketCollections({ sort: 'volume', limit: 2 }).take(3);
  const sent = await service.walk('/explore/v1/collections?sort=volume&limit=2');
  assert.equal(listed.length, 3);
  assert.deepEqual(asText(listed), asText(sent.slice(0, 3)));
  const [first = assert.fail()] = listed;
  const { data } = await open().getMarketCollection({ id: first.id });
  assert.equal(typeof data.stats.floor?.raw, 'bigint');
  assert.deepEqual(data, first);
});

test('tokens are filtered by several values of a trait', async () => {
  const id = SLUG;
  const [trait = assert.fail()] = await open().listTraits({ id }).take(1);
  const wanted = trait.values.slice(0, 2).map(({ value }) => value);
  const tokens = await open()
    .listTokens({ id, limit: 100, traits: { [trait.name]: wanted } })
    .take(1_000);
  const valuesOf = (traits: (typeof tokens)[number]['traits']) =>
    traits.filter(({ name }) => name === trait.name).map(({ value }) => value);
  assert.deepEqual(new Set(tokens.flatMap(({ traits }) => valuesOf(traits))), new Set(wanted));
});

test('an error of the service has its code, status and request id', async () => {
  await assert.rejects(open().getCollection({ id: 'no such/collection' }), (error) => {
    assert.ok(error instanceof MercatError);
    assert.deepEqual([error.code, error.status], ['not_found', 404]);
    assert.match(error.requestId ?? '', /\w/);
    return true;
  });
});

test('a repeated read of unchanged data gets a 304 without a body, and returns the same result', async () => {
  const statuses: number[] = [];
  const market = createMarketClient({
    baseUrl: service.url,
    fetch: async (...request) => {
      const response = await fetch(...request);
      statuses.push(response.status);
      return response;
    },
  });
  const read = () => market.listSales({ id: SLUG, limit: 5 }).page();
  assert.deepEqual(await read(), await read());
  assert.deepEqual(statuses, [200, 304]);
});

describe('the examples', () => describeExamples(service));
describe('the client in a browser', () => describeBrowser(service));
describe('the change stream', () => describeStream(service));

/** Returns the value with each bigint replaced by the text that the service sends. */
const asText = (value: unknown): unknown =>
  JSON.parse(JSON.stringify(value, (_, part: unknown) => (typeof part === 'bigint' ? part.toString() : part)));
