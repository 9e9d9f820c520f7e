// The conversions of a column map. They turn the text of a cell into the value of a field, or reject the row with a reason.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createChains } from '../../src/platform/core/chains.ts';
import { OperatorError } from '../../src/platform/core/errors.ts';
import { parseColumnMap } from '../../src/intake/csv/column-map.ts';
import { readCsvRows } from '../../src/intake/csv/rows.ts';
import { toChunks } from '../support/service/intake.ts';

/** Converts one row with the columns `a`, `b` and `c` to a raw record. Returns a reason if the row is rejected. */
async function convert(cells: string[], map: Record<string, unknown>): Promise<Record<string, unknown> | string> {
  const quoted = cells.map((cell) => `"${cell.replaceAll('"', '""')}"`).join(',');
  const header = ['a', 'b', 'c'].slice(0, cells.length).join(',');
  const options = { chains: createChains(), map: parseColumnMap({ kind: { value: 'sale' }, ...map }) };
  for await (const rows of readCsvRows(toChunks(`${header}\n${quoted}\n`, 9), options)) {
    for (const row of rows) return row.values === null ? row.reason : { ...row.values };
  }
  throw new Error('no row');
}

/** The value of one field of a sale on a chain, read from the column `a`. If the row is rejected, the reason. */
async function valueOf(field: string, source: object, cells: string | string[], chain = 'ethereum'): Promise<unknown> {
  const map = { chain: { value: chain }, [field]: { column: 'a', ...source } };
  const values = await convert([cells].flat(), map);
  return typeof values === 'string' ? values : values[field];
}

const ETHER = 10n ** 18n;

describe('prices', () => {
  const native = (...as: string[]) => ({ as: [...as, 'native-amount'] });

  test('a native amount may have the sign or symbol of the native currency, wrapped or not', async () => {
    for (const text of ['1.5', '1.5 ETH', '1.5ETH', 'Ξ1.5', 'Ξ 1.5', 'eth 1.5', '1.5 WETH', '15e-1 ETH']) {
      assert.equal(await valueOf('price', native(), text), '1500000000000000000', text);
    }
    assert.equal(await valueOf('price', native(), '1.5 SOL', 'solana'), '1500000000');
    assert.equal(await valueOf('price', native(), '2 MATIC', 'polygon'), (2n * ETHER).toString());
  });

  test('an amount in another currency than the native currency is not converted', async () => {
    for (const text of ['7000000 USDC', '$59', '59 SOL', 'USD 3', '3 €']) {
      assert.equal(await valueOf('price', native(), text), text);
    }
  });

  test('base units may be written with a decimal point or an exponent, as data frames write them', async () => {
    const base = { as: 'base-amount' };
    assert.equal(await valueOf('price', base, '6.27e+16'), '62700000000000000');
    assert.equal(await valueOf('price', base, '8550000000000000.0'), '8550000000000000');
    assert.equal(await valueOf('price', base, '5'), '5');
    assert.equal(await valueOf('price', base, '5.5'), '5.5', 'half a base unit was converted');
  });

  test('a decimal comma is read, and a cell that is not a number with a decimal comma rejects the row', async () => {
    const comma = native('decimal-comma');
    for (const [text, raw] of [
      ['1,5', (3n * ETHER) / 2n],
      ['1.234,5', (2_469n * ETHER) / 2n],
      ["1'234'567,5 ETH", (2_469_135n * ETHER) / 2n],
      ['1 234', 1_234n * ETHER],
      ['1.234', 1_234n * ETHER],
      ['12', 12n * ETHER],
    ] as const) {
      assert.equal(await valueOf('price', comma, text), raw.toString(), text);
    }
    for (const text of ['1.5', '1,234.5', '12.34', '1.2345,0', 'free']) {
      assert.equal(
        await valueOf('price', comma, text),
        `price: ${JSON.stringify(text)} is not a number with a decimal comma`,
      );
    }
  });

  test('commas between thousands are read, and a comma at another place rejects the row', async () => {
    const thousands = native('thousands-comma');
    assert.equal(await valueOf('price', thousands, '1,234,567.5'), ((2_469_135n * ETHER) / 2n).toString());
    assert.equal(await valueOf('price', thousands, '1234.5'), ((2_469n * ETHER) / 2n).toString());
    for (const text of ['1,5', '1,2345', '1.234,5']) {
      assert.match(
        String(await valueOf('price', thousands, text)),
        /^price: ".*" is not a number with commas between thousands$/,
      );
    }
  });

  test('a column with the currency decides whether an amount is converted', async () => {
    const source = { as: 'native-amount', currency: 'b' };
    for (const currency of [
      'ETH',
      'weth',
      ' ETH ',
      '0x0000000000000000000000000000000000000000',
      '0xC02aaA39b223FE8D0A0e5C4F27eAD9083C756Cc2',
    ]) {
      assert.equal(await valueOf('price', source, ['2', currency]), (2n * ETHER).toString(), currency);
    }
    assert.equal(await valueOf('price', source, ['2', 'USDC']), '2 USDC');
    assert.equal(await valueOf('price', source, ['2', '']), '2 (unknown currency)');
    const inUsd = { as: ['thousands-comma', 'native-amount'], currency: { value: 'USD' } };
    assert.equal(await valueOf('price', inUsd, '1,234.5'), '1234.5 USD');
    const base = { as: 'base-amount', currency: 'b' };
    assert.equal(
      await valueOf('price', base, ['7000000', 'USDC']),
      '7000000 USDC',
      'an integer in another currency was converted',
    );
  });

  test('a price for one unit is multiplied by the number of units in another column', async () => {
    const source = { as: 'native-amount', times: 'b' };
    assert.equal(await valueOf('price', source, ['0.1', '3']), ((3n * ETHER) / 10n).toString());
    assert.equal(await valueOf('price', source, ['0.1', '']), (ETHER / 10n).toString());
    assert.equal(await valueOf('price', source, ['0.1', '1.0']), (ETHER / 10n).toString());
    for (const units of ['0', '1.5', 'x']) {
      assert.match(
        String(await valueOf('price', source, ['0.1', units])),
        /^price: the number of units must be an integer from 1, not "/,
      );
    }
    const most = (2n ** 256n - 1n).toString();
    assert.match(
      String(await valueOf('price', { as: 'base-amount', times: 'b' }, [most, '2'])),
      /is more than the largest amount/,
    );
  });
});

