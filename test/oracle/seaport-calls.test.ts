// Compares the oracle's own encoding of contract calls with the encoding that viem produces from the ABI of the packaged Seaport.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { Hex } from 'viem';
import { encodeFunctionData, erc1155Abi, erc721Abi, zeroAddress, zeroHash } from 'viem';
import { readSeaport } from '../../devnet/artifacts.ts';
import { fromWireComponents, toOrder, toWireComponents } from '../../devnet/orders.ts';
import {
  currenciesOf,
  encodeApproved,
  encodeApprovedForAll,
  encodeBalanceOf,
  encodeCounter,
  encodeFulfilment,
  encodeOrderStatus,
  encodeOwnerOf,
  encodeSale,
  nativePriceOf,
} from '../../oracle/seaport-calls.ts';

const hex = (bytes: number) =>
  fc.uint8Array({ minLength: bytes, maxLength: bytes }).map((value): Hex => `0x${Buffer.from(value).toString('hex')}`);
const address = hex(20);
const uint = fc.bigInt({ min: 0n, max: 2n ** 256n - 1n });
const item = fc.record({
  itemType: fc.integer({ min: 0, max: 5 }),
  token: address,
  identifierOrCriteria: uint,
  startAmount: uint,
  endAmount: uint,
});
const order = fc.record({
  components: fc.record({
    offerer: address,
    zone: address,
    offer: fc.array(item, { maxLength: 4 }),
    consideration: fc.array(
      fc.tuple(item, address).map(([each, recipient]) => ({ ...each, recipient })),
      { maxLength: 4 },
    ),
    orderType: fc.integer({ min: 0, max: 4 }),
    startTime: uint,
    endTime: uint,
    zoneHash: hex(32),
    salt: uint,
    conduitKey: hex(32),
    counter: uint,
  }),
  signature: fc.integer({ min: 0, max: 300 }).chain(hex),
  numerator: fc.bigInt({ min: 1n, max: 2n ** 120n - 1n }),
  denominator: fc.bigInt({ min: 1n, max: 2n ** 120n - 1n }),
});

const bid = fc.record({
  order,
  wanted: fc.record({ itemType: fc.integer({ min: 2, max: 5 }), token: address, tokenId: uint, units: uint }),
  at: fc.nat({ max: 4 }),
  seller: address,
  proof: fc.array(hex(32), { maxLength: 4 }),
});

test('the oracle encodes a sale to a bid as viem does', () => {
  const { abi } = readSeaport();
  fc.assert(
    fc.property(bid, ({ order: { components, signature, numerator, denominator }, wanted, at, seller, proof }) => {
      const { itemType, token, tokenId, units } = wanted;
      const fees = components.consideration.map((item) => ({ ...item, itemType: 1 }));
      const demanded = { itemType, token, identifierOrCriteria: 0n, startAmount: units, endAmount: units };
      const index = Math.min(at, fees.length);
      const consideration = fees.toSpliced(index, 0, { ...demanded, recipient: components.offerer });
      const parameters = toWireComponents({ ...components, consideration });
      const isOfSet = itemType > 3;
      const resolver = { orderIndex: 0n, side: 1, index: BigInt(index), identifier: tokenId, criteriaProof: proof };
      const ask = {
        offerer: seller,
        zone: zeroAddress,
        offer: [{ ...demanded, itemType: isOfSet ? itemType - 2 : itemType, identifierOrCriteria: tokenId }],
        consideration: [],
        orderType: 0,
        startTime: 0n,
        endTime: 2n ** 256n - 1n,
        zoneHash: zeroHash,
        salt: 0n,
        conduitKey: zeroHash,
        totalOriginalConsiderationItems: 0n,
      };
      const part = (orderIndex: bigint, itemIndex: number) => [{ orderIndex, itemIndex: BigInt(itemIndex) }];
      const expected = encodeFunctionData({
        abi,
        functionName: 'matchAdvancedOrders',
        args: [
          [
            {
              ...toOrder({ components: fromWireComponents(parameters), signature }),
              numerator,
              denominator,
              extraData: '0x',
            },
            { parameters: ask, numerator: 1n, denominator: 1n, signature: '0x', extraData: '0x' },
          ],
          isOfSet ? [resolver] : [],
          consideration.map((_, item) => ({
            offerComponents: item === index ? part(1n, 0) : part(0n, 0),
            considerationComponents: part(0n, item),
          })),
          seller,
        ],
      });
      const sold = { seller, tokenId, units, proof };
      assert.equal(encodeSale({ parameters, signature }, sold, { numerator, denominator }), expected);
    }),
    { numRuns: 200 },
  );
});

test('the oracle encodes a fulfilment as viem does', () => {
  const { abi } = readSeaport();
  fc.assert(
    fc.property(order, ({ components, signature, numerator, denominator }) => {
      const parameters = toWireComponents(components);
      const expected = encodeFunctionData({
        abi,
        functionName: 'fulfillAdvancedOrder',
        args: [
          {
            ...toOrder({ components: fromWireComponents(parameters), signature }),
            numerator,
            denominator,
            extraData: '0x',
          },
          [],
          zeroHash,
          zeroAddress,
        ],
      });
      assert.equal(encodeFulfilment({ parameters, signature }, { numerator, denominator }), expected);
    }),
    { numRuns: 200 },
  );
});

test('the oracle encodes all its other calls as viem does', () => {
  const { abi } = readSeaport();
  fc.assert(
    fc.property(address, address, uint, hex(32), (account, operator, tokenId, hash) => {
      const seaport = (functionName: string, args: readonly unknown[]) =>
        encodeFunctionData({ abi, functionName, args });
      assert.equal(encodeOrderStatus(hash), seaport('getOrderStatus', [hash]));
      assert.equal(encodeCounter(account), seaport('getCounter', [account]));
      assert.equal(
        encodeOwnerOf(tokenId),
        encodeFunctionData({ abi: erc721Abi, functionName: 'ownerOf', args: [tokenId] }),
      );
      assert.equal(
        encodeApproved(tokenId),
        encodeFunctionData({ abi: erc721Abi, functionName: 'getApproved', args: [tokenId] }),
      );
      assert.equal(
        encodeBalanceOf(account, tokenId),
        encodeFunctionData({ abi: erc1155Abi, functionName: 'balanceOf', args: [account, tokenId] }),
      );
      assert.equal(
        encodeApprovedForAll(account, operator),
        encodeFunctionData({ abi: erc721Abi, functionName: 'isApprovedForAll', args: [account, operator] }),
      );
    }),
  );
});

test('the native price is the sum of the native items, each at the higher of its start and end amounts', () => {
  const pay = (itemType: number, token: string, startAmount: string, endAmount: string) => ({
    itemType,
    token,
    startAmount,
    endAmount,
  });
  const parameters = {
    consideration: [
      pay(0, zeroAddress, '5', '9'),
      pay(0, zeroAddress, '7', '1'),
      pay(1, '0xAA', '3', '3'),
      pay(1, '0xaa', '4', '4'),
    ],
  };
  assert.equal(nativePriceOf(parameters), 16n);
  assert.deepEqual(currenciesOf(parameters), ['0xaa']);
});
