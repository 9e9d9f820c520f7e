// GET /explore/v1/activity and GET /explore/v1/wallets/{address}/activity.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { toEvmAddress } from '../../../sample/random.ts';
import { forOneMarket, MINUTE_MS, newCollection, SECOND_MS, SELLER } from '../../support/service/market.ts';
import { until } from '../../support/until.ts';

const VAULT = toEvmAddress('vault');

forOneMarket('activity', { settings: { CUSTODY_WALLETS: `${VAULT}=The vault` } }, (market) => {
  const namesOf = (rows: any[]) => rows.map(({ kind, tokenId, price }) => [kind, tokenId, price?.raw].join(' ').trim());
  /** Loads the records, and waits until the log has `count` rows that match the query. */
  const load = async (records: Record<string, unknown>[], { query, count }: { query: string; count: number }) => {
    await market.load(records);
    await until(
      async () => {
        // Responses are cached for a second.
        market.advance(2 * SECOND_MS);
        return (await market.walk(`/explore/v1/activity?${query}`)).length >= count;
      },
      60_000,
      'the changes were not merged',
    );
  };

  test('a contract address used on two chains selects the collection with the larger volume, even right after a sale', async () => {
    const contractAddress = toEvmAddress('traded on two chains');
    const sale = (chain: string, price: string) => ({
      kind: 'sale',
      source: 'opensea',
      chain,
      contractAddress,
      tokenId: price,
      price,
      timestamp: market.ago(300 * MINUTE_MS),
    });
    const collections = ['ethereum', 'base'].map((chain) => ({
      kind: 'collection',
      chain,
      contractAddress,
      name: chain,
    }));
    const firstChain = async () =>
      (await market.ok(`/explore/v1/activity?collection=${contractAddress}`)).data[0].chain;
    await market.load([...collections, sale('ethereum', '5'), sale('base', '4')]);
    assert.equal(await firstChain(), 'ethereum');
    await market.load([sale('base', '9')]);
    assert.equal(await firstChain(), 'base');
  });

  test('sales of one moment of which some are in the log are each on one page', async () => {
    const subject = newCollection();
    const query = `collection=${subject.slug}&kinds=sale`;
    const timestamp = market.ago(10 * MINUTE_MS);
    const salesOf = (tokens: string[]) => tokens.map((token) => subject.sale(token, 5, { timestamp }));
    await load([subject.collection(), ...salesOf(['1', '2', '3', '4'])], { query, count: 4 });
    // What is imported so late is no change of the market.
    market.advance(300 * MINUTE_MS);
    await market.load(salesOf(['11', '12', '13', '14', '15', '16']));
    market.advance(2 * SECOND_MS);
    const all = new Set(['1', '2', '3', '4', '11', '12', '13', '14', '15', '16']);
    for (const limit of [1, 2, 3, 4, 5, 9]) {
      const rows = await market.walk(`/explore/v1/activity?${query}&limit=${limit}`);
      assert.deepEqual(new Set(rows.map(({ tokenId }) => tokenId)), all, `limit ${limit}`);
      assert.equal(rows.length, all.size);
      assert.equal(rows.filter(({ offset }) => offset !== null).length, 4);
    }
  });

  test('the activity of a collection has its listings, its floors and all its sales, newest first and each once', async () => {
    const subject = newCollection();
    const query = `collection=${subject.slug}`;
    await load(
      [
        subject.collection(),
        subject.sale('9', 5, { timestamp: market.ago(300 * MINUTE_MS) }),
        subject.sale('8', 6, { timestamp: market.ago(200 * MINUTE_MS) }),
        subject.listing('1', 30, { timestamp: market.ago(250 * MINUTE_MS) }),
        subject.sale('7', 7, { timestamp: market.ago(10 * MINUTE_MS) }),
      ],
      { query: `${query}&kinds=floor,list`, count: 2 },
    );
    const rows = await market.walk(`/explore/v1/activity?${query}&limit=2`);
    assert.deepEqual(namesOf(rows), ['floor  30', 'sale 7 7', 'sale 8 6', 'list 1 30', 'sale 9 5']);
    assert.deepEqual(
      rows.map(({ offset }) => offset === null),
      [false, false, true, false, true],
    );
    assert.deepEqual(namesOf(await market.walk(`/explore/v1/activity?${query}&kinds=sale&limit=1`)), [
      'sale 7 7',
      'sale 8 6',
      'sale 9 5',
    ]);
    assert.deepEqual(namesOf(await market.walk(`/explore/v1/activity?${query}&token=9`)), ['sale 9 5']);
    assert.deepEqual(namesOf(await market.walk(`/explore/v1/activity?${query}&token=1&kinds=list,sale`)), [
      'list 1 30',
    ]);
  });

  test('with include=token each row has the name and the image of its token, and null if it has no token or nothing is known of it', async () => {
    const subject = newCollection();
    const query = `collection=${subject.slug}&kinds=floor,list,sale`;
    const image = 'https://pictures.example/1.png';
    await load(
      [
        subject.collection(),
        subject.token('1', { name: 'First', image }),
        subject.listing('1', 30, { timestamp: market.ago(3 * MINUTE_MS) }),
        subject.sale('2', 20, { timestamp: market.ago(2 * MINUTE_MS) }),
      ],
      { query, count: 3 },
    );
    const namesIn = (found: any[]) => found.map(({ kind, name, image: url }) => [kind, [name, url]]);
    const read = (more: string) => market.walk(`/explore/v1/activity?${query}${more}`);
    const unknown = [null, null];
    assert.deepEqual(Object.fromEntries(namesIn(await read('&include=token&limit=1'))), {
      floor: unknown,
      list: ['First', image],
      sale: unknown,
    });
    for (const [, names] of namesIn(await read(''))) assert.deepEqual(names, unknown);
    const ofWallet = `/explore/v1/wallets/${SELLER}/activity?collection=${subject.slug}&include=token`;
    assert.deepEqual(Object.fromEntries(namesIn(await market.walk(ofWallet)))['list'], ['First', image]);
    assert.equal((await market.get(`/explore/v1/activity?include=owner`)).status, 400);
  });

  test('a change is the same in the list and in the stream, which has no dollar rate, no name and no later change of it', async () => {
    const subject = newCollection();
    const query = `collection=${subject.slug}`;
    await load(
      [
        subject.collection(),
        subject.token('1', { name: 'First' }),
        subject.listing('1', 30, { timestamp: market.ago(3 * MINUTE_MS) }),
        subject.sale('2', 20, { timestamp: market.ago(2 * MINUTE_MS), seller: SELLER, buyer: SELLER }),
      ],
      { query, count: 3 },
    );
    const listed = await market.walk(`/explore/v1/activity?${query}&include=token`);
    const [oldest = ''] = listed.map(({ offset }) => String(offset)).sort((a, b) => (a < b ? -1 : 1));
    const from = `${oldest.slice(0, -16)}${String(Number(oldest.slice(-16)) - 1).padStart(16, '0')}`;
    const { data } = (await market.get(`/explore/v1/stream/pages/${from}`)).body;
    const withoutUsd = (price: any) => price && { ...price, usd: null };
    assert.deepEqual(
      data.filter(({ collectionId }: any) => collectionId === subject.id).toReversed(),
      listed
        .toSorted((a, b) => (a.offset < b.offset ? 1 : -1))
        .map((row) => ({ ...row, name: null, price: withoutUsd(row.price), total: withoutUsd(row.total) })),
    );
  });

  test('the activity of a wallet is what it has listed, sold and bought, on all chains or on one', async () => {
    const wallet = toEvmAddress('activity', 'wallet');
    const [first, second] = [newCollection(), newCollection({ chain: 'base' })];
    await load(
      [
        first.collection(),
        second.collection(),
        first.listing('1', 30, { seller: wallet, timestamp: market.ago(3 * MINUTE_MS) }),
        second.sale('2', 40, { buyer: wallet, timestamp: market.ago(2 * MINUTE_MS) }),
        first.sale('3', 50, { seller: wallet, buyer: wallet, timestamp: market.ago(MINUTE_MS) }),
        first.listing('4', 60),
      ],
      { query: `wallet=${wallet}`, count: 3 },
    );
    const path = `/explore/v1/wallets/${wallet}/activity`;
    const expected = ['sale 3 50', 'sale 2 40', 'list 1 30'];
    assert.deepEqual(namesOf(await market.walk(`${path}?limit=1`)), expected);
    assert.deepEqual(namesOf(await market.walk(`${path}?collection=${second.slug}`)), ['sale 2 40']);
    assert.deepEqual(namesOf(await market.walk(`${path}?chain=ethereum&limit=1`)), ['sale 3 50', 'list 1 30']);
    assert.deepEqual(namesOf(await market.walk(`${path}?chain=base`)), ['sale 2 40']);
    assert.deepEqual(await market.walk(`${path}?chain=polygon`), []);
    const both = (chain: string) => market.walk(`${path}?chain=${chain}&collection=${second.slug}`);
    assert.deepEqual([namesOf(await both('base')), await both('ethereum')], [['sale 2 40'], []]);
    const { nextCursor } = (await market.ok(`${path}?chain=ethereum&limit=1`)).pagination;
    assert.equal((await market.get(`${path}?chain=base&limit=1&cursor=${nextCursor}`)).status, 400);
    assert.equal((await market.get(`${path}?chain=none`)).status, 400);
    assert.deepEqual(namesOf(await market.walk(`/explore/v1/activity?wallet=${wallet}&kinds=list`)), ['list 1 30']);
  });

  test('the address of a custody wallet is not published, and the wallet has no activity', async () => {
    const subject = newCollection();
    const query = `collection=${subject.slug}&kinds=list`;
    await load([subject.collection(), subject.listing('1', 30, { seller: VAULT })], { query, count: 1 });
    const [row] = await market.walk(`/explore/v1/activity?${query}`);
    assert.equal(row.from, null);
    assert.deepEqual(await market.walk(`/explore/v1/wallets/${VAULT}/activity`), []);
  });

  test('a request with an unknown kind, with a token but no collection, or with a malformed wallet is rejected', async () => {
    for (const query of ['kind=gift', 'kind=sale,', 'token=1', 'wallet=0x12', 'cursor=abc']) {
      assert.equal((await market.get(`/explore/v1/activity?${query}`)).status, 400, query);
    }
    assert.equal((await market.get('/explore/v1/wallets/me/activity')).status, 400);
    assert.equal((await market.get('/explore/v1/activity?collection=none')).status, 404);
  });
});
