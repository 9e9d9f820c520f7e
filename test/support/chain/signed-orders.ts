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
import { toJson } from '../../../client/src/json.ts';
import type { SeaportDeployment, SeaportOrder as SignedComponents } from '../../../client/src/seaport.ts';
import { SEAPORT_TYPES, toBidOrder, toListingOrder, toSeaportDomain } from '../../../client/src/seaport.ts';
import type { Address } from '../../../src/platform/core/address.ts';
import type { Protocol, SeaportOrder } from '../../../src/market/orders/seaport/order.ts';
import type { Hex, TokenStandard } from '../../../src/platform/core/evm.ts';
import { ORDER_TYPE } from '../../../src/platform/core/seaport.ts';

export const SEAPORT_1_6: Protocol = {
  address: '0x0000000000000068f116a894984e2db1123eb395' as Address,
  version: '1.6',
  chainId: 1,
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
  const { offerer, price, fees = [], quantity = 1n, standard = 'erc721', currency = null } = options;
  salts += 1n;
  const order = toListingOrder({
    seller: offerer as Hex,
    tokens: [{ contract: options.contract as Hex, tokenId: options.tokenId, standard, units: quantity }],
    payments: [{ recipient: offerer, amount: price }, ...fees].map((part) => ({
      ...part,
      recipient: part.recipient as Hex,
    })),
    currency: currency as Hex | null,
    startTime: options.start,
    endTime: options.end,
    salt: salts,
    counter: 0n,
  });
  return { ...order, orderType: ORDER_TYPE.fullOpen, ...components } as SeaportOrder;
}

export type BidOptions = {
  offerer: Address;
  contract: string;
  /** The token that is wanted, or the tokens that meet the bid: `any`, or the root of their Merkle tree. */
  wanted: { tokenId: bigint } | 'any' | { root: Hex };
  currency: string;
  /** What the bidder pays for all units. */
  price: bigint;
  start: number;
  end: number | bigint;
  fees?: readonly { recipient: string; amount: bigint }[];
  quantity?: bigint;
  standard?: TokenStandard;
};

/** A bid, with a different salt each time. A bid for several units can be filled in parts. */
export function toBid(options: BidOptions, components: Partial<SeaportOrder> = {}): SeaportOrder {
  const { offerer, wanted, price, fees = [], quantity = 1n, standard = 'erc721' } = options;
  salts += 1n;
  const order = toBidOrder({
    bidder: offerer as Hex,
    wanted: { contract: options.contract as Hex, standard, ...(wanted === 'any' ? { root: null } : wanted) },
    units: quantity,
    currency: options.currency as Hex,
    price,
    fees: fees.map(({ recipient, amount }) => ({ recipient: recipient as Hex, amount })),
    startTime: options.start,
    endTime: options.end,
    salt: salts,
    counter: 0n,
  });
  return { ...order, ...components } as SeaportOrder;
}

/** The order in OpenSea's JSON form: numbers are decimal text. */
export function toParameters(order: SeaportOrder): Record<string, unknown> {
  return { ...JSON.parse(toJson(order)), totalOriginalConsiderationItems: order.consideration.length };
}

export function hashAsk(order: SeaportOrder): Hex {
  return hashStruct({ types: SEAPORT_TYPES, primaryType: 'OrderComponents', data: toMessage(order) });
}

const toMessage = (order: SeaportOrder) => order as SignedComponents;

/** Signs with the n-th account. The signature has 65 bytes. */
export function signOrder(n: number, order: SeaportOrder, protocol: Protocol = SEAPORT_1_6): Promise<Hex> {
  return accountOf(n).signTypedData({
    domain: toSeaportDomain(protocol as SeaportDeployment),
    types: SEAPORT_TYPES,
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
    domain: toSeaportDomain(protocol as SeaportDeployment),
    types: { ...SEAPORT_TYPES, BulkOrder: [{ name: 'tree', type: `OrderComponents${'[2]'.repeat(height)}` }] },
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
