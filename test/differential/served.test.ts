// Serves the receipts of every protocol through /v1, on each engine, and compares the sales with those of the independent decoder.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { forEachFollowedReceipts } from '../support/chain/followed-receipts.ts';
import { compareSales } from './comparison.ts';
import type { Sale } from './decoder.ts';
import { decodeReceipts } from './decoder.ts';
import { ENCODED_CHAIN } from './receipts/all.ts';

const { blocks, codes, contracts } = ENCODED_CHAIN;
const { sales } = decodeReceipts(blocks.flat(), { codes });

/** Whether the sale is a row of /sales: of one token, for a price in native currency. */
const isRow = ({ tokenId, price }: Sale) => tokenId !== null && /^\d+$/.test(price);
const rows = sales.filter(isRow);
/** A row of /sales has no quantity. */
const withoutUnits = (sale: Sale): Sale => ({ ...sale, units: '' });

forEachFollowedReceipts('receipts of every protocol', ENCODED_CHAIN, (_, readSales) => {
  test('every sale that the independent decoder finds is served with its facts, and no other', async () => {
    const served: Sale[] = [];
    for (const contract of contracts.keys()) {
      for (const { tx, tokenId, price, seller, buyer, marketplace } of await readSales(contract)) {
        served.push({ tx, contract, tokenId, units: '', price: price.raw, seller, buyer, marketplace });
      }
    }
    assert.deepEqual(compareSales(rows.map(withoutUnits), served), { missing: [], extra: [] });
  });
});
