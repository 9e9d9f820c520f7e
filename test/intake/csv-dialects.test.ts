// Tests that the dialect of a CSV file is detected from its header, and that files with the same content have the same rows in every dialect.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { describeDialect, detectDialect } from '../../src/intake/csv/dialect.ts';
import { readCells } from '../../src/intake/csv/rows.ts';
import { toChunks } from '../support/service/intake.ts';

async function read(content: string): Promise<(readonly [line: number, cells: string[] | string])[]> {
  const rows: (readonly [number, string[] | string])[] = [];
  for await (const some of readCells(toChunks(content, 3))) {
    rows.push(...some.map((row) => [row.line, row.cells ?? row.reason] as const));
  }
  return rows;
}

const ROWS = [
  [1, ['id', 'name', 'price']],
  [2, ['7', 'Wolf, "old"', '1.5']],
  [3, ['8', 'a b', '2']],
];

const FILES: readonly (readonly [name: string, content: string, description: string[]])[] = [
  ['commas', 'id,name,price\n7,"Wolf, ""old""",1.5\n8,a b,2\n', []],
  ['CRLF', 'id,name,price\r\n7,"Wolf, ""old""",1.5\r\n8,a b,2\r\n', []],
  ['a byte-order mark', '\u{feff}id,name,price\n7,"Wolf, ""old""",1.5\n8,a b,2\n', []],
  ['semicolons', 'id;name;price\n7;"Wolf, ""old""";1.5\n8;a b;2\n', ['cells are separated by semicolons']],
  ['tabs', 'id\tname\tprice\n7\t"Wolf, ""old"""\t1.5\n8\ta b\t2\n', ['cells are separated by tabs']],
  ['vertical bars', 'id|name|price\n7|"Wolf, ""old"""|1.5\n8|a b|2\n', ['cells are separated by vertical bars']],
  ['single quotes', `'id','name','price'\n'7','Wolf, "old"',1.5\n8,a b,2\n`, ['cells are quoted with single quotes']],
  ['CR alone', 'id,name,price\r7,"Wolf, ""old""",1.5\r8,a b,2\r', ['lines end with CR']],
  ['spaces after commas', 'id, name, price\n7, "Wolf, ""old""", 1.5\n8, a b, 2\n', []],
  [
    'quoted column names and semicolons',
    '"id";"name";"price"\n7;"Wolf, ""old""";1.5\n8;a b;2\n',
    ['cells are separated by semicolons'],
  ],
];

for (const [name, content, description] of FILES) {
  test(`a file with ${name} has the same rows as files in other dialects`, async () => {
    assert.deepEqual(await read(content), ROWS);
    assert.deepEqual(describeDialect(detectDialect(Buffer.from(content))), description);
  });
}

test('a quote inside a cell may be written with a backslash', async () => {
  const rows = await read(String.raw`id,name,price
7,"Wolf, \"old\"",1.5
8,"5\"",2
9,"\"a\", b",3
10,"C:\dir\",4
11,"a ""b""",5
12,"\"",6
13,"open,7
14,"plain",8
`);
  assert.deepEqual(
    rows.map(([line, cells]) => [line, Array.isArray(cells) ? cells[1] : /not closed/.test(cells)]),
    [
      [1, 'name'],
      [2, 'Wolf, "old"'],
      [3, '5"'],
      [4, '"a", b'],
      [5, 'C:\\dir\\'],
      [6, 'a "b"'],
      [7, '"'],
      [8, true],
      [9, 'plain'],
    ],
  );
});

test('the first line of a CSV file for Excel may name the delimiter', async () => {
  const rows = ROWS.map(([line, cells]) => [Number(line) + 1, cells]);
  assert.deepEqual(await read('sep=;\r\nid;name;price\r\n7;"Wolf, ""old""";1.5\r\n8;a b;2\r\n'), rows);
});

test('a delimiter inside a quoted column name does not count when the delimiter is detected', () => {
  assert.equal(detectDialect(Buffer.from('"a;b;c;d",e,f\n')).delimiter, ',');
  assert.equal(detectDialect(Buffer.from('only\n1\n')).delimiter, ',');
  assert.equal(detectDialect(Buffer.from('a,b\r1;2;3,4;5;6\r')).delimiter, ',', 'the dialect was decided by the rows');
});

test('an unclosed single quote in a file with semicolons rejects only its own line', async () => {
  const rows = await read(`'a';'b'\n'x;1\n'y';2\n`);
  assert.deepEqual(
    rows.map(([line]) => line),
    [1, 2, 3],
  );
  assert.match(String(rows[1]?.[1]), /^a quote that begins on this line is not closed/);
  assert.deepEqual(rows[2]?.[1], ['y', '2']);
});
