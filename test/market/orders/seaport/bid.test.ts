// Tests which terms of a bid are read from a Seaport order, and which orders are rejected because they are no acceptable bids.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Address } from '../../../../src/platform/core/address.ts';
import type { Currency } from '../../../../src/platform/core/chains.ts';
import type { Hex } from '../../../../src/platform/core/evm.ts';
import type { BidTerms } from '../../../../src/market/orders/seaport/bid.ts';
import type { SeaportOrder } from '../../../../src/market/orders/seaport/order.ts';
import { parseTerms } from '../../../../src/market/orders/seaport/parse-terms.ts';
import { STARTS_AHEAD_MAX_MS, TERMS_REJECTIONS } from '../../../../src/market/orders/seaport/terms.ts';
import type { BidOptions } from '../../../support/chain/signed-orders.ts';
import { SEAPORT_1_6, toBid } from '../../../support/chain/signed-orders.ts';

const OFFERER = `0x${'a1'.repeat(20)}` as Address;
const FEE = `0x${'fe'.repeat(20)}` as Address;
const WETH = `0x${'ee'.repeat(20)}` as Address;
const CONTRACT = `0x${'c0'.repeat(20)}` as Address;
const ROOT: Hex = `0x${'0b'.repeat(32)}`;
const NOW = 1_800_000_000_000;
const START = NOW / 1_000 - 10;

const bid = (options: Partial<BidOptions> = {}, components: Partial<SeaportOrder> = {}) =>
  toBid(
    {
      offerer: OFFERER,
      contract: CONTRACT,
      wanted: { tokenId: 7n },
      currency: WETH,
      price: 1_000n,
      start: START,
      end: START + 60,
      ...options,
    },
    components,
  );
const USDC = { address: `0x${'dc'.repeat(20)}` as Address, symbol: 'USDC', decimals: 6 };
const parse = (order: SeaportOrder, wrappedNative: Address | null = WETH, currencies: readonly Currency[] = []) =>
  parseTerms(order, { protocol: SEAPORT_1_6, wrappedNative, currencies, now: NOW });
function termsOf(order: SeaportOrder): BidTerms {
  const { terms } = parse(order);
  assert.ok(terms?.side === 'bid');
  return terms;
}
const codeOf = (order: SeaportOrder, wrappedNative?: null) => {
  const parsed = parse(order, wrappedNative);
  return parsed.terms ? parsed.terms.side : parsed.code;
};

