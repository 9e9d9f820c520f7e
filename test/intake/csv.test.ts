// CSV files with a column map are read as records. Rejected rows are reported with their line and reason.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createChains } from '../../src/platform/core/chains.ts';
import { OperatorError } from '../../src/platform/core/errors.ts';
import { parseColumnMap } from '../../src/intake/csv/column-map.ts';
import { readCsvRows } from '../../src/intake/csv/rows.ts';
import { toChunks } from '../support/service/intake.ts';

type Read = { line: number; values: unknown; reason?: string };

async function read(csv: string | Uint8Array, map: unknown, chunkSize = 5): Promise<Read[]> {
  const rows: Read[] = [];
  const options = { chains: createChains(), map: parseColumnMap(map) };
  for await (const some of readCsvRows(toChunks(csv, chunkSize), options)) {
    for (const { size: _size, lines: _lines, ...row } of some)
      rows.push({ ...row, values: row.values && withPrototype(row.values) });
  }
  return rows;
}

/** Raw records have no prototype. A copy with a prototype can be compared with an object literal. */
const withPrototype = (values: Record<string, unknown>) => JSON.parse(JSON.stringify(values)) as unknown;

const one = async (csv: string, map: unknown) => (await read(csv, map))[0];

describe('a column map', () => {
  test('a column map reads a field from a column or sets it to one value', async () => {
    const rows = await read('id,title,floor,n\n7, A b ,100,\n8,,  ,5\n', {
      kind: { value: 'collection' },
      chain: { value: 'ethereum' },
      launched: { value: true },
      slug: 'id',
      name: 'title',
      'snapshot.floorRaw': 'floor',
      'snapshot.supply': { column: 'n' },
    });
    const constants = { kind: 'collection', chain: 'ethereum', launched: true };
    assert.deepEqual(rows, [
      { line: 2, values: { ...constants, slug: '7', name: ' A b ', snapshot: { floorRaw: '100' } } },
      { line: 3, values: { ...constants, slug: '8', snapshot: { supply: 5 } } },
    ]);
  });

  test('cells are converted to the types of their fields', async () => {
    const map = {
      kind: { value: 'sale' },
      chain: 'chain',
      price: { column: 'price', as: 'native-amount' },
      seller: { column: 'seller', as: 'bytea' },
      timestamp: { column: 'time', as: 'utc-time' },
      logIndex: { column: 'index', as: 'number' },
    };
    const values = async (...cells: string[]) =>
      (await one(`price,chain,seller,time,index\n${cells.join(',')}\n`, map))?.values;
    assert.deepEqual(await values('0.01', 'ethereum', '\\xAb01', '2017-06-23 21:06:32', '3'), {
      kind: 'sale',
      chain: 'ethereum',
      seller: '0xAb01',
      timestamp: '2017-06-23T21:06:32Z',
      logIndex: 3,
      price: '10000000000000000',
    });
    assert.deepEqual(await values('1.5', 'solana', '0x12', '1498252000', '3.5'), {
      kind: 'sale',
      chain: 'solana',
      seller: '0x12',
      timestamp: '2017-06-23T21:06:40.000Z',
      logIndex: 3.5,
      price: '1500000000',
    });
    for (const kept of ['1e-10', '0.0000000001', 'n/a', '-1', '1.5 USDC']) {
      assert.equal(((await values(kept, 'solana', '', '', '')) as { price: string }).price, kept);
    }
    for (const [text, time] of [
      ['1498252000123', '2017-06-23T21:06:40.123Z'],
      ['2022-06-23T21:06:32.5', '2022-06-23T21:06:32.5Z'],
      ['2022-06-23 21:06:32 UTC', '2022-06-23T21:06:32Z'],
      ['2022-06-23 21:06:32+00', '2022-06-23T21:06:32Z'],
      ['2022-06-23T21:06:32+02:00', '2022-06-23T21:06:32+02:00'],
      ['2022-01-14', '2022-01-14T00:00:00Z'],
      ['2022-02-10 22:44', '2022-02-10T22:44Z'],
      ['2022-01-14 10:34:00+02:00', '2022-01-14T10:34:00+02:00'],
      ['2022-01-14 10:34:00 -0530', '2022-01-14T10:34:00-05:30'],
      ['1498252000.25', '2017-06-23T21:06:40.250Z'],
      ['1498252000123.7', '2017-06-23T21:06:40.124Z'],
      ['1498252000123456', '2017-06-23T21:06:40.123Z'],
      ['June', 'June'],
    ]) {
      assert.equal(((await values('', '', '', text ?? '', '')) as { timestamp: string }).timestamp, time);
    }
  });

  test('times are read by the pattern in the map, and as UTC unless the pattern has an offset', async () => {
    const timeOf = async (as: string, text: string) => {
      const map = { kind: { value: 'sale' }, timestamp: { column: 't', as } };
      const row = await one(`t\n"${text}"\n`, map);
      return (row?.values as { timestamp: string } | undefined)?.timestamp;
    };
    for (const [pattern, text, time] of [
      ['MM/DD/YY', '01/14/22', '2022-01-14T00:00:00Z'],
      ['DD/MM/YYYY', '01/02/2022', '2022-02-01T00:00:00Z'],
      ['D.M.YYYY HH:mm', '3.4.2021 09:15', '2021-04-03T09:15:00Z'],
      ['MMM D, YYYY H:mm:ss A', 'Jan 5, 2023 12:01:02 AM', '2023-01-05T00:01:02Z'],
      ['YYYYMMDDTHHmmss.SSSZ', '20230105T040506.123+0200', '2023-01-05T04:05:06.123+02:00'],
      ['MM/DD/YY', '14/01/2022', '14/01/2022'],
      ['DD.MM.YYYY', '01x02x2022', '01x02x2022'],
    ] as const) {
      assert.equal(await timeOf(`date:${pattern}`, text), time);
    }
  });

  test('a row is rejected if its native amount is an integer above the largest amount', async () => {
    const map = { kind: { value: 'sale' }, chain: { value: 'ethereum' }, price: { column: 'p', as: 'native-amount' } };
    const row = await one(`p\n1${'0'.repeat(70)}\n`, map);
    assert.equal(row?.values, null);
    assert.match(row?.reason ?? '', /^price: .* ETH is more than the largest amount/);
  });

  const wrong: [string, unknown, RegExp][] = [
    ['not an object', [], /must be an object of fields/],
    ['no kind', { tokenId: 'id' }, /kind: is missing/],
    ['an unknown kind', { kind: { value: 'sales' } }, /kind: must be one of collection, .* not "sales"/],
    ['an unknown field', { kind: { value: 'sale' }, prise: 'p' }, /prise: a sale record has no such field/],
    ['a field that no kind has', { kind: 'k', prise: 'p' }, /prise: no kind of record has such a field/],
    [
      'a field with the name toString',
      { kind: { value: 'sale' }, toString: 'p' },
      /toString: a sale record has no such field/,
    ],
    ['an object field', { kind: { value: 'order' }, 'seaport.parameters': 'p' }, /has no such field/],
    [
      'an unknown conversion',
      { kind: 'k', price: { column: 'p', as: 'wei' } },
      /price: "as" must be one of native-amount/,
    ],
    [
      'a pattern of a time without a day',
      { kind: { value: 'sale' }, timestamp: { column: 't', as: 'date:MM/YYYY' } },
      /timestamp: the pattern of a time needs a year .* "date:MM\/DD\/YY"; it is "date:MM\/YYYY"/,
    ],
    ['both column and value', { kind: 'k', price: { column: 'p', value: '1' } }, /price: needs either/],
    ['neither column nor value', { kind: 'k', price: {} }, /price: needs either/],
    ['a misspelt key', { kind: 'k', price: { columm: 'p' } }, /"columm" is not one of/],
    ['a nested value', { kind: 'k', price: { value: [] } }, /price: the value must be/],
  ];
  for (const [name, map, reason] of wrong) {
    test(`a column map is rejected with an error that names the mistake: ${name}`, () => {
      const isExpected = (error: unknown) =>
        error instanceof OperatorError && error.exitCode === 2 && reason.test(error.message);
      assert.throws(() => parseColumnMap(map), isExpected);
    });
  }

  test('a column map is rejected if a column that the map names is missing from the file or is in the file twice', async () => {
    const map = { kind: { value: 'sale' }, price: 'p' };
    await assert.rejects(
      read('q,r\n1,2\n', map),
      /takes price from the column "p", which the file does not have; the columns of the file are "q", "r"/,
    );
    await assert.rejects(read('p,p\n1,2\n', map), /which the file has twice/);
    await assert.rejects(read(Buffer.from([0xff, 0x0a]), map), /cannot be read as a header/);
    assert.deepEqual(await read('', map), []);
  });
});

