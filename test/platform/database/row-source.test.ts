// A statement receives rows as one binary array for each column. The tests run on both engines.

import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import type { Database } from '../../../src/platform/database/port.ts';
import type { RowColumns } from '../../../src/platform/database/row-source.ts';
import { haveSameColumns, toRowSource } from '../../../src/platform/database/row-source.ts';
import { forEachEngine } from '../../support/engines/each-engine.ts';

type Sample = {
  name: string | null;
  key: string;
  amount: bigint | null;
  count: number | null;
  index: number | null;
  rate: number | null;
  done: boolean | null;
  at: number | null;
  data: unknown;
};

const COLUMNS: RowColumns<Sample> = {
  name: { text: (row) => row.name },
  key: { uuid: (row) => row.key },
  amount: { numeric: (row) => row.amount },
  count: { bigint: (row) => row.count },
  index: { integer: (row) => row.index },
  rate: { 'double precision': (row) => row.rate },
  done: { boolean: (row) => row.done },
  at: { timestamptz: (row) => row.at },
  data: { jsonb: (row) => row.data },
};

const SAMPLES: readonly Sample[] = [
  {
    name: 'plain',
    key: '00112233445566778899aabbccddeeff',
    amount: 2n ** 256n - 1n,
    count: Number.MAX_SAFE_INTEGER,
    index: 2 ** 31 - 1,
    rate: 0.1,
    done: true,
    at: Date.UTC(2026, 4, 1, 10, 11, 12, 345),
    data: { list: [1, 'two'] },
  },
  {
    // Longer than the space that is reserved for a value, with characters of one to four bytes.
    name: `"quoted", {braces} \\ and 'NULL' é €${'🎨'.repeat(200)}`,
    key: 'FFEEDDCC-BBAA-9988-7766-554433221100',
    amount: 0n,
    count: -(2 ** 40) - 1,
    index: -1,
    rate: -1e300,
    done: false,
    at: 0,
    data: [],
  },
  {
    name: '',
    key: '0'.repeat(32),
    amount: null,
    count: null,
    index: null,
    rate: null,
    done: null,
    at: Date.UTC(9_999, 11, 31, 23, 59, 59, 999),
    data: null,
  },
  { name: null, key: '1'.repeat(32), amount: 7n, count: 0, index: 0, rate: 0, done: true, at: null, data: 'text' },
];

forEachEngine('row sources', (engine) => {
  let db: Database;
  before(async () => {
    db = await engine.open();
  });

  const read = async (rows: readonly Sample[]) => {
    const { sql, params } = toRowSource(rows, COLUMNS, { first: 2, alias: 'given' });
    return db.query(
      `select name, key::text, amount::text, count::text, index, rate, done, data::text,
         extract(epoch from at) * 1000 as at, $1::text as other from ${sql}`,
      ['first', ...params],
    );
  };

  test('the statement receives every value unchanged, including nulls, long texts and times after the year 2285, whose microseconds are not safe integers', async () => {
    const rows = await read(SAMPLES);
    assert.deepEqual(
      rows.map((row) => ({ ...row, at: row['at'] === null ? null : Number(row['at']) })),
      SAMPLES.map(({ key, amount, count, data, ...same }) => ({
        ...same,
        key: key.toLowerCase().replace(/^(\w{8})-?(\w{4})-?(\w{4})-?(\w{4})-?(\w{12})$/, '$1-$2-$3-$4-$5'),
        amount: amount?.toString() ?? null,
        count: count?.toString() ?? null,
        data: data === null ? null : JSON.stringify(data).replaceAll(':', ': ').replaceAll(',', ', '),
        other: 'first',
      })),
    );
  });

  test('from an empty list of rows the statement receives no rows', async () => {
    assert.deepEqual(await read([]), []);
  });

  test('a value that its column cannot hold is an error', async () => {
    const [row] = SAMPLES as [Sample];
    for (const wrong of [
      { key: '0011' },
      { key: 'z'.repeat(32) },
      { count: 2 ** 53 },
      { count: 0.5 },
      { index: 2 ** 31 },
    ]) {
      assert.throws(() => toRowSource([{ ...row, ...wrong }], COLUMNS), RangeError, JSON.stringify(wrong));
    }
  });
});

test('haveSameColumns returns true only if the values of both rows are equal in every column', () => {
  const [first, second] = SAMPLES as [Sample, Sample];
  assert.equal(haveSameColumns(COLUMNS, first, { ...first, data: { list: [1, 'two'] } }), true);
  assert.equal(haveSameColumns(COLUMNS, first, { ...first, data: null }), false);
  assert.equal(haveSameColumns(COLUMNS, first, { ...first, name: second.name }), false);
});
