// Magic Eden's pools become bids: what a row is converted to, and why it is rejected.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseMagicEdenPools } from '../../../../src/sources/upstreams/magic-eden/pools.ts';
import { parseExactJson } from '../../../../src/sources/upstreams/exact-json.ts';
import { readFixture } from '../../../support/fixtures.ts';
import { assertValidRecords } from '../../../support/replay/every-fault.ts';
import { LANTERNS, LANTERNS_SYMBOL } from '../../../support/replay/magic-eden.ts';

const collection = { symbol: LANTERNS_SYMBOL, contractAddress: LANTERNS };
const { results: rows } = parseExactJson(Buffer.from(readFixture('magic-eden/pools.json'))) as {
  results: Record<string, unknown>[];
};
const parse = (more: object) => parseMagicEdenPools([{ ...rows[0], ...more }], collection);

test('a pool that buys is a bid for any token, or for the tokens with its traits', () => {
  const { records, rejected, skipped } = parseMagicEdenPools(rows, collection);
  assertValidRecords(records);
  assert.deepEqual(rejected, []);
  assert.equal(skipped, 1, 'a pool that only sells is no bid');
  assert.deepEqual(
    records.map(({ priceRaw, proceedsRaw, quantity, expiresAt, traits }) => [
      priceRaw,
      proceedsRaw,
      quantity,
      expiresAt,
      traits,
    ]),
    [
      ['1200000000', '1140000000', '3', undefined, undefined],
      // With a curve, only the next token is bought at the price.
      ['1200000000', '1122000000', '1', '2026-09-21T14:13:20.000Z', undefined],
      ['1200000000', '1140000000', '1', undefined, [{ name: 'Paper', value: 'Blue' }]],
    ],
  );
  assert.deepEqual(
    [records[0]?.['buyer'], records[0]?.['id'], records[0]?.['timestamp']],
    [rows[0]?.['poolOwner'], rows[0]?.['poolKey'], '2026-05-10T06:37:11.823Z'],
  );
});

test('a pool of another collection and a malformed pool are rejected with the field', () => {
  for (const [more, reason] of [
    [{ collectionSymbol: 'other' }, 'collectionSymbol: belongs to another collection'],
    [{ spotPrice: rows[0]?.['curveDelta'] }, 'spotPrice: is 0'],
    [{ poolKey: 'x' }, 'poolKey: is not an address of the family solana'],
    [{ updatedAt: 'yesterday' }, 'updatedAt: is not a time'],
    [{ attributes: [[]] }, 'attributes: is not a list of traits'],
  ] as const) {
    const { records, rejected } = parse(more);
    assert.deepEqual([records, rejected], [[], [reason]]);
  }
  const trait = [{ trait_type: 'Paper', value: 'Blue' }];
  assert.deepEqual(parse({ attributes: [trait, trait] }).unsupported, ['attributes: has several alternatives']);
});
