// Tests which records are accepted, which rows they become, and what identifies a row.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { parseRecordLine } from '../../src/intake/records/parse.ts';
import {
  ASSET,
  collection,
  EVM,
  listing,
  MINT,
  NOW,
  order,
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

const MS = Date.UTC(2026, 4, 1);

describe('an accepted record', () => {
  test('an order becomes a row in canonical form', () => {
    const row = rowOf(
      order({ contractAddress: EVM.toUpperCase().replace('0X', '0x'), seller: '0x' + 'AB'.repeat(20) }),
    );
    assert.deepEqual(row, {
      id: `ethereum_${EVM}_1_${MS}`,
      collectionId: `ethereum_${EVM}`,
      chain: 'ethereum',
      contractAddress: EVM,
      tokenId: '1',
      priceRaw: 100n,
      seller: `0x${'ab'.repeat(20)}`,
      status: 'active',
      createdAt: MS,
      expiresAt: null,
      endedAt: null,
      tx: null,
      seaport: null,
      signed: null,
      unverified: null,
    });
  });

  test('a Solana address keeps its case while the collection id is lower case', () => {
    const row = rowOf(token({ chain: 'solana', contractAddress: MINT, tokenId: undefined, mint: ASSET, owner: MINT }));
    assert.equal(row.contractAddress, MINT);
    assert.equal(row.asset, ASSET);
    assert.equal(row.owner, MINT);
    assert.equal(row.collectionId, `solana_${MINT.toLowerCase()}`);
  });

  test('a collection is identified by chain and address, by address, by chain and slug, or by slug', () => {
    assert.equal(rowOf(collection()).id, `ethereum_${EVM}`);
    assert.equal(rowOf(collection({ chain: undefined })).id, EVM);
    assert.equal(rowOf(collection({ contractAddress: undefined })).id, 'ethereum_aa');
    assert.equal(rowOf({ kind: 'collection', slug: 'aa', name: 'A' }).id, 'aa');
  });

  test('null in an optional field means that the field is absent', () => {
    const bare = rowOf(collection());
    const nulls = Object.fromEntries(
      ['image', 'banner', 'description', 'tokenStandard', 'royaltyBps', 'launched', 'createdAt', 'snapshot'].map(
        (name) => [name, null],
      ),
    );
    assert.deepEqual(rowOf(collection(nulls)), bare);
    assert.deepEqual(rowOf(token({ mint: null, name: null })), rowOf(token()));
  });

  test('stats without a time get the time of their import', () => {
    const stats = { kind: 'stats', chain: 'base', contractAddress: EVM, owners: 3 };
    assert.deepEqual([rowOf(stats).at, rowOf(stats).atReported], [NOW, false]);
    const dated = rowOf({ ...stats, at: '2026-05-01T00:00:00Z' });
    assert.deepEqual([dated.at, dated.atReported], [MS, true]);
  });

  test('the price of a sale is kept as the text that was received', () => {
    const line = (price: string) => JSON.stringify(sale({ price: 'X' })).replace('"X"', price);
    for (const [literal, text, raw] of [
      ['"6.27e+16"', '6.27e+16', null],
      ['62700000000000000', '62700000000000000', 62_700_000_000_000_000n],
      ['123456789012345678901234567890', '123456789012345678901234567890', 123456789012345678901234567890n],
      ['6.270e+16', '6.270e+16', null],
      ['1.0', '1.0', null],
      ['-5', '-5', null],
      ['"0x10"', '0x10', null],
    ] as const) {
      const row = rowOf(line(literal));
      assert.deepEqual([row.price, row.priceRaw], [text, raw]);
    }
  });

  test("an own listing on Solana gets the service's name as the prefix of its id", () => {
    const own = {
      source: 'mercat',
      chain: 'solana',
      contractAddress: MINT,
      tokenId: undefined,
      mint: ASSET,
      seller: MINT,
    };
    assert.equal(rowOf(listing({ ...own, id: 'x1' })).id, 'mercat_x1');
    assert.deepEqual(rowOf(listing({ ...own, id: 'mercat_x1' })), rowOf(listing({ ...own, id: 'x1' })));
    assert.match(rowOf(listing({ ...own, id: undefined })).id, /^mercat_[0-9a-f]{32}$/);
    assert.equal(rowOf(sale({ ...own, listingId: 'x1' })).listingId, 'mercat_x1');
    assert.equal(rowOf(sale({ ...own, listingId: 'mercat_x1' })).listingId, 'mercat_x1');
    assert.equal(rowOf(sale({ source: 'mercat', listingId: 'x1' })).listingId, 'x1');
    assert.equal(rowOf(listing({ ...own, source: 'tensor', id: 'x1' })).id, 'x1');
  });

  test('a time with Z or another offset is read with a precision of a millisecond', () => {
    for (const [text, ms] of [
      ['2026-05-01T00:00:00Z', MS],
      ['2026-05-01T02:00+02:00', MS],
      ['2026-04-30T18:30:00.1239-05:30', MS + 123],
      ['1970-01-01T00:00:00Z', 0],
      ['2024-02-29T00:00:00Z', Date.UTC(2024, 1, 29)],
    ] as const) {
      assert.equal(rowOf(sale({ timestamp: text })).soldAt, ms, text);
    }
  });
});

describe('an integer that is not written in its only form', () => {
  const padded = ['007', '00', '01', `0${'9'.repeat(78)}`];

  test('is rejected as the price of a sale if it has leading zeros, because it would be served as another text', () => {
    for (const price of padded) {
      const { record, reason } = parse(sale({ price })) as { record: unknown; reason: string };
      assert.equal(record, null, price);
      assert.match(reason, /^price: must be written without leading zeros, not "0/);
    }
  });

  test('has no price in base units as the price of a sale if it has a sign, blanks or an exponent', () => {
    for (const price of ['+7', '-7', '-0', '+007', ' 7', '7 ', '7\n', ' 007', '7e3', '0x7', '7.0', '007.5']) {
      assert.deepEqual([rowOf(sale({ price })).price, rowOf(sale({ price })).priceRaw], [price, null]);
    }
  });

  test('is rejected as an amount, a number of units, a counter and a token id', () => {
    const location = { chain: 'ethereum', contractAddress: EVM };
    for (const text of [...padded, '+7', '-7', '-0', ' 7', '7 ', '7\n', '7e3', '0x7', '7.0']) {
      const records = [
        order({ priceRaw: text }),
        listing({ priceRaw: text }),
        listing({ buyerTotalRaw: text }),
        listing({ quantity: text }),
        listing({ counter: text }),
        collection({ snapshot: { floorRaw: text } }),
        { kind: 'stats', ...location, floorRaw: text },
        { kind: 'analytics', ...location, floorRaw: text },
        token({ tokenId: text }),
      ];
      for (const record of records) assert.equal(parse(record).record, null, JSON.stringify(record));
    }
    const { reason } = parse(listing({ priceRaw: '007' })) as { reason: string };
    assert.match(reason, /^priceRaw: must be written without leading zeros, not "007"; in a column map, /);
  });
});

describe('the identity of a record', () => {
  const changed = (make: (more: object) => unknown, changes: Record<string, unknown>) =>
    Object.entries(changes).map(([name, value]) => [name, rowOf(make({ [name]: value })).key] as const);
  const other = { chain: 'base', contractAddress: SELLER, tokenId: '2' };

  test('a listing with an id is identified by marketplace and id', () => {
    const { key } = rowOf(listing());
    assert.match(key, /^[0-9a-f]{32}$/);
    for (const [name, found] of changed(listing, {
      priceRaw: '5',
      seller: EVM,
      timestamp: '2020-01-01T00:00:00Z',
      ...other,
    })) {
      assert.equal(found, key, name);
    }
    for (const [name, found] of changed(listing, { source: 'blur', id: 'L2' })) assert.notEqual(found, key, name);
  });

  test('a listing without an id gets an id from its marketplace, token, seller, price and time', () => {
    const bare = (more: object) => listing({ id: undefined, ...more });
    const { key, id } = rowOf(bare({}));
    assert.equal(rowOf(listing({ id })).key, key);
    for (const [name, found] of changed(bare, { expiresAt: '2036-01-01T00:00:00Z', tx: '0x1', buyerTotalRaw: '9' })) {
      assert.equal(found, key, name);
    }
    const changes = { source: 'blur', priceRaw: '5', seller: EVM, timestamp: '2020-01-01T00:00:00Z', ...other };
    for (const [name, found] of changed(bare, changes)) assert.notEqual(found, key, name);
  });

  test('a sale with a transaction is identified by chain, transaction, token and log index', () => {
    const withTx = (more: object) => sale({ tx: '0xAB', logIndex: 1, ...more });
    const same = { tx: '0xab', source: 'blur', price: '7', seller: EVM, buyer: EVM, timestamp: '2020-01-01T00:00:00Z' };
    for (const [name, found] of changed(withTx, same)) assert.equal(found, rowOf(withTx({})).key, name);
    const different = { tx: '0xac', logIndex: 2, ...other };
    for (const [name, found] of changed(withTx, different)) assert.notEqual(found, rowOf(withTx({})).key, name);
    const all = { ...same, logIndex: 2, listingId: 'L9', ...other };
    for (const [name, found] of changed(sale, all)) assert.notEqual(found, rowOf(sale()).key, name);
  });

  test('a transaction hash without its leading zeros is the same transaction', () => {
    const complete = `0x${'00'.repeat(30)}0abc`;
    for (const tx of ['0xabc', '0x0ABC', complete]) {
      assert.equal(rowOf(sale({ tx, logIndex: 1 })).tx, complete);
      assert.equal(rowOf(sale({ tx, logIndex: 1 })).key, rowOf(sale({ tx: complete, logIndex: 1 })).key);
    }
  });

  test('a record gets the same key as in earlier versions, so that its stored row is still found', () => {
    assert.equal(rowOf(listing()).key, '69efbb9de82e2f9466a0c86a1ba76c4e');
    const { key, id } = rowOf(listing({ id: undefined }));
    assert.equal(id, 'opensea_865eb714115b7b250c2f98dc444f8f49');
    assert.equal(key, rowOf(listing({ id: '865eb714115b7b250c2f98dc444f8f49' })).key);
    assert.equal(rowOf(listing({ id })).key, key);
    assert.notEqual(rowOf(listing({ id, priceRaw: '101' })).key, key);
    assert.equal(rowOf(sale()).key, '8ee633ffed2ac50e04c9bce0fbf10f9d');
    assert.equal(rowOf(sale({ tx: `0x${'ab'.repeat(32)}`, logIndex: 1 })).key, '43e6ce8ef8e7d74e55e2d187b029400f');
  });
});
