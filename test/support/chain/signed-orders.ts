// Makes signed Seaport orders for tests: accounts with keys, asks, and signatures in each form. The signatures are made with viem and not
// with the code under test.

import {
  concat,
  hashStruct,
  keccak256,
  numberToHex,
  parseSignature,
  serializeCompactSignature,
  signatureToCompactSignature,
} from 'viem';
import type { PrivateKeyAccount } from 'viem/accounts';
import { privateKeyToAccount } from 'viem/accounts';
import type { Address } from '../../../src/core/address.ts';
import type { Protocol, SeaportOrder } from '../../../src/orders/seaport/order.ts';
import type { Hex, TokenStandard } from '../../../src/core/evm.ts';
import { ZERO_ADDRESS, ZERO_HASH } from '../../../src/core/evm.ts';

export const SEAPORT_1_6: Protocol = {
  address: '0x0000000000000068f116a894984e2db1123eb395' as Address,
  version: '1.6',
  chainId: 1,
};

const OFFER_ITEM = [
  { name: 'itemType', type: 'uint8' },
  { name: 'token', type: 'address' },
  { name: 'identifierOrCriteria', type: 'uint256' },
  { name: 'startAmount', type: 'uint256' },
  { name: 'endAmount', type: 'uint256' },
];
const TYPES = {
  OrderComponents: [
    { name: 'offerer', type: 'address' },
    { name: 'zone', type: 'address' },
    { name: 'offer', type: 'OfferItem[]' },
    { name: 'consideration', type: 'ConsiderationItem[]' },
    { name: 'orderType', type: 'uint8' },
    { name: 'startTime', type: 'uint256' },
    { name: 'endTime', type: 'uint256' },
    { name: 'zoneHash', type: 'bytes32' },
    { name: 'salt', type: 'uint256' },
    { name: 'conduitKey', type: 'bytes32' },
    { name: 'counter', type: 'uint256' },
  ],
  OfferItem: OFFER_ITEM,
  ConsiderationItem: [...OFFER_ITEM, { name: 'recipient', type: 'address' }],
};

const accounts = new Map<number, PrivateKeyAccount>();

/** The account whose private key is the number `n`, 1 or more. */
export function accountOf(n: number): PrivateKeyAccount & { lower: Address } {
  const account = accounts.get(n) ?? privateKeyToAccount(numberToHex(n, { size: 32 }));
  accounts.set(n, account);
  return Object.assign(account, { lower: account.address.toLowerCase() as Address });
}

export type AskOptions = {
  offerer: Address;
  contract: string;
  tokenId: bigint;
  /** What the offerer receives for all units. */
  price: bigint;
  /** `start` and `end` are Unix times in seconds. */
  start: number;
  end: number | bigint;
  fees?: readonly { recipient: string; amount: bigint }[];
  quantity?: bigint;
  standard?: TokenStandard;
  currency?: string;
};

let salts = 0n;

/** An ask for one token, with a different salt each time. The values of `components` replace those that the options give. */
export function toAsk(options: AskOptions, components: Partial<SeaportOrder> = {}): SeaportOrder {
  const { offerer, contract, tokenId, price, start, end, fees = [], quantity = 1n, currency = ZERO_ADDRESS } = options;
  const pay = (amount: bigint, recipient: string) => ({
    itemType: currency === ZERO_ADDRESS ? 0 : 1,
    token: currency as Address,
    identifierOrCriteria: 0n,
    startAmount: amount,
    endAmount: amount,
    recipient: recipient as Address,
  });
  salts += 1n;
  const itemType = options.standard === 'erc1155' ? 3 : 2;
  return {
    offerer,
    zone: ZERO_ADDRESS,
    offer: [
      {
        itemType,
        token: contract as Address,
        identifierOrCriteria: tokenId,
        startAmount: quantity,
        endAmount: quantity,
      },
    ],
    consideration: [pay(price, offerer), ...fees.map(({ amount, recipient }) => pay(amount, recipient))],
    orderType: 0,
    startTime: BigInt(start),
    endTime: BigInt(end),
    zoneHash: ZERO_HASH,
    salt: salts,
    conduitKey: ZERO_HASH,
    counter: 0n,
    ...components,
  };
}

/** The order in OpenSea's JSON form: numbers are decimal text. */
export function toParameters(order: SeaportOrder): Record<string, unknown> {
  const parameters = JSON.parse(
    JSON.stringify(order, (_key, value: unknown) => (typeof value === 'bigint' ? value.toString() : value)),
  );
  return { ...parameters, totalOriginalConsiderationItems: order.consideration.length };
}

export function hashAsk(order: SeaportOrder): Hex {
  return hashStruct({ types: TYPES, primaryType: 'OrderComponents', data: toMessage(order) });
}

const toMessage = (order: SeaportOrder) => order as unknown as Record<string, unknown>;

function toDomain({ address, version, chainId }: Protocol) {
  return { name: 'Seaport', version, chainId, verifyingContract: address as Hex };
}

/** Signs with the n-th account. The signature has 65 bytes. */
export function signOrder(n: number, order: SeaportOrder, protocol: Protocol = SEAPORT_1_6): Promise<Hex> {
  const domain = toDomain(protocol);
  return accountOf(n).signTypedData({
    domain,
    types: TYPES,
    primaryType: 'OrderComponents',
    message: toMessage(order),
  });
}

/** The same signature in its compact form of 64 bytes (EIP-2098). */
export function toCompact(signature: Hex): Hex {
  return serializeCompactSignature(signatureToCompactSignature(parseSignature(signature)));
}

/**
 * Returns a signature for each order. The account signs only the root of a tree of `2 ** height` orders. The last of `orders` is
 * repeated until the tree is full.
 */
export async function signBulk(
  n: number,
  orders: readonly SeaportOrder[],
  { height, compact = false, protocol = SEAPORT_1_6 }: { height: number; compact?: boolean; protocol?: Protocol },
): Promise<Hex[]> {
  const leaves = Array.from({ length: 2 ** height }, (_, index) => orders[Math.min(index, orders.length - 1)]);
  const nest = (level: unknown[]): unknown[] =>
    level.length === 2 ? level : nest(pairsOf(level).map((pair) => pair as unknown));
  const full = await accountOf(n).signTypedData({
    domain: toDomain(protocol),
    types: { ...TYPES, BulkOrder: [{ name: 'tree', type: `OrderComponents${'[2]'.repeat(height)}` }] },
    primaryType: 'BulkOrder',
    message: { tree: nest(leaves) } as never,
  });
  const signature = compact ? toCompact(full) : full;
  return orders.map((_, index) => concat([signature, numberToHex(index, { size: 3 }), ...proofOf(leaves, index)]));
}

function pairsOf<T>(level: readonly T[]): T[][] {
  return Array.from({ length: level.length / 2 }, (_, index) => level.slice(2 * index, 2 * index + 2));
}

function proofOf(leaves: readonly (SeaportOrder | undefined)[], index: number): Hex[] {
  let level = leaves.map((order) => hashAsk(order as SeaportOrder));
  const proof: Hex[] = [];
  for (let position = index; level.length > 1; position >>= 1) {
    proof.push(level[position ^ 1] as Hex);
    level = pairsOf(level).map(([left, right]) => hashPair(left as Hex, right as Hex));
  }
  return proof;
}

function hashPair(left: Hex, right: Hex): Hex {
  return keccak256(concat([left, right]));
}
