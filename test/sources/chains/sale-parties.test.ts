// Tests how the seller and the buyer of a sale are completed from the transfers of the sold token in the same transaction.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { OrderFulfilled, Transfer } from '../../../src/market/chain-log/chain-event.ts';
import { completeParties } from '../../../src/sources/chains/sale-parties.ts';
import type { FillSale } from '../../../src/sources/chains/sales.ts';
import type { Address } from '../../../src/platform/core/address.ts';
import { toTokenId } from '../../../src/platform/core/address.ts';
import { ZERO_ADDRESS } from '../../../src/platform/core/evm.ts';

const address = (digit: string) => `0x${digit.repeat(40)}` as Address;
const NFT = address('d');
const [SELLER, BUYER, ROUTER, BIDDER, STRANGER, OWNER] = ['a', 'b', 'c', 'e', '9', '8'].map(address) as [
  Address,
  Address,
  Address,
  Address,
  Address,
  Address,
];
const POSITION = { blockNumber: 1, blockTime: 1_000, tx: '0x01' as const, logIndex: 0, part: 0 };

function saleOf(parties: Pick<FillSale, 'seller' | 'buyer'>, sender?: Address): FillSale {
  const fill: OrderFulfilled = {
    ...POSITION,
    kind: 'order-fulfilled',
    protocol: address('1'),
    orderHash: '0x02',
    offerer: SELLER,
    zone: ZERO_ADDRESS,
    recipient: ROUTER,
    offer: [],
    consideration: [],
    ...(sender && { sender }),
  };
  return { fill, bid: null, contract: NFT, asset: toTokenId(7n), sold: [], priceRaw: 5n, price: '5', ...parties };
}

function moves(...path: Address[]): Transfer[] {
  return path.slice(1).map((to, index) => ({
    ...POSITION,
    kind: 'transfer',
    contract: NFT,
    tokenId: toTokenId(7n),
    from: path[index] ?? ZERO_ADDRESS,
    to,
    quantity: 1n,
  }));
}

const partiesOf = (sales: FillSale[], transfers: Transfer[]) =>
  completeParties(sales, transfers).map(({ seller, buyer }) => [seller, buyer]);

test('the buyer is the account to which the router of an aggregator sends the token', () => {
  const sale = saleOf({ seller: SELLER, buyer: ROUTER }, BUYER);
  assert.deepEqual(partiesOf([sale], moves(SELLER, ROUTER, BUYER)), [[SELLER, BUYER]]);
  assert.deepEqual(partiesOf([sale], moves(SELLER, ROUTER, STRANGER, BUYER)), [[SELLER, BUYER]]);
});

test('a buyer who signed the transaction remains the buyer, even if the token moves on to another account', () => {
  const sale = saleOf({ seller: SELLER, buyer: BUYER }, BUYER);
  assert.deepEqual(partiesOf([sale], moves(SELLER, BUYER, STRANGER)), [[SELLER, BUYER]]);
  const forwarded = saleOf({ seller: SELLER, buyer: ROUTER }, BUYER);
  assert.deepEqual(partiesOf([forwarded], moves(SELLER, ROUTER, BUYER, STRANGER)), [[SELLER, BUYER]]);
});

test('the seller to a bid is the account from which the router of an aggregator received the token', () => {
  const sale = saleOf({ seller: ROUTER, buyer: BIDDER }, OWNER);
  assert.deepEqual(partiesOf([sale], moves(OWNER, ROUTER, BIDDER)), [[OWNER, BIDDER]]);
  assert.deepEqual(partiesOf([sale], moves(OWNER, STRANGER, ROUTER, BIDDER)), [[OWNER, BIDDER]]);
  assert.deepEqual(partiesOf([saleOf(sale, BUYER)], moves(OWNER, ROUTER, BIDDER)), [[OWNER, BIDDER]]);
});

