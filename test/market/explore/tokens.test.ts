// Tests GET /explore/v1/collections/{id}/tokens.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { toEvmAddress } from '../../../sample/random.ts';
import type { TestCollection } from '../../support/service/market.ts';
import {
  BUYER,
  HOUR_MS,
  SELLER,
  SOLANA_SELLER,
  forOneMarket,
  mintOf,
  newCollection,
  range,
  withoutDecimals,
} from '../../support/service/market.ts';

const HOLDER = toEvmAddress('holder');
const VAULT = toEvmAddress('vault');
const TX = `0x${'7e'.repeat(32)}`;
const pathOf = (subject: TestCollection, query = '') => `/explore/v1/collections/${subject.slug}/tokens${query}`;

forOneMarket('tokens of a collection', { settings: { CUSTODY_WALLETS: `${VAULT}=The vault` } }, (market) => {
  /** The ids of all tokens of the list, which is read in pages of two rows. */
  const idsOf = async (subject: TestCollection, query = '') => {
    const rows = await market.walk(pathOf(subject, `?limit=2${query}`));
    return rows.map((row) => row.tokenId ?? row.mint).join(' ');
  };

  test('a token has its listing, its owner and its last sale', async () => {
    const subject = newCollection();
    const at = market.ago(HOUR_MS);
    await market.load([
      subject.collection(),
      subject.token('7', { name: 'Seven', image: 'ipfs://x/7.png', rarityRank: 3, owner: HOLDER }),
      subject.listing('7', 10n ** 18n),
      subject.sale('7', 5, { timestamp: market.ago(2 * HOUR_MS) }),
      subject.sale('7', 6, { timestamp: at, tx: TX, source: 'mercat' }),
    ]);
    const { data } = await market.ok(pathOf(subject));
    const { listing, lastSale, ...token } = data[0];
    assert.equal(data.length, 1);
    assert.deepEqual(token, {
      chain: 'ethereum',
      contractAddress: subject.address,
      tokenId: '7',
      mint: null,
      collectionId: subject.id,
      name: 'Seven',
      image: 'ipfs://x/7.png',
      rarity: { rank: 3 },
      owner: { address: SELLER, kind: 'wallet', label: null },
      traits: [],
      balance: null,
      topBid: null,
    });
    assert.deepEqual([listing.price.raw, listing.marketplace], ['1000000000000000000', 'opensea']);
    const price = { raw: '6', decimal: 6e-18, currency: 'ETH', usd: null, decimals: 18 };
    assert.deepEqual(lastSale, { price, at, marketplace: 'MERCAT', tx: TX });
  });

  test('a token is the same as in the marketplace interface, apart from traits and further fields of its listing and its last sale', async () => {
    const subject = newCollection();
    await market.load([
      subject.collection(),
      subject.token('1', { owner: VAULT }),
      subject.order('2', 5),
      subject.token('2', { owner: HOLDER, rarityRank: 1 }),
      subject.sale('2', 9),
    ]);
    const { data } = await market.ok(pathOf(subject));
    for (const { lastSale, listing, topBid: _topBid, traits: _traits, balance: _balance, ...token } of data) {
      const { data: other } = await market.ok(`/v1/tokens/ethereum/${subject.address}/${token.tokenId}`);
      const { orderHash: _hash, quantity: _quantity, remaining: _remaining, ...rest } = listing ?? {};
      const { total: _total, buyerTotal: _buyerTotal, ...item } = rest;
      const shared = { ...token, listing: listing && item, lastSale: lastSale && { price: lastSale.price } };
      assert.deepEqual(withoutDecimals(shared), other);
    }
    assert.equal(data.length, 2);
  });

  test('each sort lists every token once over all pages', async () => {
    const subject = newCollection();
    await market.load([
      subject.collection(),
      ...range(7).map((index) =>
        subject.token(String(index + 6), index % 3 === 0 ? { rarityRank: 10 - index } : { owner: HOLDER }),
      ),
      subject.listing('8', 30),
      subject.listing('8', 20, { source: 'blur' }),
      subject.listing('10', 20, { source: 'blur' }),
      subject.order('12', 25),
      subject.order('12', 21, { createdAt: market.ago(HOUR_MS) }),
      subject.listing('12', 1),
      subject.listing('99', 40),
    ]);
    const byPrice = (await market.walk(pathOf(subject, '?limit=2&listed=true'))).map((row) => [
      row.tokenId,
      row.listing.price.raw,
    ]);
    assert.deepEqual(
      byPrice.toSorted(([, a], [, b]) => Number(a) - Number(b)),
      byPrice,
    );
    assert.deepEqual(byPrice.map(([id, raw]) => `${id}:${raw}`).sort(), ['10:20', '12:21', '8:20', '99:40']);
    const listed = byPrice.map(([id]) => id).join(' ');
    assert.equal(await idsOf(subject), `${listed} 6 7 9 11`);
    assert.equal(await idsOf(subject, '&listed=false'), '6 7 9 11');
    assert.equal(await idsOf(subject, '&sort=id'), '6 7 8 9 10 11 12');
    assert.equal(await idsOf(subject, '&sort=id&listed=true'), '8 10 12');
    assert.equal(await idsOf(subject, '&sort=id&listed=false'), '6 7 9 11');
    assert.equal(await idsOf(subject, '&sort=rank'), '12 9 6 7 8 10 11');
    assert.equal(await idsOf(subject, '&sort=rank&listed=true'), '12 8 10');
  });

  test('tokens with the longest ids are found by the beginning of the id, and mints only by the complete mint', async () => {
    const [largest, subject, mints] = [
      (2n ** 256n - 1n).toString(),
      newCollection(),
      newCollection({ chain: 'solana' }),
    ];
    const mint = '9ZNTfG4NyQgxy2SWjSiQoUyBPEvXT2xo7fKc5hPYYJ7b';
    await market.load([
      subject.collection(),
      ...['1', '115', '1157', '2', largest].map((asset) => subject.token(asset)),
      mints.collection(),
      mints.token(mint),
    ]);
    assert.equal(await idsOf(subject, '&q=115&sort=id'), `115 1157 ${largest}`);
    assert.equal(await idsOf(subject, `&q=${largest}&sort=id`), largest);
    assert.equal(await idsOf(mints, '&q=9&sort=id'), '');
    assert.equal(await idsOf(mints, `&q=${mint}&sort=id`), mint);
  });

  test('tokens are found by price, marketplace, rank, name and id, in every order and together with owner and traits', async () => {
    const subject = newCollection();
    await market.load([
      subject.collection(),
      ...range(8).map((index) =>
        subject.token(String(index + 1), {
          owner: HOLDER,
          rarityRank: 8 - index,
          name: index < 4 ? `Cap ${index}` : `Élan ${index}`,
        }),
      ),
      subject.token('11', { owner: HOLDER, name: 'cAp 11' }),
      subject.listing('1', 10, { source: 'blur' }),
      subject.listing('2', 20),
      subject.listing('2', 25, { source: 'blur' }),
      subject.listing('3', 30, { source: 'blur' }),
      subject.order('4', 40),
      subject.listing('4', 35, { source: 'blur' }),
      subject.listing('5', 50, { seller: HOLDER }),
    ]);
    await market.describe(subject, { 1: { Hat: 'Cap' }, 3: { Hat: 'Cap' }, 4: { Hat: 'Cap' }, 5: { Hat: 'Crown' } });
    const wei = (count: number) => `0.${String(count).padStart(18, '0')}`;
    const range20 = `&priceMin=${wei(20)}&priceMax=${wei(40)}`;
    assert.equal(await idsOf(subject, range20), '2 3 4');
    assert.equal(await idsOf(subject, `${range20}&sort=rank`), '4 3 2');
    assert.equal(await idsOf(subject, `${range20}&sort=id`), '2 3 4');
    assert.equal(await idsOf(subject, `${range20}&traits[Hat]=Cap`), '3 4');
    assert.equal(
      await idsOf(subject, `&priceMin=${wei(31)}&priceMax=${wei(39)}`),
      '',
      'the own order is the listing of 4',
    );
    assert.equal(await idsOf(subject, '&source=blur'), '1 3');
    assert.equal(await idsOf(subject, '&source=MERCAT'), '4');
    assert.equal(await idsOf(subject, '&source=opensea&sort=id'), '2 5');
    assert.equal(await idsOf(subject, '&source=blur&traits[Hat]=Cap&sort=rank'), '3 1');
    assert.equal(await idsOf(subject, `&source=opensea&owner=${HOLDER}`), '5');
    assert.equal(await idsOf(subject, '&rankMin=3&rankMax=5&sort=rank'), '6 5 4');
    assert.equal(await idsOf(subject, '&rankMax=5&sort=price'), '4 5 6 7 8');
    assert.equal(await idsOf(subject, '&rankMin=5&sort=id&listed=true'), '1 2 3 4');
    assert.equal(await idsOf(subject, '&rankMax=5&traits[Hat]=Cap'), '4');
    assert.equal(await idsOf(subject, '&q=CAP&sort=id'), '1 2 3 4 11');
    assert.equal(await idsOf(subject, `&q=cap${range20}`), '2 3 4');
    assert.equal(await idsOf(subject, '&q=1&sort=id'), '1 11');
    assert.equal(await idsOf(subject, `&q=${encodeURIComponent('Élan')}&sort=rank`), '8 7 6 5');
    assert.equal(await idsOf(subject, '&q=hat&sort=id'), '');
    for (const query of ['&q=a%00', '&source=%00']) assert.equal(await idsOf(subject, query), '');
    for (const query of ['listed=false&source=blur', 'priceMin=x', 'rankMin=0', 'rankMax=x', 'q=', 'source=']) {
      assert.equal((await market.get(pathOf(subject, `?${query}`))).status, 400, query);
    }
  });

  test('the newest listing or the last sale comes first, and then the tokens without one, by id', async () => {
    const subject = newCollection();
    const ago = (hours: number) => market.ago(hours * HOUR_MS);
    await market.load([
      subject.collection(),
      ...range(9).map((index) => subject.token(String(index + 1), { owner: HOLDER })),
      subject.listing('1', 10, { timestamp: ago(5) }),
      subject.listing('1', 99, { timestamp: ago(1), source: 'blur' }),
      subject.listing('2', 20, { timestamp: ago(2) }),
      subject.order('3', 30, { createdAt: ago(2) }),
      subject.order('4', 40, { createdAt: ago(6) }),
      subject.listing('4', 35, { timestamp: ago(0) }),
      subject.listing('5', 50, { timestamp: ago(3), source: 'blur' }),
      subject.sale('6', 1, { timestamp: ago(3) }),
      subject.sale('6', 1, { timestamp: ago(9) }),
      subject.sale('1', 1, { timestamp: ago(8) }),
      subject.sale('7', 1, { timestamp: ago(2) }),
      subject.sale('2', 1, { timestamp: ago(4) }),
    ]);
    await market.describe(subject, { 1: { Hat: 'Cap' }, 4: { Hat: 'Cap' }, 6: { Hat: 'Cap' } });
    assert.equal(await idsOf(subject, '&sort=recent'), '3 2 5 1 4 6 7 8 9');
    assert.equal(await idsOf(subject, '&sort=recent&listed=true'), '3 2 5 1 4');
    assert.equal(await idsOf(subject, '&sort=recent&listed=false'), '6 7 8 9');
    assert.equal(await idsOf(subject, '&sort=recent&source=blur'), '5');
    assert.equal(await idsOf(subject, '&sort=recent&traits[Hat]=Cap'), '1 4 6');
    assert.equal(await idsOf(subject, '&sort=lastSale'), '7 6 2 1 3 4 5 8 9');
    assert.equal(await idsOf(subject, '&sort=lastSale&listed=true'), '2 1 3 4 5');
    assert.equal(await idsOf(subject, '&sort=lastSale&traits[Hat]=Cap'), '6 1 4');
    assert.equal(await idsOf(subject, `&sort=lastSale&priceMin=0.${'20'.padStart(18, '0')}`), '2 3 4 5');
  });

  test('each listed token appears once, even if many tokens have an own order and a cheaper mirrored listing', async () => {
    const subject = newCollection();
    const own = range(45).map((index) => String(index + 1));
    await market.load([
      subject.collection(),
      ...own.map((id) => subject.order(id, 10)),
      ...own.map((id) => subject.listing(id, 1)),
      subject.listing('100', 2),
      subject.listing('101', 11),
    ]);
    const ids = (await market.walk(pathOf(subject, '?limit=1&listed=true'))).map((row) => row.tokenId);
    assert.equal(ids[0], '100');
    assert.equal(ids.at(-1), '101');
    assert.deepEqual(new Set(ids), new Set([...own, '100', '101']));
    assert.equal(ids.length, 47);
  });

  test('the owner of a listed token is its seller, unless the holder is known from the chain', async () => {
    const subject = newCollection();
    await market.load([
      subject.collection(),
      ...range(5).map((index) => subject.token(String(index), { owner: index < 3 ? HOLDER : VAULT })),
      subject.listing('0', 5, { seller: BUYER }),
      subject.listing('3', 6, { seller: HOLDER }),
      subject.order('9', 7, { seller: HOLDER }),
    ]);
    assert.equal(await idsOf(subject, `&owner=${HOLDER}`), '3 9 1 2');
    assert.equal(await idsOf(subject, `&owner=${HOLDER.toUpperCase().replace('0X', '0x')}&sort=id`), '1 2 3');
    assert.equal(await idsOf(subject, `&owner=${BUYER}`), '0');
    const inCustody = await market.ok(pathOf(subject, `?limit=1&owner=${VAULT}`));
    assert.deepEqual([inCustody.data, inCustody.pagination.nextCursor], [[], null]);
    assert.equal((await market.get(pathOf(subject, '?owner=somebody'))).status, 400);
  });

  test('Solana tokens have mints, and are listed in the order of their prices', async () => {
    const subject = newCollection({ chain: 'solana' });
    const [a, b, c] = [mintOf('a'), mintOf('b'), mintOf('c')];
    await market.load([
      subject.collection(),
      ...[a, b, c].map((mint) => subject.token(mint)),
      subject.listing(c, 5),
      subject.listing(a, 9),
    ]);
    assert.equal(await idsOf(subject), [c, a, b].join(' '));
    assert.equal(await idsOf(subject, `&owner=${SOLANA_SELLER}`), [c, a].join(' '));
  });

  test('a token whose listing has expired is not among the listed tokens, even before the sweep', async () => {
    const subject = newCollection();
    await market.load([
      subject.collection(),
      subject.token('1'),
      subject.listing('1', 5, { expiresAt: new Date(market.now() + HOUR_MS).toISOString() }),
    ]);
    assert.equal(await idsOf(subject, '&listed=true'), '1');
    market.advance(HOUR_MS);
    assert.equal(await idsOf(subject, '&listed=true'), '');
    assert.equal(await idsOf(subject, '&listed=false'), '1');
  });

  test('a cursor of another list is rejected', async () => {
    const subject = newCollection();
    await market.load([subject.collection(), ...range(3).map((index) => subject.token(String(index)))]);
    const { pagination } = await market.ok(pathOf(subject, '?limit=1&sort=id'));
    for (const query of ['', '?sort=rank', '?sort=id&listed=false', `?sort=id&owner=${HOLDER}`]) {
      const cursor = `${query === '' ? '?' : '&'}cursor=${pagination.nextCursor}`;
      assert.equal((await market.get(pathOf(subject, query + cursor))).status, 400, query);
    }
  });

  test('a collection without an address has no tokens', async () => {
    const subject = newCollection({ slug: 'no-address' });
    await market.load([{ kind: 'collection', chain: 'ethereum', slug: subject.slug, name: 'No address' }]);
    assert.deepEqual((await market.ok(pathOf(subject))).data, []);
  });
});
