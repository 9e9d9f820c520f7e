// Tests of the sample marketplace. The intake accepts all records of the sample, and the records do not contradict each other. A recorded hash shows
// every change to the bytes of the sample.

import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import { base58 } from '@scure/base';

import { parseAddress, parseAssetId } from '../../src/platform/core/address.ts';
import { parseAmount, toNativeNumber } from '../../src/platform/core/amount.ts';
import { createChains, PUBLISHED_CHAIN_IDS } from '../../src/platform/core/chains.ts';
import { RarityRanking } from '../../src/market/index/rarity.ts';
import { mergeListings } from '../../src/market/reads/listing-window.ts';
import { WINDOW_SIZE_MAX } from '../../src/market/reads/sorted-rows.ts';
import { parseRecordLine } from '../../src/intake/records/parse.ts';
import type { PastListing } from '../../src/market/index/floor-history.ts';
import { toPastHours } from '../../src/market/index/floor-history.ts';
import { generateSampleMarket, SAMPLE_CUSTODY_WALLET } from '../../sample/market.ts';

type SampleRecord = Record<string, unknown>;

const SERVICE = 'mercat';
const ANCHOR = Date.UTC(2026, 5, 1);
const DAY_MS = 86_400_000;
/** The floors are checked at these times: at the anchor, which no record is newer than, and about ten years later. */
const READ_AT = [ANCHOR, Date.UTC(2035, 11, 31)];

const chains = createChains();
const records = [...generateSampleMarket({ serviceName: SERVICE })];
const collections = ofKind('collection');

test('The sample has the same bytes in every load', () => {
  const digest = (all: Iterable<SampleRecord>) =>
    createHash('sha256')
      .update([...all].map((record) => `${JSON.stringify(record)}\n`).join(''))
      .digest('hex');
  assert.equal(digest(generateSampleMarket({ serviceName: SERVICE })), digest(records));
  // The hash covers all bytes of the sample. Every new user sees the sample: check the pictures and the market before changing the
  // hash.
  assert.equal(digest(records), '7a9133aad019036166179f66d5548bbeee2af32057259137a57209adc1811ade');
});

test('The intake accepts every record, even if the service has the name of a marketplace in the sample', () => {
  for (const serviceName of [SERVICE, 'opensea', 'blur', 'tensor']) {
    const context = { chains, serviceName, seaport: new Map(), now: () => ANCHOR };
    for (const record of generateSampleMarket({ serviceName })) {
      const line = JSON.stringify(record);
      const parsed = parseRecordLine(context, line);
      assert.ok(
        parsed.record,
        `a record was rejected: ${'reason' in parsed ? parsed.reason : ''} in ${line.slice(0, 300)}`,
      );
    }
  }
});

test('Every address, token, amount and time is in canonical form', () => {
  for (const record of records) {
    const { family } = chainOf(record);
    for (const field of ['contractAddress', 'seller', 'buyer', 'owner']) {
      if (record[field] === undefined) continue;
      const address = text(record, field);
      assert.equal(parseAddress(family, address), address, `${field} of ${JSON.stringify(record)}`);
      if (family === 'solana') assert.equal(base58.decode(address).length, 32);
    }
    if (['order', 'listing', 'sale', 'token'].includes(text(record, 'kind'))) {
      assert.equal(parseAssetId(family, assetOf(record)), assetOf(record));
      if (family === 'solana') assert.equal(base58.decode(assetOf(record)).length, 32);
    }
    for (const field of ['priceRaw', 'buyerTotalRaw', 'floorRaw']) {
      if (record[field] !== undefined) assert.equal(parseAmount(text(record, field))?.toString(), record[field]);
    }
    for (const field of ['createdAt', 'timestamp', 'expiresAt', 'at']) {
      if (record[field] !== undefined) assert.equal(new Date(text(record, field)).toISOString(), record[field]);
    }
    for (const field of ['createdAt', 'timestamp', 'at']) {
      if (record[field] !== undefined) assert.ok(time(record, field) <= ANCHOR, `${field} is after the anchor`);
    }
    if (family === 'solana' && record['tx'] !== undefined) assert.equal(base58.decode(text(record, 'tx')).length, 64);
    if (family === 'evm' && record['tx'] !== undefined) assert.match(text(record, 'tx'), /^0x[0-9a-f]{64}$/);
  }
});

