// GET /explore/v1/wallets/{address}/tokens and GET /explore/v1/wallets/{address}/listings.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { toEvmAddress, toSolanaAddress } from '../../../sample/random.ts';
import { HOUR_MS, forOneMarket, mintOf, newCollection, range } from '../../support/service/market.ts';

const VAULT = toEvmAddress('vault');
const tokensOf = (account: string, query = '') => `/explore/v1/wallets/${account}/tokens${query}`;
const listingsOf = (account: string, query = '') => `/explore/v1/wallets/${account}/listings${query}`;

forOneMarket('wallets', { settings: { CUSTODY_WALLETS: `${VAULT}=The vault` } }, (market) => {
  const namesOf = (rows: any[]) => rows.map((row) => `${row.chain} ${row.tokenId ?? row.mint}`);

  test('the tokens of a wallet come from all chains, or from the requested chain', async () => {
    const owner = toEvmAddress('owner', 'chains');
    const [base, ethereum] = [newCollection({ chain: 'base' }), newCollection()];
    await market.load([
      base.collection(),
      ethereum.collection(),
      ...range(3).map((id) => base.token(String(id), { owner })),
      ethereum.token('7', { owner, name: 'Seven' }),
      ethereum.token('8', { owner: toEvmAddress('other') }),
    ]);
    const all = await market.walk(tokensOf(owner, '?limit=2'));
    assert.deepEqual(namesOf(all), ['base 0', 'base 1', 'base 2', 'ethereum 7']);
    assert.equal(all[3].name, 'Seven');
    assert.deepEqual(namesOf(await market.walk(tokensOf(owner, '?chain=ethereum'))), ['ethereum 7']);
    assert.deepEqual(namesOf(await market.walk(tokensOf(owner.toUpperCase().replace('0X', '0x')))), namesOf(all));
  });

  test('a token in custody or in an escrow belongs to its seller', async () => {
    const [seller, buyer] = [toEvmAddress('custody', 'seller'), toEvmAddress('custody', 'holder')];
    const subject = newCollection();
    await market.load([
      subject.collection(),
      subject.token('1', { owner: VAULT }),
      subject.listing('1', 5, { seller }),
      subject.token('2', { owner: buyer }),
      subject.order('2', 5, { seller }),
      subject.token('3', { owner: VAULT }),
    ]);
    assert.deepEqual(namesOf(await market.walk(tokensOf(seller, '?limit=1'))), ['ethereum 1', 'ethereum 2']);
    assert.deepEqual(await market.walk(tokensOf(buyer)), []);
    await market.load([subject.listing('4', 5, { seller: VAULT })]);
    for (const path of [tokensOf(VAULT), listingsOf(VAULT)]) assert.deepEqual(await market.walk(path), []);
  });

  test('a wallet on Solana has the tokens that it owns and the tokens that it has listed, each with its mint', async () => {
    const owner = toSolanaAddress('owner');
    const subject = newCollection({ chain: 'solana' });
    const [mint, listed] = [mintOf('wallet', '1'), mintOf('wallet', '2')];
    await market.load([
      subject.collection(),
      subject.token(mint, { owner }),
      subject.listing(listed, 7, { seller: owner }),
    ]);
    const rows = await market.walk(tokensOf(owner));
    assert.deepEqual(new Set(rows.map((row) => row.mint)), new Set([mint, listed]));
    assert.ok(rows.every((row) => row.collectionId === subject.id && row.contractAddress === null));
    assert.deepEqual(namesOf(await market.walk(listingsOf(owner))), [`solana ${listed}`]);
  });

  test('the listings of a wallet have at most one row for each token: the listing that the service serves for this token', async () => {
    const [seller, other] = [toEvmAddress('lists', 'seller'), toEvmAddress('lists', 'other')];
    const subject = newCollection({ chain: 'ink' });
    await market.load([
      subject.collection(),
      subject.listing('1', 30, { seller }),
      subject.listing('1', 20, { seller, source: 'blur' }),
      subject.order('2', 50, { seller }),
      subject.listing('2', 10, { seller }),
      subject.listing('3', 10, { seller }),
      subject.order('3', 11, { seller: other }),
      subject.listing('4', 10, { seller, expiresAt: new Date(market.now() + HOUR_MS).toISOString() }),
      subject.listing('5', 10, { seller: other }),
    ]);
    const read = async () =>
      (await market.walk(listingsOf(seller, '?limit=1'))).map((row) => [row.tokenId, row.price.raw, row.marketplace]);
    const lasting = [
      ['1', '20', 'blur'],
      ['2', '50', 'MERCAT'],
    ];
    assert.deepEqual(await read(), [...lasting, ['4', '10', 'opensea']]);
    market.advance(HOUR_MS);
    assert.deepEqual(await read(), lasting);
  });

  test('after an import, the tokens of a wallet include the change immediately', async () => {
    const owner = toEvmAddress('changes');
    const subject = newCollection();
    await market.load([subject.collection(), subject.token('1', { owner })]);
    assert.equal((await market.walk(tokensOf(owner))).length, 1);
    await market.load([subject.token('2', { owner }), subject.token('1', { owner: toEvmAddress('elsewhere') })]);
    assert.deepEqual(namesOf(await market.walk(tokensOf(owner))), ['ethereum 2']);
  });

  test('a malformed address and a cursor of another list are rejected', async () => {
    const owner = toEvmAddress('cursors');
    const subject = newCollection();
    await market.load([subject.collection(), ...range(3).map((id) => subject.token(String(id), { owner }))]);
    const { pagination } = await market.ok(tokensOf(owner, '?limit=1'));
    const cursor = `cursor=${pagination.nextCursor}`;
    for (const path of [
      tokensOf('nobody'),
      tokensOf(owner, `?chain=base&${cursor}`),
      tokensOf(toEvmAddress('other'), `?${cursor}`),
      listingsOf(owner, `?${cursor}`),
    ])
      assert.equal((await market.get(path)).status, 400, path);
  });
});
