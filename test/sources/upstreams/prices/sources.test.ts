// Responses of the price sources. A price is accepted only for the requested currency, and only while it is not too old.

import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { test } from 'node:test';
import { readCoinbasePrices, readCoingeckoPrices } from '../../../../src/sources/upstreams/prices/prices.ts';
import type { Quotes } from '../../../../src/sources/upstreams/prices/prices.ts';
import { parseFixture, readFixture } from '../../../support/fixtures.ts';
import { createTestUpstream } from '../../../support/replay/every-fault.ts';
import { startSameResponse } from '../../../support/replay/wrong-response.ts';

const IDS = new Map([
  ['ETH', 'ethereum'],
  ['SOL', 'solana'],
]);
const AGE_MAX_MS = 15 * 60_000;

const toRates = ({ quotes, rejected }: Quotes) => [[...quotes].map(([symbol, { usd }]) => [symbol, usd]), rejected];

async function startCoingecko(t: TestContext) {
  const replay = await startSameResponse(t);
  const upstream = createTestUpstream(replay.url);
  return async (response: string, now: number) => {
    replay.give(response);
    return toRates(await readCoingeckoPrices(upstream, IDS, { now, signal: AbortSignal.timeout(30_000) }));
  };
}

test('a spot price of Coinbase is rejected unless it is for the requested currency and in dollars', async (t) => {
  const replay = await startSameResponse(t);
  const read = async () =>
    toRates(await readCoinbasePrices(createTestUpstream(replay.url), ['ETH'], AbortSignal.timeout(30_000)));
  replay.give(readFixture('coinbase/spot.json'));
  assert.deepEqual(await read(), [[['ETH', 2_718.28]], []]);
  const { data } = parseFixture('coinbase/spot.json');
  for (const [more, reason] of [
    [{ base: 'SOL' }, 'base: is another currency'],
    [{ currency: 'EUR' }, 'currency: is not USD'],
  ] as const) {
    replay.give(JSON.stringify({ data: { ...data, ...more } }));
    assert.deepEqual(await read(), [[], [reason]]);
  }
});

test('a price of CoinGecko is rejected when its time is more than a quarter of an hour ago', async (t) => {
  const read = await startCoingecko(t);
  const { ethereum, solana } = parseFixture('coingecko/simple-price.json');
  const at = ethereum.last_updated_at * 1_000;
  const timed = JSON.stringify({ ethereum });
  for (const now of [at + 60_000, at + AGE_MAX_MS]) assert.deepEqual(await read(timed, now), [[['ETH', 2_719.5]], []]);
  assert.deepEqual(await read(timed, at + AGE_MAX_MS + 1), [[], ['ethereum: is too old']]);
  assert.deepEqual(await read(JSON.stringify({ solana }), at + AGE_MAX_MS + 1), [[['SOL', 84.75]], []]);
});

test('a price of CoinGecko whose time is not in seconds since 1970 is rejected', async (t) => {
  const read = await startCoingecko(t);
  const { ethereum } = parseFixture('coingecko/simple-price.json');
  const text = JSON.stringify({ ethereum });
  const seconds = String(ethereum.last_updated_at);
  for (const [time, reason] of [
    [`"${seconds}"`, 'must be a number, not a string'],
    [`${seconds}.5`, 'must be an integer'],
    [`${seconds}000`, 'is not a time in seconds since 1970'],
    ['0', 'is not a time in seconds since 1970'],
  ] as const) {
    const rejected = [[], [`last_updated_at: ${reason}`]];
    assert.deepEqual(await read(text.replace(seconds, time), Number(seconds) * 1_000), rejected, time);
  }
});
