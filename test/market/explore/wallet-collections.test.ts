// GET /explore/v1/wallets/{address}/collections.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { toEvmAddress } from '../../../sample/random.ts';
import { forOneMarket, newCollection, range } from '../../support/service/market.ts';

const VAULT = toEvmAddress('vault');
const pathOf = (account: string, query = '') => `/explore/v1/wallets/${account}/collections${query}`;

forOneMarket('the collections of a wallet', { settings: { CUSTODY_WALLETS: `${VAULT}=The vault` } }, (market) => {
  const owner = toEvmAddress('owner', 'collections');
  const other = toEvmAddress('other', 'collections');

  test('a wallet has its collections with the tokens, the units, the listings and their value at the floor, and the sums by currency', async () => {
    const complete = newCollection({ tokensComplete: true, slug: 'w-complete' });
    const partial = newCollection({ chain: 'base', slug: 'w-partial' });
    const edition = newCollection({ chain: 'base', slug: 'w-edition', tokenStandard: 'ERC-1155' });
    const unpriced = newCollection({ chain: 'polygon', slug: 'w-unpriced' });
    const listedOnly = newCollection({ chain: 'apechain', slug: 'w-listed' });
    await market.load([
      ...[complete, partial, edition, unpriced, listedOnly].map((one) => one.collection()),
      ...range(3).map((id) => complete.token(String(id), { owner })),
      complete.token('9', { owner: other }),
      complete.order('0', 70, { seller: owner }),
      complete.listing('0', 60, { seller: owner }),
      complete.listing('1', 90, { seller: owner }),
      complete.listing('1', 95, { seller: owner, source: 'blur' }),
      complete.listing('9', 50, { seller: other }),
      ...range(2).map((id) => partial.token(String(id), { owner })),
      partial.listing('7', 10, { seller: other }),
      edition.token('1', { owner }),
      edition.listing('1', 33, { seller: other }),
      unpriced.token('1', { owner }),
      listedOnly.listing('5', 12, { seller: owner }),
    ]);
    const { data, totals } = await market.ok(pathOf(owner));
    const rows = data.map(({ slug, tokens, units, listed, floor, value, provenance }: any) => [
      slug,
      tokens,
      units,
      listed,
      floor && floor.raw,
      value && value.raw,
      provenance.tokens && provenance.tokens.kind,
      provenance.floor && provenance.floor.kind,
    ]);
    const bySlug = (a: any[], b: any[]) => (a[0] < b[0] ? -1 : 1);
    assert.deepEqual(rows.toSorted(bySlug), [
      ['w-complete', 3, '3', 2, '50', '150', 'imported', 'scan'],
      ['w-edition', 1, null, 0, '33', null, null, 'scan'],
      ['w-listed', null, null, 1, '12', null, null, 'scan'],
      ['w-partial', 2, '2', 0, '10', '20', null, 'scan'],
      ['w-unpriced', 1, '1', 0, null, null, null, null],
    ]);
    assert.deepEqual(
      totals.map(({ currency, value, ...counts }: any) => [currency, value && value.raw, counts]),
      [
        ['ETH', '170', { collections: 3, unvalued: 1 }],
        ['POL', null, { collections: 1, unvalued: 1 }],
      ],
    );
    const ids = data.map(({ id }: any) => id);
    assert.deepEqual(ids, ids.toSorted());
    const walked = await market.walk(pathOf(owner, '?limit=2'));
    assert.deepEqual(
      walked.map(({ id }) => id),
      ids,
    );
    const onBase = await market.ok(pathOf(owner, '?chain=base'));
    assert.deepEqual(onBase.data.map(({ slug }: any) => slug).sort(), ['w-edition', 'w-partial']);
    assert.deepEqual(
      onBase.totals.map(({ value }: any) => value.raw),
      ['20'],
    );
  });

  test('the units of an edition are those that the log of its chain has', async () => {
    const holder = toEvmAddress('holder', 'editions');
    const edition = newCollection({ chain: 'base', tokenStandard: 'ERC-1155' });
    await market.load([
      edition.collection(),
      edition.token('1', { owner: holder }),
      edition.token('2', { owner: holder }),
      edition.listing('1', 5, { seller: other }),
    ]);
    await market
      .main()
      .query(
        `insert into main.holding (collection_id, token_id, holder, quantity) values ($1, '1', $2, 7), ($1, '2', $2, 4), ($1, '1', $3, 90)`,
        [edition.id, holder, other],
      );
    const { data, totals } = await market.ok(pathOf(holder));
    assert.deepEqual([data[0].tokens, data[0].units, data[0].value.raw], [2, '11', '55']);
    assert.equal(totals[0].value.raw, '55');
  });

  test('a custody wallet and a wallet without tokens have no collections, and a text that is no address is a 400', async () => {
    const subject = newCollection();
    await market.load([subject.collection(), subject.token('1', { owner: VAULT })]);
    for (const account of [VAULT, toEvmAddress('nobody')]) {
      const { data, totals } = await market.ok(pathOf(account));
      assert.deepEqual([data, totals], [[], []]);
    }
    assert.equal((await market.get(pathOf('nobody'))).status, 400);
    assert.equal((await market.get(pathOf(owner, '?cursor=x'))).status, 400);
  });
});
