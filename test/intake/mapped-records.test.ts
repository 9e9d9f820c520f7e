// Tests imports of records that a column map makes, and imports of bundles. A bundle is a sale of several tokens. The tests compare the
// imported records with the stored rows, or with the reasons of the rejections.

import assert from 'node:assert/strict';
import { before, beforeEach, test } from 'node:test';
import type { Database } from '../../src/platform/database/port.ts';
import { parseColumnMap } from '../../src/intake/csv/column-map.ts';
import { parseRequestQuery } from '../../src/intake/import-protocol.ts';
import { forOneEngine } from '../support/engines/each-engine.ts';
import {
  ASSET,
  collection,
  emptyTables,
  EVM,
  ingest,
  MINT,
  runImport,
  sale,
  toContext,
  toNdjson,
} from '../support/service/intake.ts';

const ETHER = 10n ** 18n;

forOneEngine('records of a column map', (engine) => {
  let db: Database;
  before(async () => {
    db = await engine.open();
  });
  beforeEach(() => emptyTables(db));

  const storedPrices = async () => {
    const rows = await db.query('select asset, price, price_raw::text as raw from indexer.sale order by sold_at');
    return rows.map(({ asset, price, raw }) => [asset, price, raw]);
  };

  test('a column map turns JSON objects into records, with exact numbers and nested members', async () => {
    const rows = [
      '{"nft": {"id": 115792089237316195423570985008687907853269984665640564039457584007913129639935}, "eth": 0.1, "at": 1650000000}',
      '{"nft": {"id": 2}, "eth": 1e-18, "at": 1650000001, "more": [1]}',
      '{"nft": {}, "eth": 1, "at": 1650000002}',
      '[1]',
    ];
    const map = parseColumnMap({
      kind: { value: 'sale' },
      source: { value: 'x' },
      chain: { value: 'ethereum' },
      contractAddress: { value: EVM },
      tokenId: 'nft.id',
      price: { column: 'eth', as: 'native-amount' },
      timestamp: { column: 'at', as: 'utc-time' },
    });
    const { summary, refused } = await runImport(toContext(db), rows.join('\n'), { map });
    assert.deepEqual(refused, [
      { line: 3, reason: 'tokenId: is missing' },
      { line: 4, reason: 'not a JSON object: an array' },
    ]);
    assert.equal(summary.read, 4);
    assert.deepEqual(await storedPrices(), [
      [(2n ** 256n - 1n).toString(), (ETHER / 10n).toString(), (ETHER / 10n).toString()],
      ['2', '1', '1'],
    ]);
  });

  test('a sale is stored without a price in base units if its currency is unknown, or is neither the native currency nor its wrapped form', async () => {
    const csv = 'id,price,currency\n1,1.5,ETH\n2,1.5,WETH\n3,7000000,USDC\n4,59,\n5,60,ERC20\n6,61,ETH\n';
    const map = parseColumnMap({
      kind: { value: 'sale' },
      source: { value: 'x' },
      chain: { value: 'ethereum' },
      contractAddress: { value: EVM },
      timestamp: { value: '2026-05-01T10:30:00Z' },
      tokenId: 'id',
      price: { column: 'price', as: 'native-amount', currency: 'currency' },
    });
    const { summary } = await runImport(toContext(db), csv, { format: 'csv', map });
    assert.deepEqual(summary.warnings, {
      otherCurrency: { count: 1, line: 4, value: '7000000 USDC' },
      unknownCurrency: { count: 2, line: 5, value: '59 (unknown currency)' },
    });
    const raw = ((3n * ETHER) / 2n).toString();
    assert.deepEqual(
      (await storedPrices()).toSorted((a, b) => String(a[0]).localeCompare(String(b[0]))),
      [
        ['1', raw, raw],
        ['2', raw, raw],
        ['3', '7000000 USDC', null],
        ['4', '59 (unknown currency)', null],
        ['5', '60 ERC20', null],
        ['6', (61n * ETHER).toString(), (61n * ETHER).toString()],
      ],
    );
  });

  test('a bundle is stored as one sale without a token, and counts once in the volume and the number of sales', async () => {
    await ingest(
      db,
      collection(),
      sale({ tokenId: undefined, tokenIds: ['1', '2', '2'], price: (3n * ETHER).toString() }),
      sale({ tokenId: undefined, tokenIds: ['9'], price: ETHER.toString(), timestamp: '2026-05-02T10:30:00Z' }),
    );
    assert.deepEqual(
      (await storedPrices()).map(([asset]) => asset),
      ['', '9'],
      'the list of one token was not stored as a sale of this token',
    );
    const [total] = await db.query(
      'select sum(sales)::int as sales, sum(volume_raw)::text as volume from indexer.sale_total',
    );
    assert.deepEqual(total, { sales: 2, volume: (4n * ETHER).toString() });
  });

  test('a bundle that is not valid is rejected with the reason', async () => {
    const bundles = [
      { tokenIds: [] },
      { tokenIds: '1' },
      { tokenIds: ['1', 'x'] },
      { tokenIds: ['1', '2'], tokenId: '1' },
      { mints: [ASSET, MINT] },
    ];
    const records = bundles.map((fields) => sale({ tokenId: undefined, ...fields }));
    const { refused } = await runImport(toContext(db), toNdjson(records));
    assert.deepEqual(
      refused.map(({ reason }) => reason),
      [
        'tokenIds: must not be empty',
        'tokenIds: must be an array of strings, not "1"',
        'tokenIds: each element must be a token id from 0 to 2^256-1 in digits, not "x"',
        'tokenIds: must be absent when tokenId is given',
        'mints: is not used on ethereum: give tokenIds instead',
      ],
    );
  });
});

test('a column map with a pattern is accepted only from the operator, because matching a pattern can take very long', () => {
  const map = JSON.stringify({ kind: { value: 'token' }, name: { column: 'n', pattern: '(a+)+$' } });
  const query = { format: 'csv', map };
  assert.ok(parseRequestQuery(query, { allowsPatterns: true }).map);
  assert.throws(
    () => parseRequestQuery(query, { allowsPatterns: false }),
    /"pattern" is available on the command line only/,
  );
});
