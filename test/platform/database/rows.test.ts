// Rows are decoded column by column. A column that is missing or has an unexpected type causes an error that names the column.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  RowError,
  address,
  amount,
  anyJson,
  assetId,
  boolean,
  bytes,
  column,
  decimal,
  double,
  hex,
  integer,
  json,
  list,
  nullable,
  object,
  oneOf,
  rowDecoder,
  safeInteger,
  text,
  textList,
  textListSql,
  timestamp,
} from '../../../src/platform/database/rows.ts';
import type { Decoder } from '../../../src/platform/database/rows.ts';
import { forEachEngine } from '../../support/engines/each-engine.ts';

const decode = rowDecoder('listing', {
  key: text,
  raw: column('price_raw', amount),
  expiresAt: column('expires_at', nullable(timestamp)),
  status: oneOf(['active', 'filled']),
});
const row = { key: 'k', price_raw: '12', expires_at: null, status: 'active', more: 1 };

test('a row is decoded into the fields that the decoder names', () => {
  const found: { key: string; raw: bigint; expiresAt: number | null; status: 'active' | 'filled' } = decode(row);
  assert.deepEqual(found, { key: 'k', raw: 12n, expiresAt: null, status: 'active' });
});

test('a decoding error names the table or statement, the column and the type found, never the value', () => {
  const failing = (changes: Record<string, unknown>, message: string) =>
    assert.throws(() => decode({ ...row, ...changes }), new RowError(message));
  failing({ key: undefined }, 'listing: column key is missing, expected text');
  failing({ key: null }, 'listing: column key is null, expected text');
  failing({ price_raw: 12 }, 'listing: column price_raw is a number, expected integer as text');
  failing({ expires_at: '2024-01-01' }, 'listing: column expires_at is text, expected timestamp or null');
  failing({ expires_at: undefined }, 'listing: column expires_at is missing, expected timestamp or null');
  failing({ status: 'gone' }, 'listing: column status is text, expected one of active, filled');
  failing({ key: Buffer.from('k') }, 'listing: column key is bytes, expected text');
});

describe('each decoder accepts its own type only', () => {
  const none = undefined;
  const cases: [name: string, decoder: Decoder<unknown>, value: unknown, expected: unknown][] = [
    ['integer', integer, 7, 7],
    ['integer', integer, 7.5, none],
    ['integer', integer, '7', none],
    ['safeInteger', safeInteger, '9007199254740991', 9_007_199_254_740_991],
    ['safeInteger', safeInteger, '9007199254740992', none],
    ['safeInteger', safeInteger, 7, 7],
    ['safeInteger', safeInteger, '', none],
    ['safeInteger', safeInteger, '7.0', none],
    ['amount', amount, '340282366920938463463374607431768211456', 2n ** 128n],
    ['amount', amount, '-1', -1n],
    ['amount', amount, '1.5', none],
    ['amount', amount, '', none],
    ['double', double, 1.5, 1.5],
    ['double', double, '1.5', none],
    ['decimal', decimal, '1700000000000.25', 1_700_000_000_000.25],
    ['decimal', decimal, 2.5, 2.5],
    ['decimal', decimal, 'NaN', none],
    ['boolean', boolean, false, false],
    ['boolean', boolean, 0, none],
    ['timestamp', timestamp, new Date(5), 5],
    ['timestamp', timestamp, Number.POSITIVE_INFINITY, none],
    ['address', address, '0xab', '0xab'],
    ['address', address, '', none],
    ['assetId', assetId, '1', '1'],
    ['assetId', assetId, '', none],
    ['hex', hex, '0xab', '0xab'],
    ['hex', hex, 'ab', none],
    ['anyJson', anyJson, { a: [1] }, { a: [1] }],
    ['anyJson', anyJson, null, null],
    ['list', list(text), ['a', 'b'], ['a', 'b']],
    ['list', list(text), ['a', 1], none],
    ['list', list(text), { length: 0 }, none],
    ['textList', textList(nullable(amount)), '1,null,-3', [1n, null, -3n]],
    ['textList', textList(amount), '', []],
    ['textList', textList(amount), '1,null', none],
    ['textList', textList(amount), ['1'], none],
    ['object', object({ at: integer, hash: column('tx', hex) }), { at: 1, tx: '0x1' }, { at: 1, hash: '0x1' }],
    ['object', object({ at: integer }), { at: '1' }, none],
    ['object', object({ at: integer }), [1], none],
    ['nullable object', nullable(object({ at: integer })), null, null],
    ['json', json('true', (value) => value === true), true, true],
    ['json', json('true', (value) => value === true), false, none],
  ];
  for (const [name, decoder, value, expected] of cases) {
    const shown = typeof value === 'string' ? `'${value}'` : (JSON.stringify(value) ?? 'undefined');
    test(`the decoder ${name} ${expected === none ? 'rejects' : 'accepts'} ${shown} (${typeof value})`, () =>
      assert.deepEqual(decoder.decode(value), expected));
  }
});

const decodeTypes = rowDecoder('types', {
  text,
  boolean,
  integer,
  safeInteger: column('bigint', safeInteger),
  counted: safeInteger,
  amount: column('numeric', amount),
  double,
  decimal: column('fraction', decimal),
  timestamp,
  bytes,
  texts: list(text),
  amounts: textList(nullable(amount)),
  noAmounts: column('no_amounts', textList(amount)),
  object: object({ id: integer, none: nullable(text) }),
  null: nullable(text),
});

forEachEngine('decoders of rows', (engine) => {
  test('the driver returns the types that the decoders expect', async () => {
    const db = await engine.open();
    const [found] =
      await db.query(`select 'a' as text, true as boolean, 7 as integer, 9007199254740991::bigint as bigint,
      (select count(*) from pg_class where false) as counted, 1606938044258990275541962092341162602522202993782792835301376::numeric as numeric,
      1.5::double precision as double, 2.25::numeric as fraction, to_timestamp(5) as timestamp, '\\x01'::bytea as bytes,
      array['a', 'b'] as texts, (select ${textListSql('value')} from unnest(array[1180591620717411303424::numeric, null, -1]) as value) as amounts,
      (select ${textListSql('value')} from unnest(array[]::numeric[]) as value) as no_amounts, json_build_object('id', 1, 'none', null) as object, null::text as null`);
    assert.ok(found);
    assert.deepEqual(decodeTypes(found), {
      text: 'a',
      boolean: true,
      integer: 7,
      safeInteger: 9_007_199_254_740_991,
      counted: 0,
      amount: 2n ** 200n,
      double: 1.5,
      decimal: 2.25,
      timestamp: 5_000,
      bytes: Buffer.from([1]),
      texts: ['a', 'b'],
      amounts: [2n ** 70n, null, -1n],
      noAmounts: [],
      object: { id: 1, none: null },
      null: null,
    });
  });
});