describe('texts', () => {
  test('a pattern extracts its first group, and a cell that does not match rejects the row', async () => {
    const source = { pattern: '#(\\d+)' };
    assert.equal(await valueOf('tokenId', source, 'Wolf #706'), '706');
    assert.equal(await valueOf('tokenId', source, 'Wolf'), 'tokenId: "Wolf" does not match the pattern #(\\d+)');
    assert.equal(await valueOf('tokenId', source, ' '), undefined, 'a blank cell has a value');
    assert.equal(
      await valueOf('price', { pattern: '^([\\d.]+) sold', as: 'native-amount' }, '0.5 sold'),
      (ETHER / 2n).toString(),
    );
  });

  test('a map replaces values after the conversions, and other values stay', async () => {
    const source = { as: 'lower', map: { eth: 'ethereum', n: '' } };
    assert.equal(await valueOf('source', source, 'ETH'), 'ethereum');
    assert.equal(await valueOf('source', source, 'Base'), 'base');
    assert.equal(
      await valueOf('source', source, 'N'),
      undefined,
      'an empty text in the map does not make the field absent',
    );
    assert.equal(
      await valueOf('logIndex', { map: { first: '0' } }, 'first'),
      0,
      'the result does not have the type of its field',
    );
  });

  test('lower and slug convert names, and list splits a text into its entries', async () => {
    assert.equal(await valueOf('source', { as: 'lower' }, 'OpenSea'), 'opensea');
    assert.equal(await valueOf('source', { as: 'slug' }, 'Magic Eden'), 'magic-eden');
    for (const text of ['1,2', '1; 2', '["1","2"]', '[1, 2]', '1|2', '1\n2']) {
      assert.deepEqual(await valueOf('tokenIds', { as: 'list' }, text), ['1', '2'], text);
    }
    const long = '115792089237316195423570985008687907853269984665640564039457584007913129639935';
    assert.deepEqual(await valueOf('tokenIds', { as: 'list' }, `[${long}]`), [long], 'an id was rounded');
    assert.match(String(await valueOf('tokenIds', { as: 'list' }, '[1,')), /^tokenIds: .* is not a list of texts$/);
  });
});

describe('a map with a mistake in a conversion is rejected before a row is read', () => {
  for (const [name, source, reason] of [
    ['a pattern without a group', { pattern: '#\\d+' }, /price: the pattern needs a group/],
    ['a pattern that is no expression', { pattern: '(' }, /price: the pattern is not a regular expression: "\("/],
    ['a map that is no object', { map: 'x' }, /price: "map" must be an object/],
    ['a map to a number', { map: { x: 1 } }, /price: "map" must map "x" to a string/],
    ['a currency without an amount', { currency: 'b' }, /price: "currency" and "times" need "as": "native-amount"/],
    [
      'a currency that is neither a column nor a fixed value',
      { as: 'native-amount', currency: { name: 'USD' } },
      /price: the currency must be/,
    ],
    ['the conversion `list` for a field that is not a list', { as: 'list' }, /price: is not a list/],
    ['one unknown conversion of several', { as: ['lower', 'upper'] }, /"as" must be one of .* not "upper"/],
  ] as const) {
    test(name, () => {
      const map = { kind: { value: 'sale' }, price: { column: 'a', ...source } };
      assert.throws(
        () => parseColumnMap(map),
        (error) => error instanceof OperatorError && reason.test(error.message),
      );
    });
  }

  test('a list field needs the conversion `list`, and cannot have the same value for every row', () => {
    const kind = { value: 'sale' };
    assert.throws(() => parseColumnMap({ kind, tokenIds: 'a' }), /tokenIds: a list needs "as": "list"/);
    assert.throws(
      () => parseColumnMap({ kind, tokenIds: { value: '1' } }),
      /tokenIds: a list can be read from a column only/,
    );
  });
});

test('the serial number of a spreadsheet date becomes a time in full seconds, and other texts stay as they are', async () => {
  const source = { as: 'spreadsheet-time' };
  for (const [text, time] of [
    ['44940', '2023-01-14T00:00:00.000Z'],
    ['44940.4404050926', '2023-01-14T10:34:11.000Z'],
    ['44940,5', '2023-01-14T12:00:00.000Z'],
    ['25569', '1970-01-01T00:00:00.000Z'],
    ['9999999', '9999999'],
    ['1673692451', '1673692451'],
    ['2023-01-14', '2023-01-14'],
  ] as const) {
    assert.equal(await valueOf('timestamp', source, text), time, text);
  }
});