describe('bids', () => {
  test('the terms of a bid for one token have the price that the bidder pays, and the proceeds of the seller', () => {
    const fees = [
      { recipient: FEE, amount: 25n },
      { recipient: OFFERER, amount: 5n },
    ];
    assert.deepEqual(termsOf(bid({ fees }, { counter: 9n })), {
      side: 'bid',
      contractAddress: CONTRACT,
      tokenId: '7',
      root: null,
      standard: 'erc721',
      quantity: 1n,
      priceRaw: 1_000n,
      proceedsRaw: 970n,
      currency: null,
      startsAt: START * 1_000,
      expiresAt: (START + 60) * 1_000,
      counter: 9n,
      operator: SEAPORT_1_6.address,
    });
  });

  test('a bid is for one token, for any token of the collection, or for the tokens of a Merkle root', () => {
    const keysOf = ({ tokenId, root, standard }: BidTerms) => [tokenId, root, standard];
    assert.deepEqual(keysOf(termsOf(bid({ wanted: 'any' }))), [null, null, 'erc721']);
    assert.deepEqual(keysOf(termsOf(bid({ wanted: { root: ROOT } }))), [null, ROOT, 'erc721']);
    assert.deepEqual(keysOf(termsOf(bid({ wanted: { root: ROOT }, standard: 'erc1155' }))), [null, ROOT, 'erc1155']);
    assert.deepEqual(keysOf(termsOf(bid({ wanted: { tokenId: 0n } }))), ['0', null, 'erc721']);
  });

  test('price and proceeds are for one unit', () => {
    const terms = termsOf(bid({ quantity: 4n, wanted: 'any', fees: [{ recipient: FEE, amount: 40n }] }));
    assert.deepEqual([terms.quantity, terms.priceRaw, terms.proceedsRaw], [4n, 250n, 240n]);
  });

  test('a bid may be paid in a currency that the settings name, with all fees in the same, and the rejection names the accepted currencies', () => {
    const fees = [{ recipient: FEE, amount: 25n }];
    const parsed = (order: SeaportOrder, wrappedNative: Address | null = WETH) => {
      const result = parse(order, wrappedNative, [USDC]);
      if (!result.terms) return [result.code, result.message];
      assert.ok(result.terms.side === 'bid');
      return [result.terms.currency, result.terms.proceedsRaw];
    };
    const accepted = `a bid and its fees must be paid in one currency: the wrapped native currency, ${WETH}; or USDC, ${USDC.address}`;
    assert.deepEqual(parsed(bid({ currency: USDC.address, fees })), [USDC.address, 975n]);
    assert.deepEqual(parsed(bid({ currency: USDC.address }), null), [USDC.address, 1_000n]);
    assert.deepEqual(parsed(bid({ fees })), [null, 975n]);
    assert.deepEqual(parsed(bid({ currency: FEE })), ['unsupported_currency', accepted]);
    const { consideration } = bid({ fees });
    const mixed = bid({ currency: USDC.address }, { consideration });
    assert.deepEqual(parsed(mixed), ['unsupported_currency', accepted]);
  });

  test('each kind of order that is no acceptable bid is rejected with its own code', () => {
    const [payment] = bid().offer;
    const [wanted] = bid().consideration;
    assert.ok(payment && wanted);
    const offers = (...changes: Partial<typeof payment>[]) => ({
      offer: changes.map((change) => ({ ...payment, ...change })),
    });
    const wants = (...changes: Partial<typeof wanted>[]) => ({
      consideration: changes.map((change) => ({ ...wanted, ...change })),
    });
    const cases: Record<string, SeaportOrder[]> = {
      not_a_bid: [
        bid({}, offers({}, {})),
        bid({}, { consideration: [] }),
        bid({}, wants({}, {})),
        bid({}, wants({ recipient: FEE })),
      ],
      extra_data_not_supported: [2, 3, 4].map((orderType) => bid({}, { orderType })),
      unknown_conduit: [],
      quantity_not_valid: [
        bid({ quantity: 0n }),
        bid({ quantity: 2n }),
        bid({ quantity: 2n, wanted: 'any' }, { orderType: 0 }),
        bid({ quantity: 3n, wanted: 'any' }),
        bid({ quantity: 2n, standard: 'erc1155', fees: [{ recipient: FEE, amount: 3n }] }),
      ],
      unsupported_currency: [
        bid({ currency: FEE }),
        bid({}, offers({ itemType: 0 })),
        bid({}, offers({ identifierOrCriteria: 1n })),
        bid({}, wants({}, { itemType: 1, token: FEE })),
      ],
      price_not_fixed: [bid({}, offers({ endAmount: 1_001n })), bid({}, wants({ endAmount: 2n }))],
      price_not_positive: [bid({ price: 0n })],
      fees_over_limit: [
        bid({ fees: [{ recipient: FEE, amount: 501n }] }),
        bid({ fees: [{ recipient: FEE, amount: 5_000n }] }),
      ],
      starts_too_late: [bid({ start: (NOW + STARTS_AHEAD_MAX_MS) / 1_000 + 1, end: 2n ** 200n })],
      expired: [bid({ end: NOW / 1_000 })],
    };
    const codes = TERMS_REJECTIONS.filter((code) => code !== 'not_a_listing' && code !== 'criteria_not_supported');
    assert.deepEqual(Object.keys(cases), codes);
    for (const [code, orders] of Object.entries(cases)) for (const order of orders) assert.equal(codeOf(order), code);
    assert.equal(codeOf(bid({ fees: [{ recipient: FEE, amount: 500n }] })), 'bid');
    assert.equal(codeOf(bid(), null), 'unsupported_currency');
  });
});
