// Tests which sales are derived from fills: asks, bids, bundles, matched orders and currencies.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Address } from '../../../src/platform/core/address.ts';
import type { OrderFulfilled, ReceivedItem, SpentItem } from '../../../src/market/chain-log/chain-event.ts';
import { toSales } from '../../../src/sources/chains/sales.ts';
import { ZERO_ADDRESS } from '../../../src/platform/core/evm.ts';
import { ITEM_TYPE } from '../../../src/platform/core/seaport.ts';

const address = (digit: string) => `0x${digit.repeat(40)}` as Address;
const [SELLER, BUYER, FEES, NFT, OTHER_NFT, WRAPPED, DOLLARS] = ['a', 'b', 'c', 'd', 'e', 'f', '9'].map(address) as [
  Address,
  ...Address[],
] as [Address, Address, Address, Address, Address, Address, Address];

const nft = (identifier = 1n, token = NFT, amount = 1n): SpentItem => ({
  itemType: ITEM_TYPE.erc721,
  token,
  identifier,
  amount,
});
const native = (amount: bigint): SpentItem => ({
  itemType: ITEM_TYPE.native,
  token: ZERO_ADDRESS,
  identifier: 0n,
  amount,
});
const coin = (token: Address, amount: bigint): SpentItem => ({
  itemType: ITEM_TYPE.erc20,
  token,
  identifier: 0n,
  amount,
});
const to = (item: SpentItem, recipient: Address): ReceivedItem => ({ ...item, recipient });

function fill(offerer: Address, recipient: Address, offer: SpentItem[], consideration: ReceivedItem[]): OrderFulfilled {
  const place = { blockNumber: 1, blockTime: 1_000, tx: '0x01' as const, logIndex: 0, part: 0 };
  const order = { kind: 'order-fulfilled' as const, protocol: address('1'), orderHash: '0x02' as const };
  return { ...place, ...order, offerer, zone: ZERO_ADDRESS, recipient, offer, consideration };
}

const salesOf = (fills: OrderFulfilled[], matched: ReadonlySet<string> = new Set()) =>
  toSales(fills, { matched, wrappedNative: WRAPPED }).map(({ contract, asset, priceRaw, price, seller, buyer }) => ({
    contract,
    asset,
    price: priceRaw ?? price,
    seller,
    buyer,
  }));

test('the price of a sold listing is the sum of all payments, including fees', () => {
  const sale = fill(SELLER, BUYER, [nft(7n)], [to(native(90n), SELLER), to(native(10n), FEES)]);
  assert.deepEqual(salesOf([sale]), [{ contract: NFT, asset: '7', price: 100n, seller: SELLER, buyer: BUYER }]);
});

test('in an accepted bid the buyer is the offerer', () => {
  const sale = fill(BUYER, SELLER, [coin(WRAPPED, 77n)], [to(nft(7n), BUYER), to(coin(WRAPPED, 7n), FEES)]);
  assert.deepEqual(salesOf([sale]), [{ contract: NFT, asset: '7', price: 77n, seller: SELLER, buyer: BUYER }]);
});

test('an ask and a bid that matchOrders filled with each other are one sale', () => {
  const ask = fill(SELLER, ZERO_ADDRESS, [nft(7n)], [to(coin(WRAPPED, 90n), SELLER), to(coin(WRAPPED, 10n), FEES)]);
  const bid = fill(BUYER, ZERO_ADDRESS, [coin(WRAPPED, 100n)], [to(nft(7n), BUYER)]);
  const expected = [{ contract: NFT, asset: '7', price: 100n, seller: SELLER, buyer: BUYER }];
  assert.deepEqual(salesOf([ask, bid]), expected);
  assert.deepEqual(salesOf([bid, ask]), expected);
});

test('the account that matched two orders is neither buyer nor seller', () => {
  const matcher = address('3');
  const ask = fill(SELLER, matcher, [nft(7n)], [to(native(5n), SELLER)]);
  const bid = fill(BUYER, matcher, [coin(WRAPPED, 5n)], [to(nft(7n), BUYER)]);
  const expected = { contract: NFT, asset: '7', price: 5n, seller: SELLER, buyer: BUYER };
  assert.deepEqual(salesOf([ask, bid], new Set([ask.orderHash])), [expected]);
  assert.deepEqual(salesOf([ask], new Set([ask.orderHash])), [{ ...expected, buyer: null }]);
  assert.equal(salesOf([ask, bid]).length, 2, 'two fills that were not matched became one sale');
});

