// Tests how OpenSea's collections and statistics are converted to records, and which names OpenSea has for each chain.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  findOpenSeaContract,
  readOpenSeaCollection,
  readOpenSeaStats,
} from '../../../../src/sources/upstreams/opensea/collection.ts';
import { isOpenSeaChain, toOpenSeaChain } from '../../../../src/sources/upstreams/opensea/names.ts';
import { readFixture } from '../../../support/fixtures.ts';
import { APES, makeAddress } from '../../../support/replay/opensea.ts';
import { startReplayServer } from '../../../support/replay/replay.ts';
import { AT, chainOf, addressOf, apes, kites, start, connectTo, assertTaken, makeMarket } from './opensea-market.ts';

test('a chain has one name in requests to OpenSea, and each name that OpenSea uses in responses is recognised', () => {
  assert.equal(toOpenSeaChain(chainOf('apechain')), 'ape_chain');
  for (const id of ['ethereum', 'polygon', 'base', 'ink', 'abstract']) assert.equal(toOpenSeaChain(chainOf(id)), id);
  assert.equal(toOpenSeaChain(chainOf('solana')), null);
  assert.ok(isOpenSeaChain('matic', chainOf('polygon')));
  assert.ok(!isOpenSeaChain('apechain', chainOf('apechain')) && !isOpenSeaChain('ethereum', chainOf('base')));
});

test('statistics become records with an exact floor', async (t) => {
  const statistics = { path: /.*/, origin: 'schema', answer: () => readFixture('opensea/stats.json') } as const;
  const { url } = await startReplayServer(t, [statistics]);
  const { records, rejected } = await readOpenSeaStats(connectTo(url), apes, { at: AT });
  const fields = { chain: 'apechain', contractAddress: APES.contract, at: '2026-09-01T00:00:00.000Z' };
  assert.deepEqual(rejected, []);
  assert.deepEqual(records, [
    { kind: 'stats', ...fields, floorRaw: '1507500000000000000', owners: 2 },
    {
      kind: 'analytics',
      ...fields,
      floorRaw: '1507500000000000000',
      volume: { allTime: 52.41300000000001, twentyFourHour: 0.1458, sevenDay: 0.30000000000000004 },
      sales: { allTime: 3_140, twentyFourHour: 11, sevenDay: 23 },
    },
  ]);
  assertTaken(records);
});

test('the collection of a contract is found by the slug that OpenSea has for the contract', async (t) => {
  const market = makeMarket();
  const { upstream } = await start(t, [market]);
  assert.deepEqual(await findOpenSeaContract(upstream, apes), { slug: APES.slug, tokenStandard: 'ERC-721' });
  assert.equal(await findOpenSeaContract(upstream, kites), null, 'a contract that OpenSea does not have was found');
  assert.equal(await findOpenSeaContract(upstream, { ...apes, chain: chainOf('solana') }), null);
  const { records, rejected } = await readOpenSeaCollection(upstream, apes);
  assert.deepEqual(rejected, []);
  assert.deepEqual(records, [
    {
      kind: 'collection',
      chain: 'apechain',
      contractAddress: APES.contract,
      name: 'Ape Things',
      slug: APES.slug,
      image: 'https://pictures.example/things.png',
      banner: 'https://pictures.example/banner.png',
      description: 'Things of apes, and “quotes”.',
      createdAt: '2024-10-20T08:00:00.123456+00:00',
      royaltyBps: 475,
      snapshot: { supply: 450 },
    },
  ]);
  assertTaken(records);
  market.createdText = '2024-10-20';
  assert.equal((await readOpenSeaCollection(upstream, apes)).records[0]?.['createdAt'], '2024-10-20T00:00:00Z');
  const other = await readOpenSeaCollection(upstream, { ...apes, contractAddress: addressOf(makeAddress(9)) });
  assert.deepEqual(other.rejected, ['contracts: do not include the followed contract']);
});

test('a floor is unknown when it is zero, in another currency, or not a whole number of base units', async (t) => {
  const market = makeMarket();
  const { upstream } = await start(t, [market]);
  const floorOf = async (floorText: string, symbol = 'APE') => {
    Object.assign(market, { floorText, symbol });
    const { records } = await readOpenSeaStats(upstream, apes, { at: AT });
    return records.map((record) => record['floorRaw']);
  };
  assert.deepEqual(await floorOf('12345678901.234567890123456789'), Array(2).fill('12345678901234567890123456789'));
  assert.deepEqual(await floorOf('1.5e-05', 'WAPE'), Array(2).fill('15000000000000'));
  for (const [text, symbol] of [
    ['0', 'APE'],
    ['0.0000000000000000001', 'APE'],
    ['1.5', 'ETH'],
    ['1.5', 'USDC'],
  ] as const) {
    assert.deepEqual(await floorOf(text, symbol), [undefined, undefined], `${text} ${symbol}`);
  }
});
