// Tests which records are rejected, and with which reasons. Harmful input is rejected or read without damage.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { base58 } from '@scure/base';
import { parseRecordLine } from '../../src/intake/records/parse.ts';
import {
  ASSET,
  collection,
  EVM,
  listing,
  MINT,
  order,
  product,
  recordContext,
  sale,
  SELLER,
  token,
} from '../support/service/intake.ts';

const parse = (record: unknown) =>
  parseRecordLine(recordContext, typeof record === 'string' ? record : JSON.stringify(record));

function rowOf(record: unknown): any {
  const parsed = parse(record);
  assert.ok(parsed.record, parsed.record === null ? parsed.reason : '');
  return parsed.record.row;
}

function reasonOf(record: unknown): string {
  const parsed = parse(record);
  assert.equal(parsed.record, null, `accepted: ${JSON.stringify(record)}`);
  return parsed.record === null ? parsed.reason : '';
}

test('a reason quotes the value that is wrong', () => {
  const wrong: [record: unknown, value: string][] = [
    [product({ price: -1 }), '-1'],
    [product({ inventory: 'many' }), '"many"'],
    [product({ name: '' }), '""'],
    [collection({ name: 'x'.repeat(501) }), `"${'x'.repeat(50)}`],
    [collection({ name: 'a\0b' }), '"a\\u0000b"'],
    [listing({ quantity: '0' }), '"0"'],
    [token({ mint: '5', tokenId: undefined }), '"5"'],
    [listing({ source: 'mercat' }), '"mercat"'],
    [sale({ timestamp: 'June' }), '"June"'],
    [token({ contractAddress: '0x1' }), '"0x1"'],
    ['{"kind":"token" x', '{\\"kind\\":\\"token\\" x'],
  ];
  for (const [record, value] of wrong) assert.ok(reasonOf(record).includes(value), reasonOf(record));
});

test('the reason for a time that is not in ISO 8601 says how a column map declares the pattern of the time', () => {
  assert.match(
    reasonOf(sale({ timestamp: '01/14/22' })),
    /not "01\/14\/22"; in a column map, .* "as": "date:MM\/DD\/YY"/,
  );
});

