// OpenSea's tokens become records, and the walk over them leaves budget to other requests.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { walkOpenSeaListings } from '../../../../src/sources/upstreams/opensea/listings.ts';
import { readOpenSeaToken, walkOpenSeaTokens } from '../../../../src/sources/upstreams/opensea/tokens.ts';
import { ProcessBudget } from '../../../../src/sources/upstreams/budget.ts';
import { APES, makeAddress } from '../../../support/replay/opensea.ts';
import { assetOf, apes, start, walk, assertTaken, makeMarket } from './opensea-market.ts';

test('reading all tokens of a contract gives one record for each token', async (t) => {
  const { upstream } = await start(t, [makeMarket()]);
  const { records } = await readOpenSeaToken(upstream, apes, assetOf('7'));
  assert.deepEqual(records, [
    {
      kind: 'token',
      chain: 'apechain',
      contractAddress: APES.contract,
      tokenId: '7',
      name: 'Thing #7',
      image: 'https://pictures.example/7.png',
      rarityRank: 12,
      owner: makeAddress(3),
    },
  ]);
  const all = await walk(walkOpenSeaTokens(upstream, apes));
  assert.deepEqual(all.end, { gap: null, pages: 3, rows: 450 });
  assert.deepEqual(new Set(all.records.map((record) => record['tokenId'])).size, 450);
  assertTaken([...records, ...all.records]);
  await assert.rejects(readOpenSeaToken(upstream, apes, assetOf('999999')), { reason: 'not-found' });
});

test('the walk over all tokens uses at most half of the requests that the budget allows at once', async (t) => {
  const { connect, replay } = await start(t, [makeMarket()]);
  const upstream = connect(5_000, new ProcessBudget({ perHour: 40, clock: () => 0 }));
  const tokens = walkOpenSeaTokens(upstream, apes, { signal: AbortSignal.timeout(300) });
  await assert.rejects(walk(tokens), { reason: 'aborted' });
  assert.equal(replay.count(), 2, 'the walk did not send exactly two of the four requests of the burst');
  const book = walkOpenSeaListings(upstream, apes, { signal: AbortSignal.timeout(300) });
  await assert.rejects(walk(book), { reason: 'over-budget' });
  assert.equal(replay.count(/listings/), 2);
});
