// Gives every reading function of a vendor the response of another operation, or of a collection that was not requested. No
// function may make an incorrect record from this response, or report the response as a complete list.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseAddress } from '../../../src/platform/core/address.ts';
import { createChains } from '../../../src/platform/core/chains.ts';
import { readFixture } from '../../support/fixtures.ts';
import { assertValidRecords, createTestUpstream } from '../../support/replay/every-fault.ts';
import { LANTERNS, LANTERNS_SYMBOL } from '../../support/replay/magic-eden.ts';
import { APES } from '../../support/replay/opensea.ts';
import { createSources, startSameResponse } from '../../support/replay/wrong-response.ts';

const sources = createSources({
  opensea: {
    slug: APES.slug,
    chain: createChains().get('apechain') ?? assert.fail(),
    contractAddress: parseAddress('evm', APES.contract) ?? assert.fail(),
  },
  openseaToken: '2',
  solana: LANTERNS,
  mint: '46hxGu8od1C1vcMr4PR5xCNLkSrQzP1jMQBeNFSFTSH2',
  das: LANTERNS,
  asks: '0x7f57bc32ee0034fa9a41fac7df1d2c0e5782b9ad',
});

/**
 * For each fixture: the only function that makes records from the fixture, and how many records of each kind it makes. Null if no function
 * makes records from the fixture.
 */
const RIGHT: Readonly<Record<string, readonly [source: string, records: object] | null>> = {
  'magic-eden/listings': ['listings', { listing: 2, token: 1 }],
  'magic-eden/activities': ['sales', { sale: 1 }],
  'magic-eden/stats': ['stats', { stats: 1, analytics: 1 }],
  'magic-eden/token': ['token', { token: 1 }],
  'magic-eden/asks': ['asks', { listing: 1 }],
  // The only ask in this file is of another marketplace.
  'magic-eden/asks-v3': null,
  'opensea/contract': ['contract', { contract: 1 }],
  'opensea/collection': ['collection', { collection: 1 }],
  'opensea/stats': ['stats', { stats: 1, analytics: 1 }],
  'opensea/listings': ['listings', { listing: 2 }],
  'opensea/orders-2023': null,
  'opensea/events': ['sales', { sale: 2 }],
  'opensea/nfts': ['tokens', { token: 3 }],
  'opensea/nft': ['token', { token: 1 }],
  'das/assets-by-group': ['collection', { token: 8 }],
  // Two assets in this file belong to the requested collection.
  'das/assets-by-owner': ['collection', { token: 2 }],
  'das/collection': ['asset', { collection: 1 }],
  'das/not-found': null,
};

for (const [file, right] of Object.entries(RIGHT)) {
  const folder = file.split('/', 1)[0] ?? '';
  const vendor = folder === 'das' ? 'helius' : (folder as keyof typeof sources);
  test(`records are made from ${file} only by the function that requests this response`, async (t) => {
    const replay = await startSameResponse(t);
    const text = readFixture(`${file}.json`);
    replay.give(vendor === 'helius' ? JSON.stringify({ ...JSON.parse(text), id: 'mercat' }) : text);
    for (const [source, read] of Object.entries(sources[vendor])) {
      const outcome = await read(createTestUpstream(replay.url), LANTERNS_SYMBOL);
      assertValidRecords(outcome.records.filter(({ kind }) => kind !== 'contract'));
      const isRight = source === right?.[0];
      const counts = Object.groupBy(outcome.records, ({ kind }) => kind);
      const found = Object.fromEntries(Object.entries(counts).map(([kind, records]) => [kind, records?.length]));
      assert.deepEqual(found, isRight ? right[1] : {}, source);
      if (!isRight)
        assert.notEqual(outcome.end?.gap === null, true, `${source} treats the wrong response as a complete list`);
    }
  });
}
