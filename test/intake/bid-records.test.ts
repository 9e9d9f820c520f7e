// Tests which records of bids are accepted, which rows they become, and why others are rejected.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Address } from '../../src/platform/core/address.ts';
import { createChains } from '../../src/platform/core/chains.ts';
import { ZERO_ADDRESS } from '../../src/platform/core/evm.ts';
import { parseRecordLine } from '../../src/intake/records/parse.ts';
import { sideOf } from '../../src/market/orders/order-id.ts';
import { ASSET, bid, EVM, MINT, recordContext, SELLER } from '../support/service/intake.ts';

const parse = (record: object) => parseRecordLine(recordContext, JSON.stringify(record));

function rowOf(record: object): any {
  const parsed = parse(record);
  assert.ok(parsed.record, parsed.record === null ? parsed.reason : '');
  return parsed.record.row;
}

describe('a record of a bid', () => {
  test('becomes a row with the price, the proceeds and the bidder', () => {
    const row = rowOf(bid({ orderHash: '0xAB', quantity: '3', remaining: '2', expiresAt: '2026-07-01T00:00:00Z' }));
    assert.deepEqual(row, {
      id: `ethereum_${EVM}_bid_opensea:B1`,
      source: 'opensea',
      chain: 'ethereum',
      collectionId: `ethereum_${EVM}`,
      contractAddress: EVM,
      asset: null,
      root: null,
      priceRaw: 100n,
      proceedsRaw: 95n,
      currency: null,
      bidder: SELLER,
      orderHash: '0xab',
      quantity: 3n,
      filledQuantity: 1n,
      createdAt: Date.UTC(2026, 4, 1),
      expiresAt: Date.UTC(2026, 6, 1),
      status: 'active',
      endedAt: null,
      tx: null,
      set: null,
    });
    assert.equal(sideOf(row.id), 'bid');
    assert.equal(rowOf(bid({ proceedsRaw: null })).proceedsRaw, 100n);
  });

  test('on Solana has the mint that is wanted, and its address keeps its case', () => {
    const solana = { chain: 'solana', contractAddress: MINT, buyer: ASSET, source: 'magic-eden' };
    const row = rowOf(bid({ ...solana, mint: ASSET }));
    assert.deepEqual([row.asset, row.contractAddress, row.id], [ASSET, MINT, `solana_${MINT}_bid_magic-eden:B1`]);
    assert.equal(sideOf(row.id), 'bid');
    assert.deepEqual(rowOf(bid({ ...solana, mints: [ASSET, ASSET] })).set.tokenIds, [ASSET]);
  });

  test('in another currency than the native one is accepted only if CURRENCIES names it', () => {
    const usdc = { address: SELLER as Address, symbol: 'USDC', decimals: 6 };
    const chains = createChains(null, [{ chain: 'ethereum', currency: usdc }]);
    const parseWith = (record: object) => parseRecordLine({ ...recordContext, chains }, JSON.stringify(record));
    const wrapped = chains.get('ethereum')?.wrappedNative;
    const currencyOf = (currency: unknown) => {
      const { record } = parseWith(bid({ currency }));
      assert.ok(record?.kind === 'bid');
      return record.row.currency;
    };
    assert.equal(currencyOf(SELLER.toUpperCase().replace('0X', '0x')), SELLER);
    assert.deepEqual([wrapped, ZERO_ADDRESS, null].map(currencyOf), [null, null, null]);
    const rejected = parseWith(bid({ currency: EVM }));
    assert.ok(rejected.record === null);
    assert.match(rejected.reason, new RegExp(`^currency: must be absent .* \\(${SELLER} \\(USDC\\)\\) `));
    const unnamed = parse(bid({ currency: SELLER }));
    assert.match(unnamed.record === null ? unnamed.reason : '', /CURRENCIES names \(none\)/);
    const symbol = parseWith(bid({ currency: 'USDC' }));
    assert.match(symbol.record === null ? symbol.reason : '', /^currency: must be an EVM address/);
    const idOf = (more: object) => parseWith(bid({ id: undefined, ...more })).record?.row;
    assert.notDeepEqual(idOf({}), idOf({ currency: SELLER }));
  });

  test('without an id is identified by what it wants, the bidder, the price and the time', () => {
    const idOf = (more: object) => rowOf(bid({ id: undefined, ...more })).id;
    const ids = [
      {},
      { tokenId: '1' },
      { tokenIds: ['1'] },
      { traits: ['Hat: Cap'] },
      { priceRaw: '101' },
      { buyer: `0x${'b2'.repeat(20)}` },
      { timestamp: '2026-05-02T00:00:00Z' },
    ].map(idOf);
    assert.equal(new Set(ids).size, ids.length);
    assert.equal(idOf({ expiresAt: '2026-07-01T00:00:00Z' }), ids[0]);
  });

  test('names a set by its traits whatever their order, or else by its tokens', () => {
    const rootOf = (more: object) => rowOf(bid(more)).root;
    const traits = ['Hat: Cap', { name: 'Eyes', value: 'Blue' }];
    assert.equal(rootOf({ traits }), rootOf({ traits: traits.toReversed() }));
    assert.equal(rootOf({ traits, tokenIds: ['1', '2'] }), rootOf({ traits }));
    assert.equal(rootOf({ tokenIds: ['2', '1', '2'] }), rootOf({ tokenIds: ['1', '2'] }));
    assert.notEqual(rootOf({ tokenIds: ['1'] }), rootOf({ tokenIds: ['1', '2'] }));
    assert.deepEqual(rowOf(bid({ traits: ['Hat: Cap'] })).set, {
      root: rootOf({ traits: ['Hat: Cap'] }),
      traits: [{ name: 'Hat', value: 'Cap' }],
      tokenIds: null,
    });
  });

  test('is rejected with the field that is wrong', () => {
    const reasons: [more: object, reason: string][] = [
      [
        { source: 'mercat' },
        'source: a bid of mercat itself must be signed, and is submitted to /intake/v1/orders ("mercat")',
      ],
      [{ priceRaw: '0' }, 'priceRaw: must be at least 1 ("0")'],
      [{ proceedsRaw: '0' }, 'proceedsRaw: must be at least 1, and at most the price ("0")'],
      [{ proceedsRaw: '101' }, 'proceedsRaw: must be at least 1, and at most the price ("101")'],
      [{ buyer: undefined }, 'buyer: is missing'],
      [{ timestamp: undefined }, 'timestamp: is missing'],
      [{ quantity: '0' }, 'quantity: must be at least 1 ("0")'],
      [{ quantity: '2', remaining: '3' }, 'remaining: must be at most the quantity ("3")'],
      [{ tokenId: '1', tokenIds: ['2'] }, 'tokenIds: must be absent when tokenId is given'],
      [{ tokenId: '1', traits: ['Hat: Cap'] }, 'traits: must be absent when tokenId is given'],
      [{ mint: ASSET }, 'mint: is not used on ethereum: give tokenId instead'],
      [{ tokenIds: [] }, 'tokenIds: must not be empty'],
      [{ traits: [] }, 'traits: must not be empty'],
      [{ traits: Array.from({ length: 11 }, (_, n) => `T${n}: 1`) }, 'traits: has 11 traits, more than 10'],
      [{ endedAt: '2026-05-02T00:00:00Z' }, 'endedAt: must not be given with the status active'],
      [{ seller: SELLER }, 'seller: a bid record has no such field'],
    ];
    for (const [more, reason] of reasons) {
      const parsed = parse(bid(more));
      assert.ok(parsed.record === null && parsed.reason.startsWith(reason), JSON.stringify([parsed, reason]));
    }
  });
});
