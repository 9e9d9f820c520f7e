// Tests which terms of a listing are read from a Seaport order, and which orders are rejected because they are not listings.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import type { Address } from '../../../../src/platform/core/address.ts';
import type { ListingTerms } from '../../../../src/market/orders/seaport/listing.ts';
import { parseListingTerms } from '../../../../src/market/orders/seaport/parse-terms.ts';
import { STARTS_AHEAD_MAX_MS, TERMS_REJECTIONS } from '../../../../src/market/orders/seaport/terms.ts';
import type { SeaportOrder } from '../../../../src/market/orders/seaport/order.ts';
import type { AskOptions } from '../../../support/chain/signed-orders.ts';
import { SEAPORT_1_6, toAsk } from '../../../support/chain/signed-orders.ts';
import type { Hex } from '../../../../src/platform/core/evm.ts';

const OFFERER = `0x${'a1'.repeat(20)}` as Address;
const FEE = `0x${'fe'.repeat(20)}`;
const WETH = `0x${'ee'.repeat(20)}` as Address;
const CONTRACT = `0x${'c0'.repeat(20)}` as Address;
const NOW = 1_800_000_000_000;
const START = NOW / 1_000 - 10;

const ask = (options: Partial<AskOptions> = {}, components: Partial<SeaportOrder> = {}) =>
  toAsk(
    { offerer: OFFERER, contract: CONTRACT, tokenId: 7n, price: 1_000n, start: START, end: START + 60, ...options },
    components,
  );
const parse = (order: SeaportOrder, address = SEAPORT_1_6.address) =>
  parseListingTerms(order, { protocol: { address }, wrappedNative: WETH, now: NOW });
function termsOf(order: SeaportOrder): ListingTerms {
  const listed = parse(order);
  assert.ok(listed.terms, listed.terms === null ? listed.code : '');
  return listed.terms;
}
const codeOf = (order: SeaportOrder, address?: Address) => {
  const listed = parse(order, address);
  return listed.terms ? 'listed' : listed.code;
};

