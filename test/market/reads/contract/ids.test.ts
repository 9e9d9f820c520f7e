// Tests which forms the path parameter `{id}` may have. The service first looks for a collection whose canonical id is `{id}`, then for one
// with this slug, and then for one with this address or mint.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { toEvmAddress, toSolanaAddress } from '../../../../sample/random.ts';
import { forOneMarket, mintOf, newCollection } from '../../../support/service/market.ts';
import { startTestService } from '../../../support/service/service.ts';

const ENDPOINTS = ['', '/floor', '/listings', '/sales'];
const settings = { EXTRA_CHAIN: 'monad:evm:MON:18:143' };

/** The address of two collections: one is on a chain that is no longer configured, and the other is on a configured chain. */
const ON_FORMER_CHAIN = toEvmAddress('on a former chain');

async function loadOnFormerChain(current: Record<string, string>): Promise<void> {
  const earlier = await startTestService({ settings: { ...current, EXTRA_CHAIN: 'former:evm:FORM:18:999' } });
  const on = (chain: string) => ({ kind: 'collection', chain, contractAddress: ON_FORMER_CHAIN, name: `On ${chain}` });
  await earlier.load([on('former'), on('abstract')]);
  await earlier.close();
}

const swapCase = (text: string) =>
  text.replaceAll(/[a-z]/gi, (one) => (one === one.toLowerCase() ? one.toUpperCase() : one.toLowerCase()));
const toUpperHex = (address: string) => `0x${address.slice(2).toUpperCase()}`;