describe('a rejected record has a reason that names the field', () => {
  const big = (2n ** 256n).toString();
  const cases: [unknown, RegExp][] = [
    ['', /^not JSON/],
    ['{"kind":', /^not JSON/],
    ['[1]', /^not a JSON object: an array/],
    ['null', /^not a JSON object: null/],
    ['"sale"', /^not a JSON object/],
    [{}, /^kind: is missing/],
    [{ kind: 'sales' }, /^kind: must be one of collection, order, .* not "sales"/],
    [{ kind: 1 }, /^kind: must be one of/],
    [{ kind: 'product' }, /^shop: is missing/],
    [{ kind: 'product', shop: 5 }, /^shop: must be a string, not 5$/],
    [{ kind: 'product', shop: 's' }, /^name: is required; price: is required$/],
    [product({ nmae: 'Mug' }), /^nmae: a product record has no such field/],
    [product({ name: '' }), /^name: must be 1 to 160 characters long/],
    [product({ name: 7 }), /^name: must be a string/],
    [product({ price: -1 }), /^price: must be a non-negative decimal/],
    ['{"kind":"product","shop":"s","name":"Mug","price":1e2}', /^price: must be a non-negative decimal/],
    [product({ inventory: 1.5 }), /^inventory: must be an integer/],
    ['{"kind":"product","shop":"s","name":"Mug","price":1,"inventory":1.0}', /^inventory: must be an integer/],
    [product({ moreImages: [5] }), /^moreImages: entry 0 must be a string/],
    [product({ collections: Array.from({ length: 26 }, String) }), /^collections: must have at most 25/],
    [product({ type: null }), /^type: must be one of physical/],
    [`{"kind":"product","a":${'['.repeat(50_000)}${']'.repeat(50_000)}}`, /^has more than 10000 values$/],
    [sale({ tokenId: undefined, tokenIds: Array.from({ length: 9_999 }, String) }), /^has more than 10000 values$/],
    [sale({ prcie: '1' }), /^prcie: a sale record has no such field/],
    [token({ price: '1' }), /^price: a token record has no such field/],
    [collection({ snapshot: { floor: '1' } }), /^snapshot\.floor: a collection record has no such field/],
    [collection({ snapshot: [] }), /^snapshot: must be an object, not an array/],
    [collection({ snapshot: { floorRaw: 1 } }), /^snapshot\.floorRaw: an amount must be a string/],
    [collection({ name: undefined }), /^name: is missing/],
    [collection({ name: '' }), /^name: must not be empty/],
    [collection({ name: 5 }), /^name: must be a string, not 5/],
    [collection({ name: 'x'.repeat(501) }), /^name: has 501 characters, more than 500/],
    [collection({ description: 'x'.repeat(20_001) }), /^description: has 20001/],
    [collection({ image: 'x'.repeat(100_001) }), /^image: has 100001/],
    [collection({ name: 'a\0b' }), /^name: must not contain a NUL/],
    ['{"kind":"collection","slug":"a","name":"\\ud800"}', /^name: must not contain half of a surrogate pair/],
    [collection({ royaltyBps: 10_001 }), /^royaltyBps: must be an integer from 0 to 10000, not 10001/],
    [collection({ royaltyBps: 1.5 }), /^royaltyBps: must be an integer/],
    [collection({ royaltyBps: '100' }), /^royaltyBps: must be an integer .* not "100"/],
    [collection({ launched: 1 }), /^launched: must be true or false, not 1/],
    [collection({ contractAddress: null, slug: null }), /^contractAddress: a collection needs/],
    [collection({ slug: '' }), /^slug: must not be empty/],
    [collection({ slug: 'a/b' }), /^slug: must be one segment/],
    [collection({ slug: '..' }), /^slug: must be one segment/],
    [collection({ slug: 'a\u0007' }), /^slug: must be one segment/],
    [collection({ slug: `ethereum_${EVM}` }), /^slug: must not look like a collection id/],
    [collection({ slug: EVM }), /^slug: must not look like/],
    [
      collection({ chain: 'solana', contractAddress: null, slug: 'l'.repeat(40) }),
      /^slug: must not look like an address/,
    ],
    [collection({ chain: 'Ethereum' }), /^chain: must be one of solana, .* not "Ethereum"/],
    [order({ chain: 'solana' }), /base58/],
    [
      order({ chain: 'solana', contractAddress: MINT }),
      /^chain: orders are for EVM chains only: on solana, import a listing with the source mercat/,
    ],
    [order({ priceRaw: 100 }), /^priceRaw: an amount must be a string of base units, not 100/],
    [order({ priceRaw: '1.5' }), /^priceRaw: must be an integer of base units from 0 to 2\^256-1, not "1.5"/],
    [order({ priceRaw: '-1' }), /^priceRaw: must be an integer/],
    [order({ priceRaw: big }), /^priceRaw: must be an integer/],
    [order({ status: 'sold' }), /^status: must be one of active, filled, cancelled, expired, not "sold"/],
    [order({ seller: undefined }), /^seller: is missing/],
    [order({ seller: '0x12' }), /^seller: must be an EVM address, not "0x12"/],
    [order({ seaport: { parameters: {} } }), /^seaport\.signature: is missing/],
    [order({ seaport: { signature: '0x01' } }), /^seaport\.parameters: is missing/],
    [order({ seaport: { parameters: {}, signature: 'no' } }), /^seaport\.signature: must be 0x/],
    [
      '{"kind":"order","chain":"base","contractAddress":"' +
        EVM +
        '","tokenId":"1","priceRaw":"1","seller":"' +
        SELLER +
        '","createdAt":"2026-05-01T00:00:00Z","seaport":{"signature":"0x01","parameters":{"counter":9007199254740993}}}',
      /^seaport\.parameters\.counter: must be a string, because the number/,
    ],
    [
      order({ seaport: { signature: '0x01', parameters: { a: 'x\0' } } }),
      /^seaport\.parameters\.a: must not contain a NUL/,
    ],
    [
      listing({ source: 'mercat' }),
      /^source: on ethereum, a listing of mercat itself must be a record of the kind order/,
    ],
    [listing({ source: 'Open Sea' }), /^source: must be up to 64 characters/],
    [listing({ source: 'x'.repeat(65) }), /^source: /],
    [listing({ id: 'x'.repeat(501) }), /^id: has 501/],
    [listing({ tokenId: undefined }), /^tokenId: is missing/],
    [listing({ tokenId: 1 }), /^tokenId: must be a string/],
    [listing({ tokenId: '01' }), /^tokenId: must be a token id/],
    [listing({ tokenId: big }), /^tokenId: must be a token id/],
    [listing({ mint: ASSET }), /^mint: is not used on ethereum: give tokenId instead/],
    [token({ chain: 'solana', contractAddress: MINT }), /^tokenId: is not used on solana: give mint instead/],
    [token({ chain: 'solana', contractAddress: MINT, tokenId: undefined, mint: 'O0' }), /^mint: must be a base58/],
    [token({ rarityRank: 0 }), /^rarityRank: must be an integer from 1/],
    [
      '{"kind":"token","chain":"base","contractAddress":"' + EVM + '","tokenId":"1","rarityRank":9007199254740993}',
      /^rarityRank/,
    ],
    [token({ traits: 'Hat: Cap' }), /^traits: must be an array of traits/],
    [token({ traits: ['Cap'] }), /^traits\[0\]: a trait in text needs a name and a colon/],
    [token({ traits: ['Hat: Cap', { name: 'Hat' }] }), /^traits\[1\]: needs a name, and text or a number/],
    [token({ traits: [{ name: 'Hat', value: 'Cap', colour: 'red' }] }), /^traits\[0\]: unknown field colour/],
    [
      token({ traits: [{ name: 'Hat', value: 'Cap', kind: 'hat' }] }),
      /^traits\[0\]\.kind: must be one of text, number, date/,
    ],
    [token({ traits: [{ name: ' ', value: 'Cap' }] }), /^traits\[0\]: name and value must not be empty/],
    [token({ traits: [{ name: 'x'.repeat(101), value: 'Cap' }] }), /^traits\[0\]: the name is longer than 100/],
    [token({ traits: [{ name: 'Hat', value: 'x'.repeat(301) }] }), /^traits\[0\]: the value is longer than 300/],
    [token({ traits: ['a\u0000: b'] }), /^traits\[0\]: has characters that cannot be stored/],
    [token({ traits: Array.from({ length: 101 }, (_, i) => `T${i}: x`) }), /^traits: has 101 traits, more than 100/],
    [
      token({ traits: Array.from({ length: 30 }, (_, i) => `T${i}: ${'x'.repeat(298)}`) }),
      /^traits: has 9020 characters, more than 8192/,
    ],
    [sale({ price: undefined }), /^price: is missing/],
    [sale({ price: true }), /^price: must be a string/],
    [sale({ logIndex: -1 }), /^logIndex: must be an integer from 0 to 2147483647/],
    [sale({ logIndex: 2 ** 31 }), /^logIndex/],
    [{ kind: 'stats', chain: 'base', contractAddress: EVM, owners: -1 }, /^owners: must be an integer/],
    [
      '{"kind":"analytics","chain":"base","contractAddress":"' + EVM + '","volume":{"allTime":1e400}}',
      /^volume\.allTime: must be a number/,
    ],
    [
      { kind: 'analytics', chain: 'base', contractAddress: EVM, sales: { allTime: 1.5 } },
      /^sales\.allTime: must be an integer/,
    ],
    [{ kind: 'rate', symbol: 'ETH', usd: 0, at: '2026-05-01T00:00:00Z' }, /^usd: must be more than 0/],
    [{ kind: 'rate', symbol: 'ETH', usd: '1', at: '2026-05-01T00:00:00Z' }, /^usd: must be a number/],
    [{ kind: 'rate', symbol: 'eth', usd: 1, at: '2026-05-01T00:00:00Z' }, /^symbol: must be the currency of a chain/],
    [{ kind: 'rate', symbol: 'ETH', usd: 1 }, /^at: is missing/],
  ];
  for (const [record, reason] of cases) {
    test(`a record is rejected with the reason ${reason.source}`, () => assert.match(reasonOf(record), reason));
  }

  test('a transaction id that does not have the form of its chain is rejected', () => {
    const signature = base58.encode(new Uint8Array(64).fill(255));
    assert.equal(rowOf(sale({ tx: '0xAB' })).tx, `0x${'ab'.padStart(64, '0')}`);
    assert.equal(rowOf(sale({ tx: `0x${'F'.repeat(64)}` })).tx, `0x${'f'.repeat(64)}`);
    for (const record of [sale, listing, order]) {
      for (const tx of ['hello', '', 'ab', '0x', '0xg', `0x${'f'.repeat(65)}`, signature, ` 0xab`]) {
        assert.match(reasonOf(record({ tx })), /^tx: must (be a transaction hash|not be empty)/);
      }
    }
    const onSolana = (tx: string) =>
      sale({ chain: 'solana', contractAddress: MINT, tokenId: null, mint: MINT, seller: MINT, buyer: MINT, tx });
    assert.equal(rowOf(onSolana(signature)).tx, signature);
    const ones = base58.encode(new Uint8Array(64));
    assert.equal(rowOf(onSolana(ones)).tx, ones);
    for (const bytes of [63, 65, 32]) {
      assert.match(reasonOf(onSolana(base58.encode(new Uint8Array(bytes).fill(255)))), /^tx: must be a signature/);
    }
    for (const tx of ['hello', '0xab', `${signature.slice(1)}0`, `${signature} `]) {
      assert.match(reasonOf(onSolana(tx)), /^tx: must be a signature/);
    }
  });

  test('a time without an offset, with a date that does not exist, or out of range is rejected', () => {
    for (const timestamp of [
      '2026-05-01T00:00:00',
      '2026-05-01 00:00:00Z',
      '2026-05-01',
      '2026-02-30T00:00:00Z',
      '2026-13-01T00:00:00Z',
      '2026-05-01T24:00:00Z',
      '2026-05-01T00:00:60Z',
      '2026-05-01T00:00:00+25:00',
      '2026-05-01T00:00:00+00:60',
      '1969-12-31T23:59:59Z',
      '9999-12-31T23:59:59-01:00',
      'yesterday',
      1_700_000_000,
    ]) {
      assert.match(reasonOf(sale({ timestamp })), /^timestamp: must be an ISO 8601 time/, String(timestamp));
    }
  });
});

