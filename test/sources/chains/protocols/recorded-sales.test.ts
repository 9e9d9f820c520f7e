// Finds the sale in the logs of each recorded transaction of Ethereum (test/fixtures/protocols/).

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { salesOfTransaction } from '../../../support/chain/protocol-logs.ts';
import type { TransactionOnChain } from '../../../support/chain/protocol-logs.ts';

type Recorded = TransactionOnChain & {
  name: string;
  /** Null or absent when it is not known. */
  block?: number | null;
  orderHash?: string;
  sale: { marketplace: string; contract: string; asset: string; price: string; seller: string | null; buyer: string };
};

const file = new URL('../../../fixtures/protocols/sales.json', import.meta.url);

for (const { name, sale, orderHash, block: _, ...transaction } of JSON.parse(
  readFileSync(file, 'utf8'),
) as Recorded[]) {
  test(`a recorded transaction contains one sale with its price and its parties: ${name}`, () => {
    const sales = salesOfTransaction(transaction);
    assert.deepEqual(
      sales.map(({ facts }) => facts),
      [sale],
    );
    if (orderHash !== undefined) assert.equal(sales[0]?.fill.orderHash, orderHash);
  });
}