test('Each of the seven chains has two or three collections', () => {
  for (const chain of PUBLISHED_CHAIN_IDS) {
    const count = collections.filter((record) => record['chain'] === chain).length;
    assert.ok(count >= 2 && count <= 3, `${chain} has ${count} collections`);
  }
  assert.equal(collections.filter((record) => record['launched'] === true).length, 3);
  assert.ok(records.length >= 2_500 && records.length <= 4_500, `${records.length} records`);
  for (const field of ['slug', 'name', 'contractAddress', 'image', 'banner', 'createdAt']) {
    assert.equal(new Set(collections.map((record) => record[field])).size, collections.length, field);
  }
  const standards = new Set(collections.map((record) => record['tokenStandard']));
  assert.deepEqual(standards, new Set(['Core', 'ERC-1155', 'ERC-721', 'ProgrammableNonFungible']));
  assert.equal(ofKind('rate').length, 0);
});

test('No order, listing, bid, sale or token appears twice', () => {
  const keys = records.map((record) => {
    if (record['kind'] === 'bid')
      return `bid ${text(record, 'contractAddress')} ${text(record, 'source')} ${text(record, 'id')}`;
    const asset = record['kind'] === 'collection' ? '' : `${text(record, 'contractAddress')} ${assetOf(record)}`;
    if (record['kind'] === 'order') return `order ${asset} ${text(record, 'createdAt')}`;
    if (record['kind'] === 'sale') return `sale ${asset} ${text(record, 'tx')} ${String(record['logIndex'])}`;
    if (record['kind'] === 'listing' && record['id'] !== undefined)
      return `listing ${String(record['source'])} ${text(record, 'id')}`;
    return JSON.stringify(record);
  });
  assert.equal(new Set(keys).size, keys.length);
});

test('Ranks run from 1 without a gap or a tie', () => {
  for (const collection of collections) {
    const tokens = inCollection('token', collection);
    const ranks = tokens.flatMap((token) => (token['rarityRank'] === undefined ? [] : [Number(token['rarityRank'])]));
    assert.deepEqual(
      ranks.sort((a, b) => a - b),
      ranks.map((_, index) => index + 1),
    );
  }
  for (const field of ['name', 'rarityRank']) {
    const lacking = ofKind('token').filter((token) => token[field] === undefined).length;
    assert.ok(
      lacking > 5 && lacking < ofKind('token').length / 4,
      `${lacking} tokens lack ${field}: too few or too many`,
    );
  }
  const large = collections.filter((collection) =>
    inCollection('token', collection).every((t) => assetOf(t).length === 78),
  );
  assert.equal(large.length, 1);
});

test('Every collection has all its tokens with their owners, and all its listings', () => {
  for (const collection of collections) {
    assert.deepEqual([collection['tokensComplete'], collection['listingsComplete']], [true, true]);
    assert.ok(inCollection('token', collection).every((token) => token['owner'] !== undefined));
  }
});

test('Each collection with listings has a floor on each of the last 30 days, or since its first days, and the floor changes', () => {
  const without: unknown[] = [];
  for (const collection of collections) {
    const listings = [...inCollection('order', collection), ...inCollection('listing', collection)];
    const hours = toPastHours(listings.map(toPastListing), ANCHOR);
    const begin = Math.max(ANCHOR - 30 * DAY_MS, time(collection, 'createdAt') + 3 * DAY_MS);
    const floors = new Set<bigint>();
    for (let day = begin; day <= ANCHOR; day += DAY_MS) {
      const floor = hours.findLast(({ hour }) => hour < day)?.closeRaw ?? null;
      if (floor === null) without.push(collection['slug']);
      else floors.add(floor);
    }
    const isYoung = time(collection, 'createdAt') > ANCHOR - 30 * DAY_MS;
    assert.ok(
      floors.size >= (isYoung ? 1 : 3) || listings.length === 0,
      `${text(collection, 'slug')}: ${floors.size} floors`,
    );
  }
  assert.deepEqual(new Set(without), new Set(['deep-sea-postage']));
});