describe('listings', () => {
  test('the terms of a listing without fees have no buyer total', () => {
    assert.deepEqual(termsOf(ask({}, { counter: 9n })), {
      side: 'ask',
      contractAddress: CONTRACT,
      tokenId: '7',
      standard: 'erc721',
      quantity: 1n,
      askRaw: 1_000n,
      buyerTotalRaw: null,
      startsAt: START * 1_000,
      expiresAt: (START + 60) * 1_000,
      counter: 9n,
      operator: SEAPORT_1_6.address,
    });
  });

  test('ask and buyer total are for one unit and rounded up', () => {
    const fees = [
      { recipient: FEE, amount: 26n },
      { recipient: OFFERER, amount: 1n },
    ];
    const one = termsOf(ask({ fees }));
    assert.deepEqual([one.askRaw, one.buyerTotalRaw], [1_001n, 1_027n]);
    const three = termsOf(ask({ fees, quantity: 3n, standard: 'erc1155' }, { orderType: 1 }));
    assert.deepEqual([three.askRaw, three.buyerTotalRaw, three.quantity, three.standard], [334n, 343n, 3n, 'erc1155']);
    fc.assert(
      fc.property(fc.bigInt(1n, 10n ** 30n), fc.bigInt(1n, 10n ** 20n), (price, quantity) => {
        const { askRaw } = termsOf(ask({ price, quantity, standard: 'erc1155' }));
        assert.ok(askRaw * quantity >= price && (askRaw - 1n) * quantity < price);
      }),
    );
  });

  test('an order that ends after the year 9999 has no expiry time', () => {
    assert.equal(termsOf(ask({ end: 2n ** 256n - 1n })).expiresAt, null);
    assert.equal(termsOf(ask({ end: 253_402_300_800n })).expiresAt, null);
    assert.equal(termsOf(ask({ end: 253_402_300_799n })).expiresAt, 253_402_300_799_000);
  });

  test('a price in the wrapped native currency is accepted', () => {
    assert.equal(termsOf(ask({ currency: WETH })).askRaw, 1_000n);
  });

  test('the operator of an order with a conduit key is the conduit', () => {
    const conduitKey: Hex = '0x61159fefdfada89302ed55f8b9e89e2d67d8258712b3a3f89aa88525877f1d5e';
    assert.equal(termsOf(ask({}, { conduitKey })).operator, '0x963f00d3ff000064ffcba824b800c0000000c300');
    assert.equal(codeOf(ask({}, { conduitKey }), CONTRACT), 'unknown_conduit');
    assert.equal(codeOf(ask(), CONTRACT), 'listed');
  });

  test('each kind of order that is not a listing is rejected with its own code', () => {
    const [payment] = ask().consideration;
    const [token] = ask().offer;
    assert.ok(payment && token);
    const payments = (...changes: Partial<typeof payment>[]) => ({
      consideration: changes.map((change) => ({ ...payment, ...change })),
    });
    const offers = (...changes: Partial<typeof token>[]) => ({
      offer: changes.map((change) => ({ ...token, ...change })),
    });
    const cases: Record<string, SeaportOrder[]> = {
      criteria_not_supported: [
        ask({}, offers({ itemType: 4 })),
        ask({}, offers({ itemType: 5 })),
        ask({}, payments({ itemType: 4 })),
      ],
      not_a_listing: [
        ask({}, offers()),
        ask({}, offers({}, { identifierOrCriteria: 8n })),
        ask({}, offers({ itemType: 1 })),
        ask({}, offers({ itemType: 0 })),
        ask({}, payments({}, { itemType: 2, token: CONTRACT })),
      ],
      extra_data_not_supported: [2, 3, 4].map((orderType) => ask({}, { orderType })),
      unknown_conduit: [],
      quantity_not_valid: [
        ask({ quantity: 2n }),
        ask({ quantity: 0n }),
        ask({ quantity: 0n, standard: 'erc1155' }),
        ask({ standard: 'erc1155' }, offers({ itemType: 3, endAmount: 0n })),
      ],
      unsupported_currency: [
        ask({ currency: FEE }),
        ask({}, payments({}, { itemType: 1, token: WETH })),
        ask({}, payments({ identifierOrCriteria: 1n })),
        ask({}, payments({ token: WETH })),
      ],
      price_not_fixed: [
        ask({}, payments({ endAmount: 1n })),
        ask({ standard: 'erc1155' }, offers({ itemType: 3, endAmount: 2n })),
      ],
      price_not_positive: [ask({ price: 0n }), ask({}, payments())],
      fees_over_limit: [
        ask({ price: 0n, fees: [{ recipient: FEE, amount: 1n }] }),
        ask({ fees: [{ recipient: FEE, amount: 1_001n }] }),
        ask({ price: 2n ** 255n, fees: [{ recipient: FEE, amount: 2n ** 255n }] }),
      ],
      starts_too_late: [
        ask({ start: (NOW + STARTS_AHEAD_MAX_MS) / 1_000 + 1, end: 2n ** 200n }),
        ask({}, { startTime: 2n ** 256n - 1n }),
      ],
      expired: [ask({ end: NOW / 1_000 }), ask({ start: NOW / 1_000 + 9, end: NOW / 1_000 + 9 })],
    };
    assert.deepEqual(
      Object.keys(cases),
      TERMS_REJECTIONS.filter((code) => code !== 'not_a_bid'),
    );
    for (const [code, orders] of Object.entries(cases)) for (const order of orders) assert.equal(codeOf(order), code);
  });

  test('an order whose fee, start, end or price is exactly at its limit is accepted', () => {
    assert.equal(codeOf(ask({ fees: [{ recipient: FEE, amount: 1_000n }] })), 'listed');
    assert.equal(codeOf(ask({ start: (NOW + STARTS_AHEAD_MAX_MS) / 1_000, end: 2n ** 200n })), 'listed');
    assert.equal(codeOf(ask({ end: NOW / 1_000 + 1 })), 'listed');
    assert.equal(codeOf(ask({ price: 2n ** 256n - 1n })), 'listed');
    assert.equal(codeOf(ask({}, { startTime: 0n })), 'listed');
  });
});
