// The id of an order of this service.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Address, AssetId } from '../../../src/platform/core/address.ts';
import { toOrderId } from '../../../src/market/orders/order-id.ts';

test('an order id consists of chain, contract, token id and creation time in milliseconds', () => {
  const contract = `0x${'ab'.repeat(20)}` as Address;
  assert.equal(toOrderId('base', contract, '7' as AssetId, 1_767_225_600_123), `base_${contract}_7_1767225600123`);
  const large = (2n ** 256n - 1n).toString() as AssetId;
  assert.equal(toOrderId('ink', contract, large, 0), `ink_${contract}_${large}_0`);
});