test('Every token has traits, each trait name has several values, and a token with a smaller rank has rarer traits', () => {
  for (const collection of collections) {
    const tokens = inCollection('token', collection).map((token) => ({
      rank: Number(token['rarityRank'] ?? Infinity),
      traits: token['traits'] as { name: string; value: string }[],
    }));
    const ranking = new RarityRanking();
    for (const [index, { traits }] of tokens.entries()) {
      assert.ok(traits.length >= 2);
      ranking.add(String(index), traits);
    }
    const ranks = ranking
      .ranks()
      .map(({ asset, rank }) => ({ computed: rank, served: tokens[Number(asset)]?.rank ?? 0 }));
    for (const one of ranks) {
      if (one.served === Infinity) continue;
      assert.ok(ranks.every((other) => other.computed <= one.computed || other.served > one.served));
    }
    const values = Map.groupBy(
      tokens.flatMap(({ traits }) => traits),
      ({ name }) => name,
    );
    assert.equal(values.size, 3);
    for (const [name, all] of values) assert.ok(new Set(all.map(({ value }) => value)).size >= 2, name);
  }
});

test('The seller of each sale holds the token at the time of the sale', () => {
  const holders = new Map<string, unknown>();
  for (const sale of ofKind('sale')) {
    const asset = assetKey(sale);
    if (holders.has(asset)) assert.equal(sale['seller'], holders.get(asset), JSON.stringify(sale));
    assert.notEqual(sale['seller'], sale['buyer']);
    holders.set(asset, sale['buyer']);
  }
  for (const token of ofKind('token')) {
    const held = holders.get(assetKey(token));
    const owner = token['owner'];
    if (held === undefined || owner === undefined || owner === SAMPLE_CUSTODY_WALLET) continue;
    assert.equal(owner, held, JSON.stringify(token).slice(0, 200));
  }
});

test('The seller of each active listing, or the custody wallet, holds the token', () => {
  const owners = new Map(ofKind('token').map((token) => [assetKey(token), token['owner']]));
  const active = [...ofKind('order'), ...ofKind('listing')].filter((row) => isActive(row, ANCHOR));
  let escrowed = 0;
  for (const row of active) {
    const owner = owners.get(assetKey(row));
    if (owner === SAMPLE_CUSTODY_WALLET) {
      assert.deepEqual([row['chain'], row['source']], ['solana', SERVICE]);
      escrowed += 1;
    } else assert.equal(owner, row['seller'], JSON.stringify(row));
  }
  assert.ok(escrowed >= 10, `only ${escrowed} listed tokens are in the custody wallet`);
  const inCustody = [...owners.values()].filter((owner) => owner === SAMPLE_CUSTODY_WALLET).length;
  assert.ok(inCustody > escrowed, 'every token in the custody wallet is listed, but some must be unlisted');
});

test('Each reported floor is the lowest active ask of all orders, and of the listings of tokens without an order', () => {
  for (const now of READ_AT) {
    for (const collection of collections) {
      const { floor, listed } = readBook(collection, now);
      const snapshot = collection['snapshot'] as SampleRecord | undefined;
      const stats = inCollection('stats', collection)[0];
      for (const reported of [inCollection('analytics', collection)[0], stats, snapshot]) {
        if (reported?.['floorRaw'] !== undefined)
          assert.equal(reported['floorRaw'], floor?.toString(), text(collection, 'slug'));
      }
      if (stats) assert.equal(stats['listedCount'], listed);
      if (stats) assert.equal(stats['supply'], inCollection('token', collection).length);
    }
  }
});

test('Each collection with listings has bids of each kind from other marketplaces, of which none is above its floor', () => {
  for (const collection of collections) {
    const bids = inCollection('bid', collection);
    const { floor } = readBook(collection, ANCHOR);
    assert.equal(bids.length > 0, floor !== null, text(collection, 'slug'));
    const kinds = bids.map((bid) =>
      (bid['tokenId'] ?? bid['mint']) ? 'item' : bid['traits'] ? 'trait' : 'collection',
    );
    if (floor !== null) assert.deepEqual(new Set(kinds), new Set(['collection', 'trait', 'item']));
    assert.ok(
      bids.length === 0 ||
        bids.some((bid) => bid['status'] === 'active' && !bid['traits'] && !bid['tokenId'] && !bid['mint']),
    );
    const tokens = inCollection('token', collection);
    for (const bid of bids) {
      const proceeds = BigInt(text(bid, 'proceedsRaw'));
      assert.ok(floor !== null && price(bid) < floor && proceeds > 0n && proceeds < price(bid), JSON.stringify(bid));
      assert.notEqual(bid['source'], 'mercat');
      const [trait] = (bid['traits'] ?? []) as { name: string; value: string }[];
      if (!trait) continue;
      const wanted = tokens.filter((token) =>
        (token['traits'] as (typeof trait)[]).some(({ name, value }) => name === trait.name && value === trait.value),
      );
      assert.deepEqual(bid['tokenIds'] ?? bid['mints'], wanted.map(assetOf));
    }
  }
  assert.deepEqual(new Set(ofKind('bid').map((bid) => bid['status'])), new Set(['active', 'cancelled', 'filled']));
});

