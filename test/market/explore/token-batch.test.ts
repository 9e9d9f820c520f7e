// POST /explore/v1/tokens/batch and GET /explore/v1/tokens/{chain}/{address}/{tokenId}.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { toEvmAddress } from '../../../sample/random.ts';
import type { TestCollection } from '../../support/service/market.ts';
import { forOneMarket, mintOf, newCollection, range } from '../../support/service/market.ts';

const PATH = '/explore/v1/tokens/batch';

forOneMarket('tokens in a batch', {}, (market) => {
  const post = (body: unknown) =>
    market.get(PATH, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: typeof body === 'string' ? body : JSON.stringify(body),
    });
  const nameOf = ({ chain, address }: TestCollection, tokenId: string) => ({ chain, address, tokenId });

  test('tokens of several collections come in the order of the request, with null for a token that does not exist', async () => {
    const evm = newCollection({ chain: 'base' });
    const solana = newCollection({ chain: 'solana' });
    const mint = mintOf('batch');
    await market.load([
      evm.collection(),
      solana.collection(),
      evm.token('1', { name: 'One' }),
      evm.order('2', 5),
      evm.token('2'),
      solana.token(mint, { name: 'Minted' }),
    ]);
    const { status, headers, body } = await post({
      tokens: [nameOf(solana, mint), nameOf(evm, '2'), nameOf(evm, '404'), nameOf(evm, '1'), nameOf(evm, '2')],
    });
    assert.equal(status, 200);
    assert.equal(headers.get('cache-control'), 'no-store');
    assert.equal(headers.get('access-control-allow-origin'), '*');
    assert.deepEqual(
      body.data.map((token: any) => token && (token.name ?? token.listing.price.raw)),
      ['Minted', '5', null, 'One', '5'],
    );
  });

  test('a token read alone is the token of a batch, and a token that does not exist or was burned is not found', async () => {
    const subject = newCollection();
    await market.load([
      subject.collection(),
      subject.token('1', { name: 'One', image: `data:image/png;base64,${'A'.repeat(9_000)}` }),
      subject.sale('1', 9),
      subject.order('2', 5),
      subject.token('3'),
    ]);
    await market.describe(subject, { '1': { Hat: ['Cap'] } });
    await market
      .indexer()
      .query(`update indexer.token set burned = true where collection_id = $1 and asset = '3'`, [subject.id]);
    for (const [id, expected] of [
      ['1', 200],
      ['2', 200],
      ['3', 404],
      ['4', 404],
    ] as const) {
      const { body: batch } = await post({ tokens: [nameOf(subject, id)] });
      const { status, body } = await market.get(`/explore/v1/tokens/${subject.chain}/${subject.address}/${id}`);
      assert.equal(status, expected, id);
      assert.deepEqual(body.data ?? null, batch.data[0], id);
    }
    const mistaken = await market.get(`/explore/v1/tokens/${subject.chain}/${subject.address}/x`);
    assert.equal(mistaken.status, 400);
  });

  test('a token of which only an order of this service is known is served with its listing, while /v1 does not find it', async () => {
    const subject = newCollection();
    await market.load([subject.collection(), subject.order('1', 5), subject.order('2', 5, { status: 'cancelled' })]);
    const { body } = await post({ tokens: ['1', '2', '3'].map((id) => nameOf(subject, id)) });
    const [listed, ...others] = body.data;
    assert.deepEqual(others, [null, null]);
    assert.deepEqual(
      [
        listed.collectionId,
        listed.tokenId,
        listed.name,
        listed.image,
        listed.rarity.rank,
        listed.traits,
        listed.lastSale,
      ],
      [subject.id, '1', null, null, null, [], null],
    );
    assert.equal(listed.listing.price.raw, '5');
    assert.equal((await market.get(`/v1/tokens/${subject.chain}/${subject.address}/1`)).status, 404);
    const { data } = await market.ok(`/explore/v1/collections/${subject.slug}/tokens?listed=true`);
    assert.deepEqual(data, [listed], 'the token in the list differs from the single token');
  });

  test('a token of which only a mirrored listing or a sale is known is served without an owner on record', async () => {
    const subject = newCollection();
    await market.load([subject.collection(), subject.listing('1', 7), subject.sale('2', 9)]);
    const { body } = await post({ tokens: ['1', '2'].map((id) => nameOf(subject, id)) });
    const [listed, sold] = body.data;
    assert.equal(listed.listing.price.raw, '7');
    assert.deepEqual([sold.listing, sold.lastSale.price.raw], [null, '9']);
    assert.deepEqual(sold.owner, { address: null, kind: 'unknown', label: null });
  });

  test('a mint is not found when the address of its collection has another letter case', async () => {
    const subject = newCollection({ chain: 'solana' });
    const mint = mintOf('case');
    await market.load([subject.collection(), subject.token(mint)]);
    const index = Array.from(subject.address).findIndex((letter) => /[a-hj-km-z]/.test(letter));
    const other =
      subject.address.slice(0, index) + subject.address.charAt(index).toUpperCase() + subject.address.slice(index + 1);
    const { body } = await post({ tokens: [nameOf(subject, mint), { ...nameOf(subject, mint), address: other }] });
    assert.deepEqual(
      body.data.map((token: any) => token?.mint ?? null),
      [mint, null],
    );
  });

  test('a request for a hundred tokens is served, and a request for more gets a 400', async () => {
    const subject = newCollection();
    await market.load([subject.collection(), ...range(101).map((id) => subject.token(String(id)))]);
    const tokens = range(101).map((id) => nameOf(subject, String(id)));
    assert.equal((await post({ tokens: tokens.slice(1) })).body.data.filter(Boolean).length, 100);
    assert.equal((await post({ tokens })).status, 400);
  });

  test('the index of the interface lists every endpoint with its method', async () => {
    const { data } = await market.ok('/explore/v1');
    const { paths } = await market.ok('/explore/v1/openapi.json');
    const documented = Object.entries(paths).flatMap(([path, operations]) =>
      Object.keys(operations as object).map((method) => `${method.toUpperCase()} ${path}`),
    );
    assert.deepEqual(
      data.endpoints.map(({ method, path }: any) => `${method} ${path}`),
      documented,
    );
    assert.ok(documented.includes(`POST ${PATH}`));
    assert.ok(data.endpoints.every((endpoint: any) => endpoint.description !== ''));
  });

  test('an invalid body gets a 400 that names the mistake', async () => {
    const address = toEvmAddress('any');
    const cases: [body: unknown, message: RegExp][] = [
      ['{', /must be a JSON object with a list `tokens`/],
      [[], /must be a JSON object/],
      [{ tokens: [] }, /1 to 100 tokens/],
      [{ tokens: [1] }, /^tokens\[0\] must be a JSON object/],
      [{ tokens: [{ chain: 'moon', address, tokenId: '1' }] }, /^tokens\[0\]\.chain must be one of/],
      [
        { tokens: [{ chain: 'base', address: '0x1', tokenId: '1' }] },
        /^tokens\[0\]\.address is not an address on base/,
      ],
      [{ tokens: [{ chain: 'base', address, tokenId: 1 }] }, /^tokens\[0\]\.tokenId is not a token id on base/],
    ];
    for (const [body, message] of cases) {
      const { status, body: answer } = await post(body);
      assert.equal(status, 400);
      assert.match(answer.error.message, message);
    }
  });
});