describe('rows', () => {
  const map = { kind: { value: 'token' }, name: 'name', tokenId: 'id' };
  const lines = (rows: Read[]) => rows.map((row) => [row.line, row.reason ?? (row.values as { name: string }).name]);

  test('a row has the number of the line on which it begins in the file', async () => {
    const csv = '\u{feff}name,id\r\n"two\r\nlines",1\r\n\r\n"say ""hi""",2\r\nplain,3';
    for (const chunkSize of [1, 5, 1000]) {
      assert.deepEqual(lines(await read(csv, map, chunkSize)), [
        [2, 'two\r\nlines'],
        [5, 'say "hi"'],
        [6, 'plain'],
      ]);
    }
  });

  test('malformed rows are rejected, and the rows around them are read', async () => {
    const csv = Buffer.concat([
      Buffer.from('name,id\na,1\nb,2,3\nc\n5" d,4\n"e"x,5\n'),
      Buffer.from([0xff, 0x2c, 0x31, 0x0a]),
      Buffer.from('f,6\n"open,7\ng,8\n'),
    ]);
    const found = lines(await read(csv, map, 1000));
    assert.deepEqual(
      found.map(([line]) => line),
      [2, 3, 4, 5, 6, 7, 8, 9, 10],
    );
    assert.deepEqual([found[0]?.[1], found[6]?.[1]], ['a', 'f']);
    const reasons = [/has 3 cells, but the header has 2/, /has 1 cell, but/, /^not CSV: Invalid Opening Quote/];
    reasons.push(/^not CSV: Invalid Closing Quote/, /^not UTF-8/);
    for (const [index, reason] of reasons.entries()) assert.match(String(found[index + 1]?.[1]), reason);
    assert.match(String(found[7]?.[1]), /^a quote that begins on this line is not closed \("\\"open,7"\)/);
    assert.equal(found[8]?.[1], 'g');
  });

  test('the reason for the rejection of a row of several lines names all lines of the row', async () => {
    const rows = await read('name,id\n"a\nb\nc",1,2\nd,3\n', map);
    assert.deepEqual(lines(rows)[0], [2, 'lines 2 to 4: has 3 cells, but the header has 2 ("a\\nb\\nc,1,2")']);
    assert.deepEqual(lines(rows)[1], [5, 'd']);
  });

  test('a column with the name __proto__ is read like any other column', async () => {
    const rows = await read('__proto__,id\nx,1\n', { kind: { value: 'token' }, name: '__proto__', tokenId: 'id' });
    assert.deepEqual(rows, [{ line: 2, values: { kind: 'token', name: 'x', tokenId: '1' } }]);
  });
});