test('One collection has more listed tokens than a listing window can hold, and one has no listing', () => {
  const sizes = collections.map((collection) => readBook(collection, ANCHOR).listed);
  assert.equal(sizes.filter((size) => size > WINDOW_SIZE_MAX).length, 1);
  const unlisted = collections.filter((c) => [...inCollection('order', c), ...inCollection('listing', c)].length === 0);
  assert.equal(unlisted.length, 1);

  const own = new Map(ofKind('order').flatMap((row) => (isActive(row, ANCHOR) ? [[assetKey(row), price(row)]] : [])));
  const both = ofKind('listing').filter((row) => isActive(row, ANCHOR) && own.has(assetKey(row)));
  assert.ok(
    both.filter((row) => price(row) < (own.get(assetKey(row)) ?? 0n)).length >= 5,
    'too few listings are priced below the order',
  );
  assert.ok(
    both.filter((row) => price(row) > (own.get(assetKey(row)) ?? 0n)).length >= 5,
    'too few listings are priced above the order',
  );

  for (const kind of ['order', 'listing']) {
    const rows = ofKind(kind);
    for (const status of ['active', 'filled', 'cancelled', 'expired']) {
      assert.ok(
        rows.some((row) => row['status'] === status),
        `no ${kind} has the status ${status}`,
      );
    }
    assert.ok(
      rows.some((row) => row['status'] === 'active' && !isActive(row, ANCHOR)),
      `no ${kind} has expired while its status is still active`,
    );
    assert.ok(rows.some((row) => String(row['expiresAt']).startsWith('2036-')));
  }
  const marked = (family: string, field: string) =>
    ofKind('listing').filter((row) => chainOf(row).family === family && row[field] !== undefined);
  const sources = (family: string) => new Set(marked(family, 'source').map((row) => row['source']));
  assert.deepEqual(sources('evm'), new Set(['blur', 'magic-eden', 'opensea']));
  assert.deepEqual(sources('solana'), new Set(['magic-eden', SERVICE, 'tensor']));
  assert.equal(marked('evm', 'orderHash').length, marked('evm', 'source').length);
  assert.equal(marked('solana', 'orderHash').length, 0);
  assert.ok(ofKind('listing').some((row) => row['id'] === undefined));
  for (const row of marked('evm', 'buyerTotalRaw')) assert.ok(BigInt(text(row, 'buyerTotalRaw')) > price(row));
});

test('Sales are spread over the year before the anchor', () => {
  const sales = ofKind('sale');
  assert.equal(collections.filter((collection) => inCollection('sale', collection).length === 0).length, 1);
  const times = sales.map((sale) => time(sale, 'timestamp'));
  assert.ok(Math.min(...times) > ANCHOR - 366 * DAY_MS && Math.min(...times) < ANCHOR - 360 * DAY_MS);
  for (const collection of collections) {
    const bySecond = Map.groupBy(inCollection('sale', collection), (sale) => sale['timestamp']);
    if (bySecond.size > 0) assert.ok([...bySecond.values()].some((group) => group.length > 1));
  }
  const prices = sales.map((sale) => text(sale, 'price'));
  assert.ok(prices.filter((received) => parseAmount(received) === null).length >= 5);
  assert.ok(prices.some((received) => /e\+/.test(received)));
  assert.ok(prices.includes('0'));

  const filled = [...ofKind('order'), ...ofKind('listing')].filter((row) => row['status'] === 'filled');
  const ended = new Map(filled.map((row) => [`${assetKey(row)} ${listingId(row)}`, row]));
  const linked = sales.filter((sale) => sale['listingId'] !== undefined);
  assert.ok(linked.length > sales.length / 5 && linked.length < sales.length);
  for (const sale of linked) {
    const row = ended.get(`${assetKey(sale)} ${text(sale, 'listingId')}`);
    assert.ok(row, `no listing for ${JSON.stringify(sale)}`);
    assert.deepEqual(
      [row['priceRaw'], row['seller'], row['tx'], row['source'] ?? SERVICE],
      [sale['price'], sale['seller'], sale['tx'], sale['source']],
    );
    assert.ok(time(row, row['kind'] === 'order' ? 'createdAt' : 'timestamp') < time(sale, 'timestamp'));
  }
  assert.equal(linked.length, filled.length);
});

