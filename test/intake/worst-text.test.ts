// Text from outside that makes a conversion or a parser as slow as possible. The time must not grow with the square of the length, and other work of
// the process must run between two rows.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createChains } from '../../src/platform/core/chains.ts';
import { parseColumnMap } from '../../src/intake/csv/column-map.ts';
import type { Conversion } from '../../src/intake/csv/conversions.ts';
import { CONVERSIONS, createConversion } from '../../src/intake/csv/conversions.ts';
import { findInObject, RowReader } from '../../src/intake/csv/row-reader.ts';
import { readCells, readCsvRows } from '../../src/intake/csv/rows.ts';
import { LINE_SIZE_MAX, splitLines } from '../../src/intake/lines.ts';
import { NAME_MAX, RecordRejected, URL_MAX } from '../../src/intake/records/fields.ts';
import { parseObject, parseRecordLine } from '../../src/intake/records/parse.ts';
import { toSlug } from '../../src/shop/products/slug.ts';
import { recordContext, toChunks } from '../support/service/intake.ts';

const MEGABYTE = 2 ** 20;
/**
 * The longest cells of conversions, and longer texts. A text of 64 KiB takes seconds where the time grows with the square of the length. So a failure
 * does not take hours.
 */
const LENGTHS = [NAME_MAX, 2 ** 16, URL_MAX, MEGABYTE];
/** In milliseconds of CPU time. */
const CPU_MAX_MS = 50;
/** The best of so many trials counts, because compilation and garbage collection are part of the CPU time of a trial. */
const TRIALS = 5;

const repeat = (begin: string, part: string, end: string) => (length: number) =>
  begin + part.repeat(Math.floor((length - begin.length - end.length) / part.length)) + end;

/** Texts of a given length. */
const TEXTS: Record<string, (length: number) => string> = {
  'letters between digits': repeat('1', 'x', '1'),
  'spaces between letters': repeat('a', ' ', 'a'),
  'spaces between digits': repeat('1', ' ', '1'),
  'protected spaces': repeat('1', '\u{a0}', '1'),
  apostrophes: repeat('', "'", 'x'),
  digits: repeat('', '1', 'x'),
  commas: repeat('', ',', 'x'),
  points: repeat('1', '.1', 'x'),
  thousands: repeat('1', '.111', 'x'),
  zeros: repeat('1e', '0', ''),
  exponents: repeat('1', 'e1', 'x'),
  'a negative number': repeat('-', '9', ''),
  hyphens: repeat('a', '-', 'a'),
  'hexadecimal digits': repeat('\\x', 'a', 'g'),
  'vertical bars': repeat('', '|', ''),
  'an array of numbers': repeat('[', '1,', '1]'),
  'an array of texts': repeat('["', '","', '"]'),
  'nested arrays': (length) => '['.repeat(length / 2) + ']'.repeat(length / 2),
  'combining marks in the wrong order': (length) => '\u{301}'.repeat(length / 2) + '\u{316}'.repeat(length / 2),
  'a ligature of 18 letters': repeat('', '\u{fdfa}', ''),
  ideographs: repeat('', '漢', ''),
  'half surrogate pairs': repeat('', '\u{d800}', ''),
};

function assertShort(what: string, work: () => void): void {
  let ms = Number.POSITIVE_INFINITY;
  for (let trial = 0; trial < TRIALS && ms > CPU_MAX_MS; trial += 1) ms = Math.min(ms, cpuTimeOf(work));
  assert.ok(ms <= CPU_MAX_MS, `${what} took ${Math.round(ms)} ms of CPU time`);
}

function cpuTimeOf(work: () => void): number {
  const before = process.cpuUsage();
  try {
    work();
  } catch (error) {
    if (!(error instanceof RecordRejected)) throw error;
  }
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
}

describe('the worst text of 1 MiB takes at most 50 ms, so the time is linear in the length', () => {
  const chain = createChains().get('ethereum');
  const conversions: Conversion[] = [...CONVERSIONS, 'date:MM/DD/YY', 'date:D MMM YYYY H:mm:ss.SSS A Z'];
  for (const conversion of conversions) {
    test(`of the conversion ${conversion}`, () => {
      const convert = createConversion(conversion);
      for (const length of LENGTHS) {
        for (const [name, textOf] of Object.entries(TEXTS)) {
          const text = textOf(length);
          assertShort(
            `${length} characters, ${name}`,
            () => void convert(text, { chain, currency: null, times: null }),
          );
          const terms = { chain, currency: text, times: text };
          assertShort(`${name} as a currency`, () => void convert('1.5', terms));
        }
      }
    });
  }

  test('of the slug of a name', () => {
    for (const length of LENGTHS) {
      for (const [name, textOf] of Object.entries(TEXTS)) {
        const text = textOf(length);
        assertShort(`${length} characters, ${name}`, () => void toSlug(text));
      }
    }
  });

  test('of each field of a record', () => {
    for (const [name, textOf] of Object.entries(TEXTS)) {
      const text = textOf(2 ** 16);
      for (const [kind, fields] of Object.entries(FIELDS)) {
        for (const field of Object.keys(fields)) {
          const line = JSON.stringify({ kind, ...fields, [field]: text });
          assertShort(`${name} in ${kind}.${field}`, () => void parseRecordLine(recordContext, line));
        }
      }
    }
  });

  test('of a line with many values, also when a column map reads it in several columns', () => {
    const map = parseColumnMap({
      kind: { value: 'product' },
      name: 'a',
      description: 'a',
      slug: 'a',
      image: 'a',
      moreImages: { column: 'a', as: 'list' },
      collections: { column: 'a', as: 'list' },
    });
    const reader = new RowReader<object>(createChains(), map, findInObject);
    const read = (line: string) => {
      const parsed = parseObject(line);
      if ('object' in parsed) reader.read(parsed.object);
    };
    for (const length of LENGTHS) {
      for (const part of ['1,', '"",', '{},', '[[1]],', '{"a":1},', '"\\\\",']) {
        const line = repeat('{"kind":"product","price":1,"a":[', part, '1]}')(length);
        assertShort(`${part} as a record`, () => void parseRecordLine(recordContext, line));
        assertShort(`${part} with a map`, () => read(line));
      }
      const nested = (depth: number) => `{"kind":"product","a":${'['.repeat(depth)}${']'.repeat(depth)}}`;
      for (const depth of [1_000, 4_000, 9_900, length / 4]) {
        assertShort(`${depth} levels`, () => void parseRecordLine(recordContext, nested(depth)));
        assertShort(`${depth} levels with a map`, () => read(nested(depth)));
      }
    }
  });
});

