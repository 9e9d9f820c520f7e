// GET /explore/v1/search.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { forOneMarket, mintOf, newCollection } from '../../support/service/market.ts';

const pathOf = (text: string, more = '') => `/explore/v1/search?q=${encodeURIComponent(text)}${more}`;

forOneMarket('search', {}, (market) => {
  /** The slugs of collections and the names of tokens that are found. */
  const find = async (text: string, more = ''): Promise<string[]> => {
    const { data } = await market.ok(pathOf(text, more));
    const scores = data.map(({ score }: any) => score);
    assert.deepEqual(
      scores,
      scores.toSorted((a: number, b: number) => b - a),
    );
    return data.map(({ collection, token }: any) => collection?.slug ?? token.name ?? token.tokenId);
  };

  test('a search finds a collection by its id, address, slug and name, and by the beginning of the name', async () => {
    const subject = newCollection({ slug: 'quiet-marsh', name: 'Quiet Marsh' });
    await market.load([subject.collection()]);
    for (const text of [
      subject.id,
      subject.address,
      subject.address.toUpperCase().replace('0X', '0x'),
      'quiet-marsh',
      'Quiet Marsh',
    ]) {
      const { data, pagination } = await market.ok(pathOf(text));
      assert.deepEqual(
        [data[0].type, data[0].collection.id, data[0].token, data[0].score],
        ['collection', subject.id, null, 1],
        text,
      );
      assert.deepEqual(pagination, { nextCursor: null, hasMore: false });
    }
    for (const text of ['q', 'QUIET', 'quiet m', ' quiet  marsh ', 'quiet-m'])
      assert.deepEqual((await find(text))[0], 'quiet-marsh', text);
  });

  test('a search finds a collection by a slug with capital letters, as it is written', async () => {
    const subject = newCollection({ slug: 'Walnut-Radio', name: 'Amber Dials' });
    await market.load([subject.collection()]);
    for (const text of ['Walnut-Radio', 'Walnut']) assert.deepEqual(await find(text), ['Walnut-Radio'], text);
  });

  test('a search finds a name by one character of Chinese, Japanese or Korean script', async () => {
    const cats = newCollection({ slug: 'cat-club', name: '日本猫クラブ' });
    const korean = newCollection({ slug: 'korean-cats', name: '서울 고양이' });
    await market.load([cats.collection(), korean.collection()]);
    for (const text of ['猫', '日', 'ブ', '本猫', '日本猫', '猫クラブ'])
      assert.deepEqual(await find(text), ['cat-club'], text);
    for (const text of ['양', '고양이', '고양이'.normalize('NFD')])
      assert.deepEqual(await find(text), ['korean-cats'], text);
    assert.deepEqual(await find('犬'), []);
  });

  test('accents and the composed or decomposed form make little difference: several accented words rank above a misspelling', async () => {
    const names = {
      'pastry-a': 'Café Éclair',
      'pastry-b': 'Café Éclair'.normalize('NFD'),
      'pastry-c': 'Cafe Eclait',
      'city-a': 'zürich',
    };
    const subjects = Object.entries(names).map(([slug, name]) => newCollection({ slug, name }));
    await market.load(subjects.map((one) => one.collection()));
    const scores = async (text: string) => {
      const { data } = await market.ok(pathOf(text));
      return Object.fromEntries(data.map(({ collection, score }: any) => [collection.slug, score]));
    };
    for (const text of ['Café Éclair', 'Café Éclair'.normalize('NFD')]) {
      const found = await scores(text);
      assert.deepEqual([found['pastry-a'], found['pastry-b']], [1, 1], text);
    }
    for (const text of ['cafe eclair', 'CAFÉ ÉCLAIR', 'café eclair']) {
      const found = await scores(text);
      assert.equal(found['pastry-a'], found['pastry-b'], text);
      assert.ok(found['pastry-a'] > 0.95 && found['pastry-a'] > found['pastry-c'], JSON.stringify(found));
    }
    assert.ok((await scores('ZÜRICH'))['city-a'] > 0.95);
    assert.ok((await scores('zuri'))['city-a'] > 0.85);
  });

  test('a search finds a collection by the beginning of its address, and a token by its bare id in the largest collections', async () => {
    const subject = newCollection({ slug: 'address-book', name: 'Ledger' });
    const solana = newCollection({ chain: 'solana', slug: 'address-sol', name: 'Register' });
    await market.load([
      subject.collection({ snapshot: { volumeAllTime: 1e9 } }),
      solana.collection(),
      subject.token('424242'),
    ]);
    for (const text of [subject.address.slice(0, 8), subject.address.slice(0, 20).toUpperCase().replace('0X', '0x')]) {
      assert.deepEqual(await find(text), ['address-book'], text);
    }
    assert.deepEqual(await find(solana.address.slice(0, 10)), ['address-sol']);
    assert.deepEqual(await find('424242'), ['424242']);
    assert.deepEqual(await find('424242', '&chain=base'), []);
    assert.deepEqual(await find('#424242'), []);
  });

  test('a search finds a collection by its misspelt name, and by one word of its name', async () => {
    const subject = newCollection({ slug: 'copper-lanterns', name: 'Copper Lanterns' });
    const other = newCollection({ slug: 'copper-kettles', name: 'Copper Kettles' });
    await market.load([subject.collection(), other.collection()]);
    for (const text of ['coper lanterns', 'copper lantrens', 'lanterns', 'coppr lantern', 'LANTERNS copper']) {
      assert.equal((await find(text))[0], 'copper-lanterns', text);
    }
    assert.deepEqual((await find('copper')).sort(), ['copper-kettles', 'copper-lanterns']);
    assert.deepEqual(await find('zzzzqqqq'), []);
  });

  test('a search finds a token by the beginning of its name, by its mint, and by the name of its collection followed by its token id', async () => {
    const subject = newCollection({ slug: 'brass-owls', name: 'Brass Owls' });
    const solana = newCollection({ chain: 'solana', slug: 'tin-owls', name: 'Tin Owls' });
    const mint = mintOf('owl');
    await market.load([
      subject.collection(),
      solana.collection(),
      subject.token('7', { name: 'Old Barnaby' }),
      subject.token('8'),
      solana.token(mint, { name: 'Tin 1' }),
      subject.listing('8', 5),
    ]);
    assert.deepEqual(await find('old barn'), ['Old Barnaby']);
    assert.deepEqual(await find(mint), ['Tin 1']);
    for (const text of ['brass owls 8', 'Brass Owls #8', 'bras owls 8'])
      assert.ok((await find(text)).includes('8'), text);
    const { data } = await market.ok(pathOf('brass owls 8'));
    const { token } = data.find(({ type }: any) => type === 'token');
    assert.deepEqual([token.collectionId, token.listing.price.raw], [subject.id, '5']);
    assert.deepEqual(await find('old barnaby', '&chain=solana'), []);
    assert.deepEqual(await find('owls', '&chain=solana'), ['tin-owls']);
    assert.equal((await find('owls', '&limit=1')).length, 1);
  });

  test('a search finds a token on the chosen chain by its name, although hundreds of tokens on another chain match too', async () => {
    const [first, wanted] = [newCollection({ chain: 'base' }), newCollection({ chain: 'polygon' })];
    await market.load([first.collection(), wanted.collection(), wanted.token('1'), first.token('0')]);
    await market
      .indexer()
      .query(
        `insert into indexer.token (collection_id, asset, chain) select $1, n::text, 'base' from generate_series(1, 201) as n`,
        [first.id],
      );
    await market.indexer().query(
      `insert into indexer.token_metadata (collection_id, asset, source, name)
       select collection_id, asset, 'chain', case chain when 'base' then 'Marble Fox' else 'Marble Fox the Last' end
       from indexer.token where collection_id in ($1, $2)`,
      [first.id, wanted.id],
    );
    assert.deepEqual(await find('marble fox', '&chain=polygon'), ['Marble Fox the Last']);
    await market
      .indexer()
      .query(`update indexer.token set burned = true where collection_id = $1 and asset <> '7'`, [first.id]);
    assert.deepEqual(await find('marble f', '&chain=base'), ['Marble Fox']);
  });

  test('a search finds a collection on the chosen chain by the name that its contract states, although hundreds of names on another chain match too', async () => {
    const wanted = newCollection({ chain: 'polygon', slug: 'velvet' });
    await market.load([wanted.collection({ name: wanted.address })]);
    await market.main().query(
      `insert into main.collection_metadata (collection_id, name)
       select 'base_' || n, 'Velvet Moths of the Night' from generate_series(1, 201) as n
       union all select $1, 'Velvet Moths of the Nights'`,
      [wanted.id],
    );
    for (const text of ['velvet moths', 'velvt moths of the night'])
      assert.deepEqual(await find(text, '&chain=polygon'), ['velvet'], text);
  });

  test('an invalid parameter is a 400, and a search text of special characters is not', async () => {
    for (const query of [
      '',
      '?q=',
      `?q=${'x'.repeat(101)}`,
      '?q=a&limit=0',
      '?q=a&limit=51',
      '?q=a&chain=Ethereum',
      '?q=a&q=b',
    ]) {
      assert.equal((await market.get(`/explore/v1/search${query}`)).status, 400, query);
    }
    for (const text of ['%', '\\', "'", ' ', '\0', '#1', '😀', '1']) await market.ok(pathOf(text));
  });
});