test('Half of the collections have an analytics record; in each period, the volume and the number of sales in the record are at least those of the stored sales', () => {
  const all = ofKind('analytics');
  assert.equal(all.length, collections.length / 2);
  for (const analytics of all) {
    const { decimals } = chainOf(analytics);
    const [volume, count] = [analytics['volume'], analytics['sales']] as Record<string, number>[];
    const [volumes, counts] = [[0], [0]];
    for (const [window, days] of Object.entries({ twentyFourHour: 1, sevenDay: 7, allTime: 10_000 })) {
      const stored = inCollection('sale', analytics)
        .filter((sale) => time(sale, 'timestamp') > ANCHOR - days * DAY_MS)
        .flatMap((sale) => parseAmount(text(sale, 'price')) ?? [])
        .filter((raw) => raw > 0n);
      const raw = stored.reduce((sum, each) => sum + each, 0n);
      assert.ok((volume?.[window] ?? 0) >= toNativeNumber(raw, decimals) && raw > 0n, window);
      assert.ok((count?.[window] ?? 0) >= stored.length, window);
      volumes.push(volume?.[window] ?? 0);
      counts.push(count?.[window] ?? 0);
    }
    for (const windows of [volumes, counts])
      assert.deepEqual(
        windows,
        windows.toSorted((x, y) => x - y),
      );
  }
  assert.equal(all.filter((analytics) => analytics['floorRaw'] === undefined).length, 1);
  assert.ok(collections.filter((collection) => collection['snapshot'] !== undefined).length >= 4);
});

function ofKind(kind: string): SampleRecord[] {
  return records.filter((record) => record['kind'] === kind);
}

function inCollection(kind: string, collection: SampleRecord): SampleRecord[] {
  return ofKind(kind).filter((record) => record['contractAddress'] === collection['contractAddress']);
}

function text(record: SampleRecord, field: string): string {
  const value = record[field];
  assert.equal(typeof value, 'string', `${field} of ${JSON.stringify(record).slice(0, 200)}`);
  return String(value);
}

function time(record: SampleRecord, field: string): number {
  return Date.parse(text(record, field));
}

function chainOf(record: SampleRecord) {
  const chain = chains.get(text(record, 'chain'));
  assert.ok(chain);
  return chain;
}

function assetOf(record: SampleRecord): string {
  return String(record['tokenId'] ?? record['mint']);
}

function assetKey(record: SampleRecord): string {
  return `${text(record, 'contractAddress')} ${assetOf(record)}`;
}

function price(row: SampleRecord): bigint {
  return BigInt(text(row, 'priceRaw'));
}

function isActive(row: SampleRecord, now: number): boolean {
  const expiresAt = row['expiresAt'] === undefined ? Infinity : time(row, 'expiresAt');
  return row['status'] === 'active' && expiresAt > now;
}

/** The id with which a sale refers to this listing or order. */
function listingId(row: SampleRecord): string {
  if (row['kind'] === 'listing') return text(row, 'id');
  return `${text(row, 'chain')}_${text(row, 'contractAddress')}_${assetOf(row)}_${time(row, 'createdAt')}`;
}

function toPastListing(row: SampleRecord): PastListing {
  const from = time(row, row['kind'] === 'order' ? 'createdAt' : 'timestamp');
  const ends = ['expiresAt', 'endedAt'].flatMap((field) => (row[field] === undefined ? [] : [time(row, field)]));
  const until = Math.max(from, Math.min(...ends));
  const isEnded = row['status'] === 'filled' || row['status'] === 'cancelled';
  assert.equal(row['endedAt'] !== undefined, isEnded, JSON.stringify(row));
  return { asset: assetOf(row), isOwn: row['kind'] === 'order', priceRaw: price(row), from, until, mayEnd: until };
}

function readBook(collection: SampleRecord, now: number): { floor: bigint | null; listed: number } {
  const toEntries = (kind: string) =>
    inCollection(kind, collection)
      .filter((row) => isActive(row, now))
      .map((row) => ({
        asset: assetOf(row),
        raw: price(row),
        orderId: row['id'] === undefined ? '' : text(row, 'id'),
      }));
  const [own, mirrored] = [toEntries('order'), toEntries('listing')];
  const window = mergeListings(own, mirrored, new Set(own.map(({ asset }) => asset)));
  return {
    floor: window[0]?.raw ?? null,
    listed: new Set([...own, ...mirrored].map(({ asset }) => asset)).size,
  };
}
