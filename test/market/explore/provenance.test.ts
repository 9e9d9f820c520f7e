// GET /explore/v1/collections/{id}/provenance.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { until } from '../../support/until.ts';
import type { TestCollection } from '../../support/service/market.ts';
import { HOUR_MS, MINUTE_MS, START, forOneMarket, newCollection } from '../../support/service/market.ts';

const NAMES = [
  'floor',
  'volume.allTime',
  'volume.thirtyDay',
  'volume.sevenDay',
  'volume.twentyFourHour',
  'volume.oneHour',
  'sales.allTime',
  'sales.thirtyDay',
  'sales.sevenDay',
  'sales.twentyFourHour',
  'sales.oneHour',
  'supply',
  'owners',
  'listedCount',
  'topBid',
  'rarity.rank',
];
const UNKNOWN = { kind: 'unknown', source: null, at: null, complete: false, reason: null, method: null };
const pathOf = (subject: TestCollection) => `/explore/v1/collections/${subject.slug}/provenance`;

forOneMarket('provenance', {}, (market) => {
  const figuresOf = async (subject: TestCollection): Promise<Record<string, object>> => {
    const { data } = await market.ok(pathOf(subject));
    assert.deepEqual(
      data.figures.map((one: any) => one.figure),
      NAMES,
    );
    return Object.fromEntries(data.figures.map(({ figure, ...provenance }: any) => [figure, provenance]));
  };

  test('every figure of a collection without any data is unknown', async () => {
    const subject = newCollection({ chain: 'solana' });
    await market.load([subject.collection()]);
    assert.deepEqual(await figuresOf(subject), Object.fromEntries(NAMES.map((name) => [name, UNKNOWN])));
  });

  test('a reported figure names the kind of record that reported it, and the time of the record', async () => {
    const subject = newCollection();
    const at = new Date(START - HOUR_MS).toISOString();
    await market.load([
      subject.collection(),
      subject.stats({ owners: 12, supply: 40, at }),
      subject.analytics({ volume: { allTime: 7, twentyFourHour: 1 }, at }),
    ]);
    const figures = await figuresOf(subject);
    const analytics = { kind: 'reported', source: 'analytics', at, complete: true, reason: null, method: null };
    assert.deepEqual(figures['owners'], {
      kind: 'reported',
      source: 'stats',
      at,
      complete: true,
      reason: null,
      method: null,
    });
    assert.deepEqual(figures['supply'], {
      kind: 'reported',
      source: 'stats',
      at,
      complete: true,
      reason: null,
      method: null,
    });
    assert.deepEqual(figures['volume.allTime'], analytics);
    assert.deepEqual(figures['volume.twentyFourHour'], analytics);
    assert.deepEqual(figures['volume.sevenDay'], UNKNOWN);
  });

  test('imported ranks have the kind `imported`, and are complete if each token has a rank', async () => {
    const subject = newCollection();
    await market.load([subject.collection(), subject.token('1', { rarityRank: 1 }), subject.token('2')]);
    const ranks = { kind: 'imported', source: 'import', at: null, reason: null, method: null };
    assert.deepEqual((await figuresOf(subject))['rarity.rank'], { ...ranks, complete: false });
    await market.load([subject.token('2', { rarityRank: 2 })]);
    market.advance(MINUTE_MS);
    assert.deepEqual((await figuresOf(subject))['rarity.rank'], { ...ranks, complete: true });
  });

  test('if the service computed the ranks from traits, the provenance of the ranks names the method of the computation', async () => {
    const subject = newCollection();
    await market.load([
      subject.collection({ tokensComplete: true }),
      subject.token('1', { traits: ['Hat: Cap'] }),
      subject.token('2', { traits: ['Hat: Crown', 'Eyes: Blue'] }),
    ]);
    await market.operate('sync.start', { name: 'rarity' });
    const computed = async () => ((await figuresOf(subject)) as any)['rarity.rank'].kind !== 'unknown';
    const soon = async () => {
      market.advance(MINUTE_MS);
      return computed();
    };
    await until(soon, 60_000, 'the tokens have no ranks');
    const { at, ...ranks } = (await figuresOf(subject))['rarity.rank'] as any;
    assert.deepEqual(ranks, {
      kind: 'imported',
      source: 'import',
      complete: true,
      reason: null,
      method: 'information-content',
    });
    assert.ok(Date.parse(at) <= market.now());
    const { data } = await market.ok(`/v1/tokens/ethereum/${subject.address}/2`);
    assert.deepEqual(data.rarity, { rank: 1 });
  });

  test('a figure that became too old is unknown', async () => {
    const subject = newCollection();
    const at = market.ago(2 * HOUR_MS - MINUTE_MS);
    await market.load([subject.collection(), subject.analytics({ volume: { twentyFourHour: 1 }, at })]);
    assert.equal(((await figuresOf(subject)) as any)['volume.twentyFourHour'].kind, 'reported');
    market.advance(2 * MINUTE_MS);
    assert.deepEqual((await figuresOf(subject))['volume.twentyFourHour'], UNKNOWN);
  });

  test('a figure is unknown exactly if the read of the collection has null for it', async () => {
    const subject = newCollection();
    await market.load([
      subject.collection({ tokensComplete: true }),
      subject.order('1', 5),
      subject.token('1', { owner: `0x${'1'.repeat(40)}` }),
      subject.sale('1', 9),
    ]);
    const { stats } = (await market.ok(`/explore/v1/collections/${subject.slug}`)).data;
    const figures: any = await figuresOf(subject);
    for (const name of NAMES.filter((one) => one !== 'rarity.rank')) {
      const value = name.split('.').reduce((part, key) => part[key], stats);
      assert.equal(figures[name].kind === 'unknown', value === null, name);
    }
    assert.equal(figures.floor.kind, 'scan');
    assert.equal(figures.supply.kind, 'imported');
  });

  test('a request for a collection that does not exist gets a 404', async () => {
    assert.equal((await market.get('/explore/v1/collections/nowhere/provenance')).status, 404);
  });
});
