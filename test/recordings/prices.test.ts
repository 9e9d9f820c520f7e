// Tests that a recorded response of a price source becomes a quote.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readCoinbasePrices } from '../../src/sources/upstreams/prices/prices.ts';
import { needsPayloads, readPayload } from '../support/recordings/payloads.ts';
import { createTestUpstream } from '../support/replay/every-fault.ts';
import { startSameResponse } from '../support/replay/wrong-response.ts';

const SPOT = 'coinbase/v2_prices_ETH-USD_spot.json';

test('the recorded response of Coinbase is read as the dollar price of ether', needsPayloads(SPOT), async (t) => {
  const replay = await startSameResponse(t);
  replay.give(readPayload(SPOT));
  const { quotes, rejected } = await readCoinbasePrices(
    createTestUpstream(replay.url),
    ['ETH'],
    AbortSignal.timeout(30_000),
  );
  assert.deepEqual([[...quotes].map(([symbol, { usd }]) => [symbol, usd]), rejected], [[['ETH', 2_723.905]], []]);
});
