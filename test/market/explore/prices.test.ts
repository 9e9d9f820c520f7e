// The prices of the explore interface state the decimals of their currency. Those of `/v1` have four fields.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { useSampleService } from '../../support/service/sample-service.ts';

const SOLANA = 'rockpool-wanderers';
const ETHEREUM = 'harbour-lights';
const WALLET = '0x6ea0729f1fb210cc8f48018f6d8102da12f2b41e';

function listPrices(value: unknown): Record<string, unknown>[] {
  if (typeof value !== 'object' || value === null) return [];
  const inner = Object.values(value).flatMap(listPrices);
  return 'raw' in value && 'decimal' in value ? [value, ...inner] : inner;
}

describe('prices', () => {
  const service = useSampleService();

  test('each price of the explore interface has the decimals of its currency', async () => {
    const { data: orders } = await service.ok(`/explore/v1/orders?collection=${ETHEREUM}&limit=1`);
    for (const path of [
      ...['', '?sort=volume&window=7d'].map((query) => `/collections${query}`),
      ...['', '/history?interval=day', '/tokens', '/traits'].flatMap((part) =>
        [ETHEREUM, SOLANA].map((id) => `/collections/${id}${part}`),
      ),
      `/orders?collection=${SOLANA}`,
      `/orders/${orders[0].orderId}`,
      `/activity?collection=${ETHEREUM}`,
      `/wallets/${WALLET}/collections`,
      `/wallets/${WALLET}/listings`,
      `/wallets/${WALLET}/tokens`,
      '/search?q=harbour',
      '/stream/pages/0',
    ]) {
      const prices = listPrices(await service.ok(`/explore/v1${path}`));
      assert.ok(prices.length > 0, path);
      for (const price of prices) assert.equal(price['decimals'], price['currency'] === 'SOL' ? 9 : 18, path);
    }
  });

  test('a price of /v1 has four fields', async () => {
    for (const path of ['', `/${ETHEREUM}`, `/${ETHEREUM}/floor`, `/${ETHEREUM}/listings`, `/${SOLANA}/sales`]) {
      const prices = listPrices(await service.ok(`/v1/collections${path}`));
      assert.ok(prices.length > 0, path);
      for (const price of prices) assert.deepEqual(Object.keys(price), ['raw', 'decimal', 'currency', 'usd'], path);
    }
  });
});