test('the price of two matched orders is what the bidder paid, and not what the order of the seller receives', () => {
  const mirror = fill(SELLER, ZERO_ADDRESS, [nft(7n)], [to(coin(WRAPPED, 97n), SELLER)]);
  const bid = fill(BUYER, ZERO_ADDRESS, [coin(WRAPPED, 100n)], [to(nft(7n), BUYER), to(coin(WRAPPED, 3n), FEES)]);
  const expected = [{ contract: NFT, asset: '7', price: 100n, seller: SELLER, buyer: BUYER }];
  assert.deepEqual(salesOf([mirror, bid]), expected);
  assert.deepEqual(salesOf([bid, mirror]), expected);
  assert.deepEqual(salesOf([bid]), [{ ...expected[0], seller: null }]);
  const [sale] = toSales([mirror, bid], { matched: new Set(), wrappedNative: WRAPPED });
  assert.deepEqual([sale?.fill, sale?.bid], [mirror, bid]);
});

test('a private listing is a sale to the account that it names, however it is filled', () => {
  const payments = [to(native(95n), SELLER), to(native(5n), FEES)];
  const expected = [{ contract: NFT, asset: '7', price: 100n, seller: SELLER, buyer: BUYER }];
  for (const recipient of [ZERO_ADDRESS, BUYER, address('3')]) {
    const listing = fill(SELLER, recipient, [nft(7n)], [...payments, to(nft(7n), BUYER)]);
    const mirror = { ...fill(BUYER, recipient, [native(100n)], []), orderHash: '0x03' as const };
    const matched = new Set([listing.orderHash, mirror.orderHash]);
    assert.deepEqual(salesOf([listing, mirror], matched), expected);
    assert.deepEqual(salesOf([mirror, listing], matched), expected);
    assert.deepEqual(salesOf([listing]), expected);
  }
  const bundle = fill(SELLER, ZERO_ADDRESS, [nft(7n), nft(8n)], [...payments, to(nft(8n), BUYER), to(nft(7n), BUYER)]);
  assert.deepEqual(salesOf([bundle]), [{ ...expected[0], asset: null }]);
});

test('a token in the consideration that is not an offered token is no delivery', () => {
  const swap = (...received: SpentItem[]) =>
    salesOf([fill(SELLER, BUYER, [nft(7n)], [to(native(1n), SELLER), ...received.map((item) => to(item, SELLER))])]);
  assert.deepEqual(swap(nft(8n)), []);
  assert.deepEqual(swap(nft(7n, OTHER_NFT)), []);
  assert.deepEqual(swap(nft(7n, NFT, 2n)), []);
  assert.deepEqual(swap(nft(7n), nft(7n)), [], 'one offered token was delivered twice');
});

test('two matched pairs for one token are two sales', () => {
  const ask = fill(SELLER, ZERO_ADDRESS, [nft(7n)], [to(native(5n), SELLER)]);
  const bid = fill(BUYER, ZERO_ADDRESS, [coin(WRAPPED, 5n)], [to(nft(7n), BUYER)]);
  assert.equal(salesOf([ask, bid, ask, bid]).length, 2);
  assert.deepEqual(salesOf([bid]), [{ contract: NFT, asset: '7', price: 5n, seller: null, buyer: BUYER }]);
});

test('a bundle of several tokens of one contract is one sale that has no token id', () => {
  const sale = fill(SELLER, BUYER, [nft(1n), nft(2n)], [to(native(100n), SELLER)]);
  assert.deepEqual(salesOf([sale]), [{ contract: NFT, asset: null, price: 100n, seller: SELLER, buyer: BUYER }]);
});

test('a fill with tokens of several contracts is several sales, one for each contract, and none has a price in base units', () => {
  const sales = salesOf([fill(SELLER, BUYER, [nft(1n), nft(2n, OTHER_NFT)], [to(native(100n), SELLER)])]);
  assert.deepEqual(
    sales.map(({ contract, asset, price }) => [contract, asset, typeof price]),
    [
      [NFT, null, 'string'],
      [OTHER_NFT, null, 'string'],
    ],
  );
});

test('payments in native and wrapped native currency are added', () => {
  const sold = (...payments: SpentItem[]) =>
    salesOf([
      fill(
        SELLER,
        BUYER,
        [nft()],
        payments.map((item) => to(item, SELLER)),
      ),
    ])[0]?.price;
  assert.equal(sold(native(1n), coin(WRAPPED, 2n)), 3n);
  assert.equal(sold(coin(DOLLARS, 5n)), `5 of ${DOLLARS}`);
  assert.equal(sold(coin(DOLLARS, 5n), native(1n)), `5 of ${DOLLARS} and 1 native`);
});

test('a swap of tokens, a gift, and a payment without a token are not sales', () => {
  assert.deepEqual(salesOf([fill(SELLER, BUYER, [nft(1n)], [to(nft(2n), SELLER)])]), []);
  assert.deepEqual(salesOf([fill(SELLER, BUYER, [nft(1n)], [])]), []);
  assert.deepEqual(salesOf([fill(SELLER, BUYER, [coin(WRAPPED, 1n)], [to(native(1n), SELLER)])]), []);
});
