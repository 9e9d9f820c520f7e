// The audit of a running service reports a collection that it cannot compare.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { auditFillable } from '../../oracle/audit.ts';
import { createEndpoint } from '../../oracle/rpc.ts';
import { createServedApi } from '../../oracle/served.ts';

const NOBODY = 'http://127.0.0.1:9';

test('a collection with more orders than the service returns is reported as too large', async () => {
  const audit = await auditFillable({
    api: createServedApi(NOBODY),
    endpoint: createEndpoint(NOBODY, {}),
    collectionIds: ['ethereum_0x01'],
    readBook: async () => ({
      contract: '0x01',
      standard: 'erc721',
      block: 1,
      hash: '0x02',
      isComplete: false,
      orders: [],
      bids: [],
    }),
    clock: () => 0,
  });
  assert.deepEqual([audit.uncompared, audit.tooLarge, audit.findings], [['ethereum_0x01'], ['ethereum_0x01'], []]);
});