forOneMarket('ids', { settings, prepare: loadOnFormerChain }, (market) => {
  // Does not check responses against the OpenAPI document, whose enumerations lack the chain that the settings add.
  const read = async (id: string, endpoint = ''): Promise<any> =>
    (await fetch(`${market.url}/v1/collections/${encodeURIComponent(id)}${endpoint}`)).json();
  const idOf = async (id: string) => (await read(id)).data.id;
  const statusOf = async (id: string) => (await market.get(`/v1/collections/${encodeURIComponent(id)}`)).status;

  test('all four collection endpoints accept canonical id, slug and address', async () => {
    for (const chain of ['ethereum', 'solana']) {
      const subject = newCollection({ chain });
      const asset = chain === 'solana' ? mintOf('any') : '1';
      await market.load([subject.collection(), subject.listing(asset, 5), subject.sale(asset, 5)]);
      for (const endpoint of ENDPOINTS) {
        const responses = [];
        for (const id of [subject.id, subject.slug, subject.address]) {
          const { data } = await market.ok(`/v1/collections/${id}${endpoint}`);
          responses.push(endpoint === '/floor' ? { ...data, updatedAt: null } : data);
        }
        assert.notEqual(responses[0].length, 0);
        assert.deepEqual(responses[1], responses[0], `${chain} ${endpoint} has another response by slug`);
        assert.deepEqual(responses[2], responses[0], `${chain} ${endpoint} has another response by address`);
      }
    }
  });

  test('every collection id in a response is accepted as `{id}`', async () => {
    const subject = newCollection({ chain: 'solana' });
    await market.load([subject.collection(), subject.listing(mintOf('1'), 5), subject.sale(mintOf('1'), 5)]);
    const found = [
      (await market.ok('/v1/collections?chain=solana&limit=100')).data.find((one: any) => one.slug === subject.slug).id,
      (await market.ok(`${subject.path}/floor`)).data.collectionId,
      (await market.ok(`${subject.path}/listings`)).data[0].collectionId,
      (await market.ok(`${subject.path}/sales`)).data[0].collectionId,
      (await market.ok(`/v1/tokens/solana/${subject.address}/${mintOf('1')}`)).data.collectionId,
    ];
    assert.deepEqual(new Set(found), new Set([subject.id]));
    for (const endpoint of ENDPOINTS) await market.ok(`/v1/collections/${subject.id}${endpoint}`);
  });

  test('in a canonical id, the address may have any letter case', async () => {
    const evm = newCollection({ chain: 'base' });
    const solana = newCollection({ chain: 'solana' });
    await market.load([evm.collection(), solana.collection()]);
    for (const id of [evm.id, `base_${toUpperHex(evm.address)}`]) assert.equal(await idOf(id), evm.id);
    for (const address of [solana.address, swapCase(solana.address), solana.address.toUpperCase()]) {
      assert.equal(await idOf(`solana_${address}`), solana.id);
    }
    for (const id of [`Base_${evm.address}`, `BASE_${evm.address}`, `ink_${evm.address}`, `base-${evm.address}`]) {
      assert.equal(await statusOf(id), 404, id);
    }
  });

  test('an EVM address is accepted in any letter case, and a Solana mint only in its original letter case', async () => {
    const evm = newCollection();
    const solana = newCollection({ chain: 'solana' });
    await market.load([evm.collection(), solana.collection()]);
    for (const address of [
      evm.address,
      toUpperHex(evm.address),
      `0x${swapCase(evm.address.slice(2, 20))}${evm.address.slice(20)}`,
    ]) {
      assert.equal(await idOf(address), evm.id);
    }
    assert.equal(await idOf(solana.address), solana.id);
    for (const mint of [swapCase(solana.address), solana.address.toLowerCase(), ` ${solana.address}`]) {
      assert.equal(await statusOf(mint), 404, mint);
    }
  });

  test('a slug in any script is matched exactly after percent-decoding', async () => {
    for (const slug of [
      'Bored-Apes',
      'café 8%',
      'クールキャッツ',
      '🐸?x=1&y#z',
      'a.b',
      '~tilde',
      "o'clock",
      'a+b',
      '%41',
    ]) {
      const subject = newCollection({ slug });
      await market.load([subject.collection()]);
      assert.equal(await idOf(slug), subject.id, slug);
      assert.equal((await market.ok(`${subject.path}/listings`)).data.length, 0);
    }
    assert.equal(await statusOf('bored-apes'), 404, 'a slug in another letter case was found');
  });

  test('an address on several chains names the collection with the largest all-time volume', async () => {
    const address = toEvmAddress('on several chains');
    const on = (chain: string) => ({ kind: 'collection', chain, contractAddress: address, name: `On ${chain}` });
    const volume = (chain: string, allTime: number) => ({
      kind: 'analytics',
      chain,
      contractAddress: address,
      volume: { allTime },
    });
    await market.load([on('abstract'), on('monad'), on('ink')]);
    assert.equal(
      await idOf(address),
      `ink_${address}`,
      'without any volume, the address does not name the collection on the first chain',
    );
    await market.load([on('polygon')]);
    assert.equal(await idOf(address), `polygon_${address}`, 'the new collection did not count in the next request');
    await market.load([volume('abstract', 1)]);
    assert.equal(await idOf(address), `abstract_${address}`, 'a known volume was not preferred to an unknown volume');
    await market.load([volume('monad', 3), volume('ink', 2)]);
    assert.equal(await idOf(toUpperHex(address)), `monad_${address}`);
    assert.equal(await idOf(address), `monad_${address}`);
    await market.load([volume('ink', 3)]);
    assert.equal(
      await idOf(address),
      `ink_${address}`,
      'with equal volumes, the address does not name the collection on the first chain',
    );
    assert.equal((await read(address, '/floor')).data.collectionId, `ink_${address}`);
    assert.equal(await idOf(`polygon_${address}`), `polygon_${address}`, 'a canonical id names another collection');
  });

  test('an address on two chains, of which only one is configured, names the collection on the configured chain', async () => {
    assert.equal(await idOf(ON_FORMER_CHAIN), `abstract_${ON_FORMER_CHAIN}`);
  });

  test('among collections with the same address, a volume summed from sales counts like a volume from a record', async () => {
    const address = toEvmAddress('by sales');
    const on = (chain: string) => ({ kind: 'collection', chain, contractAddress: address, name: `On ${chain}` });
    const sale = (chain: string, price: bigint) => ({
      kind: 'sale',
      source: 'opensea',
      chain,
      contractAddress: address,
      tokenId: '1',
      price: price.toString(),
      timestamp: market.ago(0),
    });
    await market.load([on('base'), on('ink'), sale('base', 10n ** 18n), sale('ink', 2n * 10n ** 18n)]);
    assert.equal(await idOf(address), `ink_${address}`);
  });

  test('a canonical id is tried before a slug', async () => {
    await market.load([
      { kind: 'collection', chain: 'ethereum', slug: 'moon', name: 'By id' },
      { kind: 'collection', slug: 'ethereum_moon', name: 'By slug', chain: 'base' },
    ]);
    assert.equal((await market.ok('/v1/collections/ethereum_moon')).data.name, 'By id');
    assert.equal((await market.ok('/v1/collections/base_ethereum_moon')).data.name, 'By slug');
  });

  test('a slug that could be mistaken for an id or an address is rejected at import', async () => {
    const subject = newCollection();
    for (const slug of [
      subject.id,
      subject.address,
      toUpperHex(subject.address),
      toSolanaAddress('x'),
      'a/b',
      '..',
      'a\u0007',
    ]) {
      await assert.rejects(market.load([subject.collection({ slug })]), /slug/, slug);
    }
  });

  test('a mint that differs from a stored mint only in letter case is rejected at import', async () => {
    const subject = newCollection({ chain: 'solana' });
    await market.load([subject.collection()]);
    const at = subject.address.search(/[a-hjkmnp-z]/);
    const second =
      subject.address.slice(0, at) + subject.address.slice(at, at + 1).toUpperCase() + subject.address.slice(at + 1);
    assert.notEqual(second, subject.address);
    const twin = { kind: 'collection', chain: 'solana', contractAddress: second, name: 'Twin' };
    await assert.rejects(market.load([twin]), new RegExp(subject.address));
    assert.equal(await idOf(subject.address), subject.id);
    assert.equal(await statusOf(second), 404);
  });

  test('a collection on a chain that the settings add is found by canonical id, slug and address', async () => {
    const subject = newCollection({ chain: 'monad' });
    await market.load([
      subject.collection(),
      subject.order('1', 10n ** 18n),
      subject.sale('1', 5),
      { kind: 'rate', symbol: 'MON', usd: 3, at: market.ago(0) },
    ]);
    for (const id of [subject.id, subject.slug, toUpperHex(subject.address)]) {
      const { data } = await read(id);
      assert.deepEqual([data.id, data.chain, data.stats.floor.currency], [subject.id, 'monad', 'MON']);
    }
    assert.equal((await read(subject.id, '/floor')).data.askFloor.usd, 3);
    assert.deepEqual((await read(subject.id, '/listings')).data[0].orderId.split('_').slice(0, 2), [
      'monad',
      subject.address,
    ]);
    assert.equal((await read(subject.id, '/sales')).data[0].chain, 'monad');
    const token: any = await (await fetch(`${market.url}/v1/tokens/monad/${subject.address}/1`)).json();
    assert.deepEqual([token.data.chain, token.data.listing.price.currency], ['monad', 'MON']);
  });

  test('an id that no collection has is not found, whatever its form', async () => {
    const ids = [
      'nobody',
      '__proto__',
      'constructor',
      toEvmAddress('nobody'),
      toSolanaAddress('nobody'),
      `ethereum_${toEvmAddress('nobody')}`,
      `solana_${toSolanaAddress('nobody')}`,
      'ethereum_',
      '_',
      '%',
      "' or 1=1 --",
      'a/b',
      '..%2f..',
      '\u0000',
      '😀',
      'x'.repeat(501),
      'x'.repeat(5_000),
    ];
    for (const id of ids) {
      for (const endpoint of ENDPOINTS) {
        const response = await market.get(`/v1/collections/${encodeURIComponent(id)}${endpoint}`);
        assert.equal(response.status, 404, `${id}${endpoint}`);
        assert.equal(response.body.error.code, 'not_found');
      }
    }
  });
});