const ADDRESS = `0x${'1'.repeat(40)}`;
const ASSET = { chain: 'ethereum', contractAddress: ADDRESS, tokenId: '1' };
const FIELDS: Record<string, Record<string, unknown>> = {
  sale: {
    ...ASSET,
    source: 'a',
    price: '1',
    timestamp: '2026-01-01T00:00:00Z',
    seller: ADDRESS,
    tx: '0x1',
    listingId: 'a',
  },
  listing: {
    ...ASSET,
    source: 'a',
    priceRaw: '1',
    timestamp: '2026-01-01T00:00:00Z',
    seller: ADDRESS,
    orderHash: '0x1',
  },
  token: { ...ASSET, name: 'a', image: 'a', owner: ADDRESS, traits: [] },
  collection: { chain: 'ethereum', contractAddress: ADDRESS, slug: 'a', name: 'a', description: 'a', image: 'a' },
  product: { shop: 'a', name: 'a', price: '1', slug: 'a', description: 'a', image: 'https://a.example/a.png' },
  rate: { symbol: 'ETH', usd: 1, at: '2026-01-01T00:00:00Z' },
};

describe('rows', () => {
  const CELLS = { delimiter: ',', quote: '"', spaced: false };

  test('the line break of a quoted row is found after the longest row, and the row is rejected', async () => {
    const rows: [number, boolean][] = [];
    const text = `"${'a'.repeat(LINE_SIZE_MAX + 10)}\n${'b'.repeat(100)}\nc,d\n`;
    for await (const lines of splitLines(toChunks(text, 64 * 1024), { cells: CELLS })) {
      for (const line of lines) rows.push([line.number, line.text === null]);
    }
    assert.deepEqual(rows, [
      [1, true],
      [2, false],
      [3, false],
    ]);
  });

  test('a row with a million cells is rejected within 50 ms, and the rows around it are read', async () => {
    const delimiters = ','.repeat(LINE_SIZE_MAX - 10);
    const read = async (text: string) => (await Array.fromAsync(readCells(toChunks(text, 64 * 1024)))).flat();
    const rows = await read(`a,b\n${delimiters}\n"${delimiters}"\n1,2\n`);
    assert.deepEqual(
      rows.map((row) => row.cells?.length ?? (row.cells === null && row.reason)),
      [2, 'has more than 10000 cells', 'has more than 10000 cells', 2],
    );
    let ms = Number.POSITIVE_INFINITY;
    for (let trial = 0; trial < TRIALS && ms > CPU_MAX_MS; trial += 1) {
      const before = process.cpuUsage();
      await read(`a,b\n${delimiters}\n`);
      const { user, system } = process.cpuUsage(before);
      ms = Math.min(ms, (user + system) / 1_000);
    }
    assert.ok(ms <= CPU_MAX_MS, `${Math.round(ms)} ms`);
  });

  /** Returns how often the event loop served other work while the rows were read. */
  async function countTurns(rows: AsyncIterable<unknown>): Promise<number> {
    let turns = 0;
    let immediate = setImmediate(function turn() {
      turns += 1;
      immediate = setImmediate(turn);
    });
    for await (const _ of rows);
    clearImmediate(immediate);
    return turns;
  }

  const SHAPES = {
    malformed: '"a"b\n',
    'an open quote': '"a\n',
    'a quoted line break': '"\n"x\n',
    'an escaped quote': '"\\"\n',
    blank: '"\n',
    short: 'a,b,c\n',
  };
  for (const [name, row] of Object.entries(SHAPES)) {
    test(`other work runs while many rows are read: ${name}`, async () => {
      const chunk = Buffer.from(`a,b\n${row.repeat(100_000)}`);
      const source = async function* () {
        yield await Promise.resolve(chunk);
      };
      assert.ok((await countTurns(readCells(source()))) >= 2);
      const map = parseColumnMap({ kind: { value: 'sale' }, price: { column: 'a', as: 'native-amount' } });
      assert.ok((await countTurns(readCsvRows(source(), { chains: createChains(), map }))) >= 2);
    });
  }
});
