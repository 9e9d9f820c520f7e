// Tests the reading of DAS: assets become token records with their owners. Fungible and burnt assets give no record. No fault leads to
// an incorrect record.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  parseDasTokens,
  readDasCollection,
  readDasTokenTraits,
  readDasTokens,
  walkDasCollection,
} from '../../../../src/sources/upstreams/das/assets.ts';
import { DESCRIPTION_MAX } from '../../../../src/intake/records/fields.ts';
import { UpstreamFailure } from '../../../../src/sources/upstreams/upstream-client.ts';
import { parseExactJson } from '../../../../src/sources/upstreams/exact-json.ts';
import {
  assertValidRecords,
  collectPages,
  createTestUpstream,
  underEveryFault,
} from '../../../support/replay/every-fault.ts';
import { startReplayServer } from '../../../support/replay/replay.ts';
import { assetOf, createDasStore, dasRoutes, readDasFixtures } from '../../../support/replay/das.ts';
import { addressOf, LANTERNS } from '../../../support/replay/magic-eden.ts';

const COLLECTION = addressOf('co', 1);
const WALLET = addressOf('wa', 1);

async function start(t: Parameters<typeof startReplayServer>[0], assets: Record<string, any>[] = []) {
  const store = createDasStore(assets);
  const replay = await startReplayServer(t, dasRoutes(store));
  return { store, replay, upstream: createTestUpstream(`${replay.url}/?api-key=secret`) };
}

/** Writes assets as JSON and parses them as the client parses a response. */
const received = (assets: unknown) => parseExactJson(Buffer.from(JSON.stringify(assets))) as unknown[];

test('the assets of a collection become token records, whatever their field `interface` says', async (t) => {
  const { group } = readDasFixtures();
  const { upstream, replay } = await start(t, group);
  const { records, rejected, end } = await collectPages(walkDasCollection(upstream, LANTERNS));
  assertValidRecords(records);
  assert.deepEqual(rejected, []);
  assert.deepEqual(end, { gap: null, pages: 1, rows: 8 });
  assert.deepEqual(
    records,
    group.map(({ id, content, ownership }) => ({
      kind: 'token',
      chain: 'solana',
      contractAddress: LANTERNS,
      mint: id,
      name: content.metadata.name,
      image: content.links.image,
      owner: ownership.owner,
    })),
  );
  assert.equal(group.filter(({ ownership }) => ownership.frozen && ownership.delegated).length, 3);
  assert.deepEqual(replay.requests, ['POST /?api-key=secret'], 'the key of the endpoint was not sent');
});

test('fungible assets of a wallet are left out because of their supply and decimals, whatever their field `interface` says', () => {
  const { wallet } = readDasFixtures();
  const { records, rejected, skipped } = parseDasTokens(received(wallet), null);
  assertValidRecords(records);
  // Two of the eight assets are non-fungible, not burnt, and in a collection.
  assert.deepEqual([rejected, records.length, skipped], [[], 2, 6]);
  assert.deepEqual(
    records.map(({ name }) => name),
    ['Lantern #105', 'Lantern #108'],
  );
  const disguised = wallet.map((asset) => ({ ...asset, interface: 'ProgrammableNFT' }));
  assert.deepEqual(parseDasTokens(received(disguised), null).records, records);
});

test('burnt tokens, divisible tokens and tokens whose supply is not one are left out', () => {
  const mint = (number: number) => addressOf('mt', number);
  const assets = [
    assetOf(mint(1), COLLECTION, { burnt: true }),
    assetOf(mint(2), COLLECTION, { token_info: { supply: 0, decimals: 0 } }),
    assetOf(mint(3), COLLECTION, { token_info: { supply: 18446744073709551615n.toString(), decimals: 0 } }),
    assetOf(mint(4), COLLECTION, { token_info: { supply: 1, decimals: 6 } }),
    assetOf(mint(5), COLLECTION, { token_info: null, compression: { compressed: true } }),
    assetOf(mint(6), COLLECTION, { token_info: undefined, interface: 'MplCoreAsset' }),
    assetOf(mint(7), COLLECTION, {
      grouping: [{ group_key: 'collection', group_value: COLLECTION, verified: false }],
    }),
    assetOf(mint(8), WALLET),
    assetOf('not-a-mint', COLLECTION),
    assetOf(mint(9), COLLECTION, { ownership: { owner: 'not-a-wallet', ownership_model: 'single' } }),
  ];
  const { records, rejected, skipped } = parseDasTokens(received(assets), COLLECTION);
  assert.deepEqual(
    records.map((record) => record['mint']),
    [mint(5), mint(6)],
  );
  assert.equal(skipped, 3);
  assert.deepEqual(rejected, [
    'supply: must be a number, not a string',
    'grouping: names another collection',
    'grouping: names another collection',
    'id: is not an asset of the family solana',
    'owner: is not an address of the family solana',
  ]);
});

