// The assets in recorded responses of the DAS interface become records of tokens and of their collections.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseDasTokens, readDasCollection, walkDasCollection } from '../../src/sources/upstreams/das/assets.ts';
import { parseExactJson } from '../../src/sources/upstreams/exact-json.ts';
import { needsPayloads, readPayload } from '../support/recordings/payloads.ts';
import { needsRecordings, readRecording } from '../support/recordings/recordings.ts';
import { FAMOUS_FOX } from '../support/recordings/subjects.ts';
import { assetOf, createDasStore, dasRoutes } from '../support/replay/das.ts';
import { assertValidRecords, collectPages, createTestUpstream } from '../support/replay/every-fault.ts';
import { addressOf } from '../support/replay/magic-eden.ts';
import { startReplayServer } from '../support/replay/replay.ts';

const COLLECTION = addressOf('co', 1);
const FOXES = 'helius/getAssetsByCreator.famous-fox.50.json';
const WALLET = 'helius/getAssetsByOwner.50.json';
const MINTS = 'solana/frantic-bullyz-mints.json';

const parseItems = (name: string): Record<string, any>[] => JSON.parse(readPayload(name)).result.items;

async function start(t: Parameters<typeof startReplayServer>[0], assets: Record<string, any>[]) {
  const store = createDasStore(assets);
  const replay = await startReplayServer(t, dasRoutes(store));
  return { store, replay, upstream: createTestUpstream(replay.url) };
}

const received = (assets: unknown) => parseExactJson(Buffer.from(JSON.stringify(assets))) as unknown[];

test(
  'each of 50 recorded assets becomes a token, whatever its field `interface` says',
  needsPayloads(FOXES),
  async (t) => {
    const foxes = parseItems(FOXES);
    const { upstream } = await start(t, foxes);
    const { records, rejected, end } = await collectPages(walkDasCollection(upstream, FAMOUS_FOX));
    assertValidRecords(records);
    assert.deepEqual(rejected, []);
    assert.deepEqual(end, { gap: null, pages: 1, rows: 50 });
    assert.deepEqual(
      records,
      foxes.map(({ id, content, ownership }: any) => ({
        kind: 'token',
        chain: 'solana',
        contractAddress: FAMOUS_FOX,
        mint: id,
        name: content.metadata.name,
        image: content.links.image,
        owner: ownership.owner,
      })),
    );
    assert.equal(foxes.filter(({ ownership }: any) => ownership.frozen).length, 38);
  },
);

test(
  'the 33 fungible assets of a recorded wallet are left out because of their supply and decimals',
  needsPayloads(WALLET),
  () => {
    const wallet = parseItems(WALLET);
    const { records, rejected, skipped } = parseDasTokens(received(wallet), null);
    assertValidRecords(records);
    assert.deepEqual(rejected, []);
    // 17 assets are non-fungible. 11 of these name their collection.
    const single = wallet.filter(({ token_info }: any) => token_info.supply === 1 && token_info.decimals === 0);
    assert.equal(single.length, 17);
    const grouped = single.filter(({ grouping }: any) => grouping.length > 0);
    assert.deepEqual([records.length, skipped], [grouped.length, 50 - grouped.length]);
    const disguised = wallet.map((asset) => ({ ...asset, interface: 'ProgrammableNFT' }));
    assert.deepEqual(parseDasTokens(received(disguised), null).records, records);
  },
);

test(
  'a collection has the name, description, picture and royalty of its recorded asset',
  needsPayloads(FOXES),
  async (t) => {
    const [fox = assert.fail()] = parseItems(FOXES);
    const { group_value: id, collection_metadata: metadata } = fox['grouping'][0];
    const { name, description, image } = metadata;
    const asset = { ...fox, id, grouping: [], content: { metadata: { name, description }, links: { image } } };
    const { upstream } = await start(t, [asset]);
    const { records } = await readDasCollection(upstream, FAMOUS_FOX);
    assert.deepEqual(records, [
      {
        kind: 'collection',
        chain: 'solana',
        contractAddress: FAMOUS_FOX,
        name: 'Famous Fox Federation',
        image: 'https://arweave.net/mgvMZbiis8AE_Kkj1Om5clxpseOiZB-2Q4QFUVavD10',
        description:
          'The Famous Fox Federation, an independent organization of the most fabulously famous foxes on the Blockchain.',
        royaltyBps: 420,
      },
    ]);
    assertValidRecords(records);
  },
);

test('a collection of 2,525 recorded mints is read completely', needsRecordings(MINTS), async (t) => {
  const mints = JSON.parse(readRecording(MINTS)) as string[];
  const { upstream } = await start(
    t,
    mints.map((mint) => assetOf(mint, COLLECTION)),
  );
  const { records, end } = await collectPages(walkDasCollection(upstream, COLLECTION));
  assert.deepEqual(end, { gap: null, pages: 3, rows: 2_525 });
  assert.deepEqual(
    records.map((record) => record['mint']),
    mints,
  );
});
