// Tests the keys of sales. The database stores these keys. If their encoding changed, every known sale would be inserted a second time.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { toTokenId } from '../../../src/platform/core/address.ts';
import { toSaleKey } from '../../../src/market/index/row-keys.ts';

const SALE = {
  source: 'opensea',
  chain: 'ethereum',
  collectionId: 'ethereum_0x02',
  price: '1',
  priceRaw: 1n,
  seller: null,
  buyer: null,
  soldAt: 0,
  listingId: null,
  tx: '0x01',
  logIndex: 3,
};

test('the key of a sale with a transaction is the key that existing databases have stored', () => {
  assert.equal(toSaleKey({ ...SALE, asset: toTokenId(7n) }), '0722d8b2e7723974790812ccbdb5c01e');
  assert.equal(toSaleKey({ ...SALE, asset: null }), '0742c900ac078aa0a9d577111f1d8f03');
});