test('an asset without an owner is a token whose owner is not known', () => {
  const owners = ['', null, undefined];
  const assets = owners.map((owner, index) =>
    assetOf(addressOf('mt', index), COLLECTION, { ownership: { owner, ownership_model: 'single' } }),
  );
  const { records, rejected } = parseDasTokens(received(assets), COLLECTION);
  assertValidRecords(records);
  assert.deepEqual(rejected, []);
  assert.deepEqual(
    records.map((record) => [record['mint'], 'owner' in record]),
    owners.map((_, index) => [addressOf('mt', index), false]),
  );
});

test('a supply that a double would round to 1 does not count as 1', () => {
  const text = JSON.stringify([assetOf(addressOf('mt', 1), COLLECTION)]).replace(
    '"supply":1',
    '"supply":1.0000000000000000001',
  );
  assert.deepEqual(parseDasTokens(parseExactJson(Buffer.from(text)) as unknown[], COLLECTION).records, []);
});

test('a large collection is read completely, page by page', async (t) => {
  const mints = Array.from({ length: 2_525 }, (_, index) => addressOf('mt', index));
  const { upstream, replay, store } = await start(
    t,
    mints.map((mint) => assetOf(mint, COLLECTION)),
  );
  const { records, end } = await collectPages(walkDasCollection(upstream, COLLECTION));
  assert.deepEqual(end, { gap: null, pages: 3, rows: 2_525 });
  assert.deepEqual(
    records.map((record) => record['mint']),
    mints,
  );
  assert.equal(replay.count(), 3);
  store.pageMax = 500;
  const inSmallPages = await collectPages(walkDasCollection(upstream, COLLECTION));
  assert.equal(inSmallPages.end?.rows, 2_525, 'the walk ended too early when the endpoint returned smaller pages');
});

test('a description that the database would reject counts as missing, and a description that is too long is cut', () => {
  const describe = (description: string) => {
    const content = { metadata: { name: 'One', description }, links: {} };
    return parseDasTokens(received([assetOf(addressOf('as', 1), COLLECTION, { content })]), COLLECTION).described;
  };
  for (const text of ['a\0b', 'a\ud800b'])
    assert.deepEqual(
      describe(text)?.map((one) => one.description),
      [null],
    );
  assert.equal(describe('x'.repeat(100_000))?.[0]?.description?.length, DESCRIPTION_MAX);
});

test('the record of a collection is read from the asset of the collection itself', async (t) => {
  const { upstream } = await start(t, [readDasFixtures().collection]);
  const { records } = await readDasCollection(upstream, LANTERNS);
  assert.deepEqual(records, [
    {
      kind: 'collection',
      chain: 'solana',
      contractAddress: LANTERNS,
      name: 'Paper Lanterns',
      image: 'https://pictures.example/lanterns.png',
      description: 'Lanterns of folded paper, and “quotes”.',
      royaltyBps: 420,
    },
  ]);
  assertValidRecords(records);
  await assert.rejects(readDasCollection(upstream, COLLECTION), (error) => {
    assert.ok(error instanceof UpstreamFailure);
    assert.equal(error.reason, 'rejected');
    assert.match(String(error.cause), /Asset Not Found/);
    return true;
  });
});