describe('harmful input', () => {
  test('fields named like properties of objects are rejected as unknown, and change no prototype', () => {
    for (const name of ['__proto__', 'constructor', 'toString', 'hasOwnProperty']) {
      const line = JSON.stringify(token()).replace('{', `{"${name}":{"polluted":"1"},`);
      assert.match(reasonOf(line), new RegExp(`^${name}: a token record has no such field`));
    }
    assert.match(reasonOf('{"kind":"__proto__"}'), /^kind: must be one of/);
    assert.match(
      reasonOf(collection({ snapshot: JSON.parse('{"__proto__":{"floorRaw":"1"}}') })),
      /^snapshot\.__proto__/,
    );
    assert.equal(({} as Record<string, unknown>)['polluted'], undefined);
  });

  test('when a key appears twice, the last of its values is used', () => {
    const line = JSON.stringify(sale()).replace('"price":"100"', '"price":"x","price":1.50');
    assert.equal(rowOf(line).price, '1.50');
  });

  test('deep nesting and long names are rejected with a short reason', () => {
    const deep = `${'['.repeat(9_000)}${']'.repeat(9_000)}`;
    const line = JSON.stringify(order({ seaport: { parameters: { a: 'X' }, signature: '0x01' } })).replace('"X"', deep);
    assert.match(reasonOf(line), /nested more than 16 levels deep/);
    assert.match(
      reasonOf(JSON.stringify(token({ name: 'X' })).replace('"X"', deep)),
      /^name: must be a string, not an array/,
    );
    assert.ok(reasonOf({ kind: 'token', ['x'.repeat(900_000)]: 1 }).length < 600);
  });

  test('any text and any JSON value is parsed to a record or a reason, without an exception', () => {
    fc.assert(fc.property(fc.string({ unit: 'binary' }), (text) => void parse(text)));
    const kinds = ['collection', 'order', 'listing', 'sale', 'token', 'stats', 'analytics', 'rate', 'product'];
    const names = [
      'chain',
      'contractAddress',
      'tokenId',
      'mint',
      'price',
      'priceRaw',
      'snapshot',
      'seaport',
      'timestamp',
    ];
    const record = fc.tuple(fc.constantFrom(...kinds), fc.dictionary(fc.constantFrom(...names), fc.jsonValue()));
    fc.assert(fc.property(record, ([kind, fields]) => void parse({ ...fields, kind })));
  });
});
