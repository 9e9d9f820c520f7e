// Tests GET /v1/tokens/{chain}/{address}/{tokenId}.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { toEvmAddress, toLargeTokenId, toSolanaAddress } from '../../../../sample/random.ts';
import type { TestCollection } from '../../../support/service/market.ts';
import {
  DAY_MS,
  HOUR_MS,
  SECOND_MS,
  SELLER,
  SOLANA_SELLER,
  START,
  UINT256_MAX,
  forOneMarket,
  mintOf,
  newCollection,
} from '../../../support/service/market.ts';
import { parseAddress } from '../../../../src/platform/core/address.ts';

const HOLDER = toEvmAddress('holder');
const EVM_VAULT = toEvmAddress('vault');
const SOLANA_VAULT: string = toSolanaAddress('vault');
const ORDER_HASH = `0x${'5e'.repeat(32)}`;
const OTHER_CONTRACT = toEvmAddress('other');

const settings = {
  CUSTODY_WALLETS: `${EVM_VAULT.toUpperCase().replace('0X', '0x')}=The vault, ${SOLANA_VAULT}=Solana vault`,
};
const pathOf = (subject: TestCollection, asset: string) => `/v1/tokens/${subject.chain}/${subject.address}/${asset}`;

forOneMarket('tokens', { settings }, (market) => {
  const read = async (subject: TestCollection, asset: string) => (await market.ok(pathOf(subject, asset))).data;

  test('an EVM token has every field', async () => {
    const subject = newCollection({ chain: 'ink' });
    await market.load([
      subject.collection(),
      subject.token('42', { name: 'Forty-two', image: 'ipfs://x/42.png', rarityRank: 1, owner: HOLDER }),
      subject.order('42', 10n ** 18n),
      subject.sale('42', '7'),
    ]);
    const orderId = `ink_${subject.address}_42_${START - DAY_MS}`;
    assert.deepEqual(await read(subject, '42'), {
      chain: 'ink',
      contractAddress: subject.address,
      tokenId: '42',
      mint: null,
      collectionId: subject.id,
      name: 'Forty-two',
      image: 'ipfs://x/42.png',
      rarity: { rank: 1 },
      owner: { address: SELLER, kind: 'wallet', label: null },
      listing: {
        chain: 'ink',
        contractAddress: subject.address,
        tokenId: '42',
        mint: null,
        collectionId: subject.id,
        price: { raw: '1000000000000000000', decimal: 1, currency: 'ETH', usd: null },
        seller: SELLER,
        buyer: null,
        marketplace: 'MERCAT',
        status: 'active',
        expiresAt: null,
        timestamp: new Date(START - DAY_MS).toISOString(),
        orderId,
        tx: null,
      },
      lastSale: { price: { raw: '7', decimal: 7e-18, currency: 'ETH', usd: null } },
    });
  });

  test('a Solana token has its mint with letter case preserved', async () => {
    const subject = newCollection({ chain: 'solana' });
    const mint = mintOf('token');
    await market.load([subject.collection(), subject.token(mint, { name: 'Minted' })]);
    const token = await read(subject, mint);
    assert.deepEqual(
      [token.chain, token.contractAddress, token.tokenId, token.mint, token.collectionId],
      ['solana', null, null, mint, `solana_${subject.address.toLowerCase()}`],
    );
  });

  test('a mint is not found when the address of its collection has another letter case', async () => {
    const subject = newCollection({ chain: 'solana' });
    const mint = mintOf('cased');
    await market.load([subject.collection(), subject.token(mint), subject.listing(mint, 5)]);
    // Another address that has the same collection id, because an id has the address in lower case.
    const other = Array.from(subject.address)
      .map((_, index, all) => {
        const swapped = all.with(
          index,
          all[index] === all[index]?.toLowerCase()
            ? (all[index]?.toUpperCase() ?? '')
            : (all[index]?.toLowerCase() ?? ''),
        );
        return swapped.join('');
      })
      .find((one) => one !== subject.address && parseAddress('solana', one) !== null);
    assert.ok(other !== undefined);
    assert.equal((await read(subject, mint)).mint, mint);
    assert.equal((await market.get(`/v1/tokens/solana/${other}/${mint}`)).status, 404);
  });

  test('unknown fields are null', async () => {
    const subject = newCollection();
    await market.load([subject.token('1')]);
    assert.deepEqual(await read(subject, '1'), {
      chain: 'ethereum',
      contractAddress: subject.address,
      tokenId: '1',
      mint: null,
      collectionId: subject.id,
      name: null,
      image: null,
      rarity: { rank: null },
      owner: { address: null, kind: 'unknown', label: null },
      listing: null,
      lastSale: null,
    });
  });

  test('an EVM address is accepted in any letter case', async () => {
    const subject = newCollection();
    await market.load([subject.token('1', { name: 'Cased' })]);
    const { data } = await market.ok(`/v1/tokens/ethereum/0x${subject.address.slice(2).toUpperCase()}/1`);
    assert.deepEqual([data.name, data.contractAddress], ['Cased', subject.address]);
  });

  test('token ids of 78 digits are distinguished to the last digit', async () => {
    const subject = newCollection();
    const ids = [toLargeTokenId('a'), UINT256_MAX.toString(), (UINT256_MAX - 1n).toString(), '0'];
    await market.load(ids.map((id) => subject.token(id, { name: `Name of ${id}` })));
    for (const id of ids) {
      const token = await read(subject, id);
      assert.deepEqual([token.tokenId, token.name], [id, `Name of ${id}`]);
    }
  });

  describe('the owner', () => {
    test('the owner is the seller while the token is listed, and the holder after the listing has expired', async () => {
      const subject = newCollection();
      await market.load([
        subject.token('1', { owner: HOLDER }),
        subject.order('1', 5, { expiresAt: market.ago(-SECOND_MS / 2) }),
      ]);
      assert.deepEqual((await read(subject, '1')).owner, { address: SELLER, kind: 'wallet', label: null });
      // The cached response would still be fresh after this time. Only the expiry of the listing makes it out of date.
      market.advance(SECOND_MS / 2);
      const later = await read(subject, '1');
      assert.equal(later.listing, null);
      assert.deepEqual(later.owner, { address: HOLDER, kind: 'wallet', label: null });
    });

    test('the owner has the label of the custody wallet that holds the token, and no address', async () => {
      const evm = newCollection();
      const solana = newCollection({ chain: 'solana' });
      await market.load([evm.token('1', { owner: EVM_VAULT }), solana.token(mintOf('v'), { owner: SOLANA_VAULT })]);
      assert.deepEqual((await read(evm, '1')).owner, { address: null, kind: 'custody', label: 'The vault' });
      const { text } = await market.get(pathOf(solana, mintOf('v')));
      assert.deepEqual(JSON.parse(text).data.owner, { address: null, kind: 'custody', label: 'Solana vault' });
      assert.ok(!text.includes(SOLANA_VAULT));
    });

    test('the owner is the seller when a token in custody is listed', async () => {
      const subject = newCollection({ chain: 'solana' });
      const mint = mintOf('escrowed');
      await market.load([
        subject.token(mint, { owner: SOLANA_VAULT }),
        subject.listing(mint, 5, { source: 'mercat', id: 'escrow-9' }),
      ]);
      const token = await read(subject, mint);
      assert.deepEqual(token.owner, { address: SOLANA_SELLER, kind: 'wallet', label: null });
      assert.deepEqual([token.listing.marketplace, token.listing.orderId], ['MERCAT', 'mercat_escrow-9']);
    });

    test('neither the owner nor the seller of the listing has an address when a marketplace reports the custody wallet as the seller', async () => {
      const subject = newCollection({ chain: 'solana' });
      const mint = mintOf('mistaken');
      await market.load([
        subject.collection(),
        subject.token(mint),
        subject.listing(mint, 5, { seller: SOLANA_VAULT }),
      ]);
      const { text } = await market.get(pathOf(subject, mint));
      const { owner, listing } = JSON.parse(text).data;
      assert.deepEqual(owner, { address: null, kind: 'custody', label: 'Solana vault' });
      assert.deepEqual([listing.seller, listing.price.raw], [null, '5']);
      const listings = await market.get(`/v1/collections/${subject.slug}/listings`);
      assert.deepEqual(listings.body.data, [listing]);
      assert.ok(!text.includes(SOLANA_VAULT) && !listings.text.includes(SOLANA_VAULT));
    });

    test('a custody wallet that is the seller or the buyer of a sale is served as null', async () => {
      const subject = newCollection();
      const [sold, bought] = [
        { seller: EVM_VAULT, buyer: HOLDER },
        { seller: SELLER, buyer: EVM_VAULT },
      ];
      await market.load([
        subject.collection(),
        subject.sale('1', 5, { ...sold, timestamp: market.ago(0) }),
        subject.sale('2', 5, bought),
      ]);
      const { text, body } = await market.get(`/v1/collections/${subject.slug}/sales`);
      assert.deepEqual(
        body.data.map(({ seller, buyer }: any) => [seller, buyer]),
        [
          [null, HOLDER],
          [SELLER, null],
        ],
      );
      assert.ok(!text.includes(EVM_VAULT));
    });

    test('the owner is unknown when neither a seller nor a holder is known', async () => {
      const subject = newCollection();
      await market.load([subject.sale('1', 5)]);
      assert.deepEqual((await read(subject, '1')).owner, { address: null, kind: 'unknown', label: null });
    });
  });

  describe('the listing', () => {
    test('the listing is the cheapest mirrored listing, with its order hash if one is known', async () => {
      const subject = newCollection();
      await market.load([
        subject.listing('1', 30, { id: 'a', orderHash: `0x${'11'.repeat(32)}` }),
        subject.listing('1', 20, { source: 'blur', id: 'b', orderHash: ORDER_HASH.toUpperCase().replace('0X', '0x') }),
        subject.listing('2', 20, { source: 'blur', id: 'c' }),
      ]);
      const { listing } = await read(subject, '1');
      assert.deepEqual([listing.price.raw, listing.marketplace, listing.orderId], ['20', 'blur', ORDER_HASH]);
      assert.equal(
        (await read(subject, '2')).listing.orderId,
        'c',
        'the order id is not the id of the mirrored listing',
      );
    });

    test('the listing has the id of the mirrored listing in a list of listings, and the order hash in the response for its token', async () => {
      const subject = newCollection();
      await market.load([subject.collection(), subject.listing('1', 20, { id: 'mirror-1', orderHash: ORDER_HASH })]);
      const { data } = await market.ok(`${subject.path}/listings`);
      assert.equal(data[0].orderId, 'mirror-1');
      assert.equal((await read(subject, '1')).listing.orderId, ORDER_HASH);
    });

    test('the listing is the cheapest order of the own order book, even when a mirrored listing is cheaper', async () => {
      const subject = newCollection();
      await market.load([
        subject.listing('1', 10, { orderHash: ORDER_HASH }),
        subject.order('1', 90),
        subject.order('1', 80, { createdAt: market.ago(HOUR_MS) }),
      ]);
      const { listing } = await read(subject, '1');
      const orderId = `ethereum_${subject.address}_1_${market.now() - HOUR_MS}`;
      assert.deepEqual([listing.price.raw, listing.marketplace, listing.orderId], ['80', 'MERCAT', orderId]);
    });

    test('the listing is null when every listing has ended, has expired, or has a price of zero', async () => {
      const subject = newCollection();
      await market.load([
        subject.order('1', 5, { status: 'cancelled' }),
        subject.order('1', 5, { createdAt: market.ago(HOUR_MS), expiresAt: market.ago(0) }),
        subject.order('1', 0, { createdAt: market.ago(2 * HOUR_MS) }),
        subject.listing('1', 5, { status: 'filled' }),
        subject.listing('1', 6, { expiresAt: market.ago(SECOND_MS) }),
        subject.listing('1', 0),
      ]);
      assert.equal((await read(subject, '1')).listing, null);
    });

    test('the listing and the owner are up to date in the first request after each import', async () => {
      const subject = newCollection();
      await market.load([subject.token('1', { owner: HOLDER })]);
      assert.equal((await read(subject, '1')).listing, null);
      await market.load([subject.order('1', 5)]);
      assert.equal((await read(subject, '1')).listing.price.raw, '5');
      await market.load([subject.order('1', 5, { status: 'filled' }), subject.token('1', { owner: EVM_VAULT })]);
      const sold = await read(subject, '1');
      assert.deepEqual([sold.listing, sold.owner.kind], [null, 'custody']);
    });
  });

  describe('the last sale', () => {
    test('the last sale has the price of the newest sale and no other field', async () => {
      const subject = newCollection();
      await market.load([
        subject.sale('1', 5, { timestamp: market.ago(3 * HOUR_MS) }),
        subject.sale('1', UINT256_MAX, { timestamp: market.ago(HOUR_MS) }),
        subject.sale('1', 7, { timestamp: market.ago(2 * HOUR_MS) }),
        subject.sale('2', 9, { timestamp: market.ago(0) }),
      ]);
      const { lastSale } = await read(subject, '1');
      assert.deepEqual(Object.keys(lastSale), ['price']);
      assert.equal(lastSale.price.raw, UINT256_MAX.toString());
    });

    test('the last sale is null when the price of the newest sale cannot be interpreted', async () => {
      const subject = newCollection();
      await market.load([
        subject.sale('1', 5, { timestamp: market.ago(2 * HOUR_MS) }),
        subject.sale('1', '6.27e+16', { timestamp: market.ago(HOUR_MS) }),
      ]);
      assert.equal((await read(subject, '1')).lastSale, null);
    });

    test('the last sale has a price of zero when the newest sale was at zero', async () => {
      const subject = newCollection();
      await market.load([subject.sale('1', 0)]);
      assert.equal((await read(subject, '1')).lastSale.price.raw, '0');
    });
  });

  test('an image that is not http, https, ipfs, ar or data:image is served as null', async () => {
    const subject = newCollection();
    const images: [string, string, boolean][] = [
      ['1', 'https://example.org/1.png', true],
      ['2', 'ar://abc', true],
      ['3', 'data:image/png;base64,AA==', true],
      ['4', 'javascript:alert(1)', false],
      ['5', 'data:text/html,<b>', false],
      ['6', '/relative.png', false],
    ];
    await market.load(images.map(([id, image]) => subject.token(id, { image })));
    for (const [id, image, served] of images) {
      assert.equal((await read(subject, id)).image, served ? image : null, image);
    }
  });

  test('a token of which only an own order is known is not found', async () => {
    const subject = newCollection();
    await market.load([subject.collection(), subject.token('1'), subject.order('2', 5)]);
    const solana = newCollection({ chain: 'solana' });
    const paths = [
      pathOf(subject, '2'),
      pathOf(subject, '3'),
      `/v1/tokens/base/${subject.address}/1`,
      `/v1/tokens/ethereum/${OTHER_CONTRACT}/1`,
      pathOf(solana, mintOf('none')),
    ];
    for (const path of paths) {
      const response = await market.get(path);
      assert.equal(response.status, 404, path);
      assert.equal(response.body.error.code, 'not_found');
    }
  });

  test('a token is found when only a listing or a sale of it is known', async () => {
    const subject = newCollection();
    await market.load([subject.listing('1', 5, { status: 'cancelled' }), subject.sale('2', '1.5')]);
    assert.equal((await read(subject, '1')).tokenId, '1');
    assert.equal((await read(subject, '2')).tokenId, '2');
  });

  test('an unknown chain, or an address or token id of a wrong form, is a bad request', async () => {
    const evm = toEvmAddress('any');
    const sol: string = toSolanaAddress('any');
    const wrong: [string, string, string, RegExp][] = [
      ['Ethereum', evm, '1', /chain/],
      ['eth', evm, '1', /chain/],
      ['monad', evm, '1', /chain/],
      ['__proto__', evm, '1', /chain/],
      ['ethereum', evm.slice(0, -1), '1', /address/],
      ['ethereum', `${evm}0`, '1', /address/],
      ['ethereum', evm.slice(2), '1', /address/],
      ['ethereum', `0x${'g'.repeat(40)}`, '1', /address/],
      ['ethereum', sol, '1', /address/],
      ['ethereum', evm, '-1', /tokenId/],
      ['ethereum', evm, '01', /tokenId/],
      ['ethereum', evm, '1.0', /tokenId/],
      ['ethereum', evm, '0x1', /tokenId/],
      ['ethereum', evm, '1e3', /tokenId/],
      ['ethereum', evm, (UINT256_MAX + 1n).toString(), /tokenId/],
      ['ethereum', evm, '9'.repeat(500), /tokenId/],
      ['ethereum', evm, sol, /tokenId/],
      ['ethereum', evm, '%201', /tokenId/],
      ['solana', evm, sol, /address/],
      ['solana', `${sol.slice(0, 31)}0`, sol, /address/],
      ['solana', sol.slice(0, 20), sol, /address/],
      ['solana', sol, '7', /tokenId/],
      ['solana', sol, evm, /tokenId/],
      ['solana', sol, `${sol}1111111111`, /tokenId/],
      ['solana', sol, `${sol.slice(0, -1)}l`, /tokenId/],
    ];
    for (const [chain, address, id, named] of wrong) {
      const response = await market.get(`/v1/tokens/${chain}/${address}/${id}`);
      assert.equal(response.status, 400, `${chain} ${address} ${id} is not a bad request`);
      assert.equal(response.body.error.code, 'bad_request');
      assert.match(response.body.error.message, named);
    }
  });
});