test('an error in a response with status 200 is a failure of the endpoint, unless the request itself was wrong', async (t) => {
  let error = { code: -32603, message: 'Internal error' };
  const answer = () => ({ jsonrpc: '2.0', id: 'mercat', error });
  const replay = await startReplayServer(t, [{ method: 'POST', path: /\//, origin: 'schema', answer }]);
  const failing = createTestUpstream(replay.url);
  for (let count = 0; count < 3; count += 1) {
    await assert.rejects(readDasTokenTraits(failing, COLLECTION), { reason: 'server-error' });
  }
  const { lastSuccessAt, lastFailure, failures, retries } = failing.status();
  assert.deepEqual([lastSuccessAt, lastFailure, failures, retries], [null, 'server-error', 3, 6]);
  error = { code: -32000, message: 'Asset Not Found' };
  const working = createTestUpstream(replay.url);
  for (let count = 0; count < 5; count += 1) {
    await assert.rejects(readDasTokenTraits(working, COLLECTION), { reason: 'rejected' });
  }
  assert.equal(working.status().failures, 0);
});

test('the token standard and the royalty of a collection are read from one of its tokens', async (t) => {
  const token = assetOf(addressOf('mt', 1), COLLECTION, {
    interface: 'ProgrammableNFT',
    royalty: { basis_points: 750 },
  });
  const { upstream, store } = await start(t, [token]);
  const read = () => readDasTokenTraits(upstream, COLLECTION);
  assert.deepEqual(await read(), { tokenStandard: 'ProgrammableNonFungible', royaltyBps: 750 });
  store.assets = [assetOf(addressOf('mt', 1), COLLECTION)];
  assert.deepEqual(await read(), { tokenStandard: null, royaltyBps: null });
  store.assets = [];
  assert.deepEqual(await read(), { tokenStandard: null, royaltyBps: null });
});

test('tokens are read by their mints, and a token that was not requested is rejected', async (t) => {
  const [one, two, three] = [1, 2, 3].map((number) => addressOf('mt', number));
  if (!one || !two || !three) return assert.fail();
  const { upstream, store } = await start(t, [assetOf(one, COLLECTION), assetOf(two, COLLECTION)]);
  const { records } = await readDasTokens(upstream, [one, three], { collection: COLLECTION });
  assert.deepEqual(
    records.map((record) => record['mint']),
    [one],
  );
  store.spoil = () => [assetOf(two, COLLECTION)];
  assert.deepEqual((await readDasTokens(upstream, [one], { collection: COLLECTION })).rejected, [
    'id: was not requested',
  ]);
  assert.deepEqual((await readDasTokens(upstream, [], { collection: COLLECTION })).records, []);
});

test('the walk ends when an endpoint repeats a page, sends a page that is too large, or sends no list', async (t) => {
  const assets = Array.from({ length: 3_000 }, (_, index) => assetOf(addressOf('mt', index), COLLECTION));
  const { upstream, store, replay } = await start(t, assets);
  let first: unknown;
  store.spoil = (result) => (first ??= result);
  const { end } = await collectPages(walkDasCollection(upstream, COLLECTION));
  assert.deepEqual(end, { gap: 'repeated page', pages: 2, rows: 1_000 });
  assert.equal(replay.count(), 2);
  store.spoil = (result) => ({ ...result, items: assets });
  assert.equal((await collectPages(walkDasCollection(upstream, COLLECTION))).failure, 'malformed');
  for (const list of [null, [], 'none', {}, { items: 7 }, { items: [1], limit: 'x' }]) {
    store.spoil = () => list;
    const { failure, records } = await collectPages(walkDasCollection(upstream, COLLECTION));
    assert.equal(failure, 'malformed', JSON.stringify(list));
    assert.deepEqual(records, []);
  }
});

test('no fault leads to an incorrect token, or to an incomplete walk that is reported as complete', async (t) => {
  const assets = Array.from({ length: 250 }, (_, index) => assetOf(addressOf('mt', index), COLLECTION));
  const { upstream, replay } = await start(t, assets);
  const run = () => collectPages(walkDasCollection(upstream, COLLECTION, { pageSize: 100 }));
  await underEveryFault(replay, run, { good: await run() });
});
