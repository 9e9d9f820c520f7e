// The warnings of an import about its records: repeated slugs, doubtful times and tiny prices. The memory that the slugs use is limited.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { RecordNotes } from '../../src/intake/import-warnings.ts';
import { parseRecord } from '../../src/intake/records/parse.ts';
import {
  ASSET,
  collection,
  EVM,
  listing,
  MINT,
  NOW,
  order,
  product,
  recordContext,
  sale,
} from '../support/service/intake.ts';

const SLUGS_MAX = 200_000;

function parse(fields: Record<string, unknown>) {
  const { record } = parseRecord(recordContext, fields);
  assert.ok(record);
  return record;
}

test('a slug gives a warning if one of the first 200,000 products of the import already has it', () => {
  const notes = new RecordNotes(recordContext.chains, NOW);
  const first = parse(product());
  assert.ok(first.kind === 'product');
  const add = (line: number, slug: string) =>
    notes.add({ line, record: { kind: 'product', row: { ...first.row, slug } } });
  for (let line = 1; line <= SLUGS_MAX + 1; line += 1) add(line, `mug-${line}`);
  assert.deepEqual(notes.warnings, {});
  add(SLUGS_MAX + 2, `mug-${SLUGS_MAX}`);
  add(SLUGS_MAX + 3, `mug-${SLUGS_MAX + 1}`);
  assert.deepEqual(notes.warnings, {
    repeatedSlug: { count: 1, line: SLUGS_MAX + 2, value: `mug-${SLUGS_MAX}` },
  });
});

test('times before 2015 and times more than a day in the future give one warning, which names the first such line', () => {
  const notes = new RecordNotes(recordContext.chains, NOW);
  const at = (ms: number) => new Date(ms).toISOString();
  const tomorrow = NOW + 24 * 60 * 60_000;
  const times = [at(NOW), '2015-01-01T00:00:00Z', at(tomorrow), '2014-12-31T23:59:59.999Z', at(tomorrow + 1)];
  for (const [index, time] of times.entries()) {
    const records = [sale({ timestamp: time }), listing({ timestamp: time }), order({ createdAt: time })];
    for (const fields of records) notes.add({ line: index + 1, record: parse(fields) });
  }
  assert.deepEqual(notes.warnings['doubtfulTime'], { count: 6, line: 4, value: '2014-12-31T23:59:59.999Z' });
});

test('a price below a millionth of the native unit of its chain counts as tiny', () => {
  const notes = new RecordNotes(recordContext.chains, NOW);
  const solana = { chain: 'solana', contractAddress: MINT, tokenId: undefined, mint: ASSET };
  const records = [
    sale({ price: '1000000000000' }),
    sale({ price: '999999999999' }),
    sale({ ...solana, price: '1000' }),
    sale({ ...solana, price: '999' }),
  ];
  for (const [index, fields] of records.entries()) notes.add({ line: index + 1, record: parse(fields) });
  assert.deepEqual(notes.warnings, { tinyPrice: { count: 2, line: 2, value: '999999999999' } });
});

test('a floor or buyer total of 0 gives a warning, and a count or volume of 0 does not', () => {
  const notes = new RecordNotes(recordContext.chains, NOW);
  const location = { chain: 'ethereum', contractAddress: EVM };
  const records = [
    collection({ snapshot: { floorRaw: '0' } }),
    { kind: 'stats', ...location, floorRaw: '0' },
    { kind: 'analytics', ...location, floorRaw: '0' },
    listing({ priceRaw: '1000000000000', buyerTotalRaw: '0' }),
    collection({ snapshot: { volumeAllTime: 0, supply: 0, owners: 0 } }),
    { kind: 'stats', ...location, owners: 0, listedCount: 0, supply: 0 },
    { kind: 'analytics', ...location, volume: { allTime: 0 }, sales: { allTime: 0 } },
  ];
  for (const [index, fields] of records.entries()) notes.add({ line: index + 1, record: parse(fields) });
  assert.deepEqual(notes.warnings, { zeroPrice: { count: 4, line: 1, value: '0' } });
});

test('a buyer total below the price of its listing gives a warning', () => {
  const notes = new RecordNotes(recordContext.chains, NOW);
  const priceRaw = '1000000000000';
  const totals = [priceRaw, '999999999999', '1000000000001', '1', undefined];
  for (const [index, buyerTotalRaw] of totals.entries()) {
    notes.add({ line: index + 1, record: parse(listing({ priceRaw, buyerTotalRaw })) });
  }
  assert.deepEqual(notes.warnings, { lowBuyerTotal: { count: 2, line: 2, value: '999999999999' } });
});

test('the same slug in two shops does not count as repeated', () => {
  const notes = new RecordNotes(recordContext.chains, NOW);
  for (const shop of ['a', 'b', 'a']) notes.add({ line: 1, record: parse(product({ shop })) });
  assert.deepEqual(notes.warnings, { repeatedSlug: { count: 1, line: 1, value: 'mug' } });
});