test('a seller who signed the transaction or made the listing remains the seller, even if the token came from another account', () => {
  const signed = saleOf({ seller: OWNER, buyer: BIDDER }, OWNER);
  assert.deepEqual(partiesOf([signed], moves(STRANGER, OWNER, BIDDER)), [[OWNER, BIDDER]]);
  const forwarded = saleOf({ seller: ROUTER, buyer: BIDDER }, OWNER);
  assert.deepEqual(partiesOf([forwarded], moves(STRANGER, OWNER, ROUTER, BIDDER)), [[OWNER, BIDDER]]);
  const listed = saleOf({ seller: SELLER, buyer: BUYER }, BUYER);
  assert.deepEqual(partiesOf([listed], moves(STRANGER, SELLER, BUYER)), [[SELLER, BUYER]]);
});

test('the seller to a bid is not changed when the signer of the transaction is not known, or when the token is minted in the transaction', () => {
  assert.deepEqual(partiesOf([saleOf({ seller: ROUTER, buyer: BIDDER })], moves(OWNER, ROUTER, BIDDER)), [
    [ROUTER, BIDDER],
  ]);
  const minted = saleOf({ seller: ROUTER, buyer: BIDDER }, STRANGER);
  assert.deepEqual(partiesOf([minted], moves(ZERO_ADDRESS, ROUTER, BIDDER)), [[ROUTER, BIDDER]]);
});

test('a token that is bought and then sold through a router makes two sales, each with its own parties', () => {
  const sales = [
    saleOf({ seller: SELLER, buyer: OWNER }, STRANGER),
    saleOf({ seller: ROUTER, buyer: BIDDER }, STRANGER),
  ];
  assert.deepEqual(partiesOf(sales, moves(SELLER, OWNER, ROUTER, BIDDER)), [
    [SELLER, OWNER],
    [OWNER, BIDDER],
  ]);
});

test('a router that buys a token and sells it in the same transaction is the buyer of the first sale and the seller of the second', () => {
  const sales = [
    saleOf({ seller: SELLER, buyer: ROUTER }, STRANGER),
    saleOf({ seller: ROUTER, buyer: BIDDER }, STRANGER),
  ];
  assert.deepEqual(partiesOf(sales, moves(SELLER, ROUTER, BIDDER)), [
    [SELLER, ROUTER],
    [ROUTER, BIDDER],
  ]);
});

test('the buyer is not changed when the signer of the transaction is not known, or when the token is burned', () => {
  assert.deepEqual(partiesOf([saleOf({ seller: SELLER, buyer: ROUTER })], moves(SELLER, ROUTER, BUYER)), [
    [SELLER, ROUTER],
  ]);
  const burned = saleOf({ seller: SELLER, buyer: ROUTER }, STRANGER);
  assert.deepEqual(partiesOf([burned], moves(SELLER, ROUTER, ZERO_ADDRESS)), [[SELLER, ROUTER]]);
});

test('a party that the fill does not name is read from the transfer of the token', () => {
  assert.deepEqual(partiesOf([saleOf({ seller: SELLER, buyer: null })], moves(SELLER, BUYER)), [[SELLER, BUYER]]);
  assert.deepEqual(partiesOf([saleOf({ seller: null, buyer: BIDDER })], moves(SELLER, BIDDER)), [[SELLER, BIDDER]]);
  assert.deepEqual(partiesOf([saleOf({ seller: SELLER, buyer: null })], []), [[SELLER, null]]);
});

test('transfers of another token or another quantity do not change the parties', () => {
  const sale = saleOf({ seller: SELLER, buyer: ROUTER }, BUYER);
  const [bought, sent] = moves(SELLER, ROUTER, BUYER);
  assert.ok(bought && sent);
  assert.deepEqual(partiesOf([sale], [bought, { ...sent, tokenId: toTokenId(8n) }]), [[SELLER, ROUTER]]);
  assert.deepEqual(partiesOf([sale], [bought, { ...sent, quantity: 2n }]), [[SELLER, ROUTER]]);
});
