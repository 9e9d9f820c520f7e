// Builds and signs Seaport orders as wallets do: listings, bundles and bids, with fees and royalties, singly or in bulk.

import type { Address, Hex } from 'viem';
import {
  concat,
  domainSeparator,
  encodeAbiParameters,
  hashStruct,
  keccak256,
  numberToHex,
  parseSignature,
  serializeCompactSignature,
  signatureToCompactSignature,
  stringToHex,
  zeroAddress,
  zeroHash,
} from 'viem';
import type { LocalAccount } from 'viem/accounts';
import type { TokenStandard } from '../src/platform/core/evm.ts';
import { toJson } from '../client/src/json.ts';
import type { Payment, SeaportOrder, SeaportPayment } from '../client/src/seaport.ts';
import { SEAPORT_TYPES, toBidOrder, toListingOrder, toSeaportDomain } from '../client/src/seaport.ts';
import { ITEM_TYPE, ORDER_TYPE } from '../src/platform/core/seaport.ts';
import { SEAPORT_ADDRESS } from './protocol.ts';

export type SignedOrder = { hash: Hex; components: SeaportOrder; signature: Hex };

/** A share of the price and its recipient. */
export type Share = { to: Address; bps: number };

type Terms = {
  offerer: Address;
  /** The total that the buyer pays, in base units. The seller receives the rest after the shares. */
  price: bigint;
  /** The ERC-20 currency, or null for the native currency. */
  currency: Address | null;
  shares: readonly Share[];
  conduitKey: Hex;
  startTime: number;
  endTime: number;
  salt: bigint;
  counter: bigint;
};

export type TokenUnits = { contract: Address; standard: TokenStandard; tokenId: bigint; units: bigint };

/** An ask for one token, or for several tokens at one price. An ask for several units of a token may be filled in parts. */
export function buildAsk({
  offerer,
  price,
  shares,
  ...terms
}: Terms & { tokens: readonly TokenUnits[] }): SeaportOrder {
  const parts = toParts(price, shares);
  const rest = parts.reduce((left, { amount }) => left - amount, price);
  return toListingOrder({ ...terms, seller: offerer, payments: [{ recipient: offerer, amount: rest }, ...parts] });
}

/**
 * A bid for one token. If `tokenId` is null, a bid for any token of the contract, or for any token of the set with the Merkle root `root`. The shares are
 * deducted from the seller's part. Default: one token of the standard ERC-721. A bid for several units may be filled in parts.
 */
export function buildBid({
  offerer,
  contract,
  tokenId,
  root = null,
  standard = 'erc721',
  shares,
  ...terms
}: Terms & {
  currency: Address;
  contract: Address;
  tokenId: bigint | null;
  root?: Hex | null;
  standard?: TokenStandard;
  units?: bigint;
}): SeaportOrder {
  return toBidOrder({
    ...terms,
    bidder: offerer,
    wanted: { contract, standard, ...(tokenId === null ? { root } : { tokenId }) },
    fees: toParts(terms.price, shares),
  });
}

function toParts(price: bigint, shares: readonly Share[]): Payment[] {
  const parts = shares.map(({ to, bps }) => ({ recipient: to, amount: (price * BigInt(bps)) / 10_000n }));
  return parts.filter(({ amount }) => amount > 0n);
}

/** The order that `matchOrders` can match with an ask: the order offers the ask's total payment, and demands the ask's tokens. */
export function buildMirror(
  ask: SeaportOrder,
  buyer: { offerer: Address; salt: bigint; counter: bigint },
): SeaportOrder {
  const price = totalOf(ask);
  const [{ itemType, token } = { itemType: ITEM_TYPE.native, token: zeroAddress }] = ask.consideration;
  return {
    ...ask,
    ...buyer,
    conduitKey: zeroHash,
    offer: [{ itemType, token, identifierOrCriteria: 0n, startAmount: price, endAmount: price }],
    consideration: ask.offer.map((item) => ({ ...item, recipient: buyer.offerer })),
    orderType: ORDER_TYPE.fullOpen,
  };
}

/** The total that the buyer of an ask pays. */
export function totalOf({ consideration }: SeaportOrder): bigint {
  return consideration.reduce((sum, { startAmount }) => sum + startAmount, 0n);
}

/** Signs one order. If `compact`, the signature has 64 bytes (EIP-2098), as from many wallets. */
export async function signOrder(
  account: LocalAccount,
  chainId: number,
  components: SeaportOrder,
  options: { compact?: boolean } = {},
): Promise<SignedOrder> {
  const hash = hashOrder(components);
  const signature = await signDigest(account, concat(['0x1901', domainOf(chainId), hash]), options.compact ?? false);
  return { hash, components, signature };
}

/**
 * Signs several orders of one offerer with one bulk signature. The signature of each order consists of the bulk signature, the order's
 * index, and the Merkle proof that the order is in the signed tree.
 */
export async function signBulk(
  account: LocalAccount,
  chainId: number,
  orders: readonly SeaportOrder[],
  options: { compact?: boolean } = {},
): Promise<SignedOrder[]> {
  const height = Math.max(1, Math.ceil(Math.log2(orders.length)));
  const hashes = orders.map(hashOrder);
  const leaves = Array.from({ length: 2 ** height }, (_, index) => hashes[index] ?? zeroHash);
  const levels = [leaves];
  for (let level = leaves; level.length > 1; levels.push(level)) level = pairUp(level);
  const root = levels.at(-1)?.[0] ?? zeroHash;
  const struct = encodeAbiParameters([{ type: 'bytes32' }, { type: 'bytes32' }], [bulkTypeHash(height), root]);
  const digest = concat(['0x1901', domainOf(chainId), keccak256(struct)]);
  const signature = await signDigest(account, digest, options.compact ?? false);
  return orders.map((components, index) => {
    const proof = levels.slice(0, -1).map((level, depth) => level[(index >> depth) ^ 1] ?? zeroHash);
    const withProof = concat([signature, numberToHex(index, { size: 3 }), ...proof]);
    return { hash: hashes[index] ?? zeroHash, components, signature: withProof };
  });
}

/** The order in the form that Seaport's functions take. */
export function toOrder({ components, signature }: Pick<SignedOrder, 'components' | 'signature'>) {
  const { counter: _counter, ...parameters } = components;
  const totalOriginalConsiderationItems = BigInt(components.consideration.length);
  return { parameters: { ...parameters, totalOriginalConsiderationItems }, signature };
}

/** The components in the form that is sent to a marketplace: large integers as decimal text. */
export function toWireComponents(components: SeaportOrder): Record<string, unknown> {
  return JSON.parse(toJson(components)) as Record<string, unknown>;
}

/** The inverse of `toWireComponents`. The integers may be text or numbers. */
export function fromWireComponents(wire: Record<string, unknown>): SeaportOrder {
  const item = (from: Record<string, string>) => ({
    ...from,
    itemType: Number(from['itemType']),
    token: from['token']?.toLowerCase() as Address,
    identifierOrCriteria: BigInt(from['identifierOrCriteria'] ?? 0),
    startAmount: BigInt(from['startAmount'] ?? 0),
    endAmount: BigInt(from['endAmount'] ?? 0),
  });
  const items = (name: string) => (wire[name] as Record<string, string>[]).map(item);
  const integer = (name: string) => BigInt(wire[name] as string);
  return {
    offerer: String(wire['offerer']).toLowerCase() as Address,
    zone: wire['zone'] as Address,
    offer: items('offer'),
    consideration: items('consideration') as unknown as SeaportPayment[],
    orderType: Number(wire['orderType']),
    startTime: integer('startTime'),
    endTime: integer('endTime'),
    zoneHash: wire['zoneHash'] as Hex,
    salt: integer('salt'),
    conduitKey: wire['conduitKey'] as Hex,
    counter: integer('counter'),
  };
}

export function hashOrder(components: SeaportOrder): Hex {
  return hashStruct({ types: SEAPORT_TYPES, primaryType: 'OrderComponents', data: components });
}

function bulkTypeHash(height: number): Hex {
  const types = ['ConsiderationItem', 'OfferItem', 'OrderComponents'] as const;
  const fields = (name: (typeof types)[number]) => SEAPORT_TYPES[name].map((field) => `${field.type} ${field.name}`);
  const structs = types.map((name) => `${name}(${fields(name).join(',')})`);
  return keccak256(stringToHex(`BulkOrder(OrderComponents${'[2]'.repeat(height)} tree)${structs.join('')}`));
}

function pairUp(level: readonly Hex[]): Hex[] {
  return Array.from({ length: level.length / 2 }, (_, index) =>
    keccak256(concat([level[index * 2] ?? zeroHash, level[index * 2 + 1] ?? zeroHash])),
  );
}

function domainOf(chainId: number): Hex {
  return domainSeparator({ domain: toSeaportDomain({ address: SEAPORT_ADDRESS, version: '1.6', chainId }) });
}

async function signDigest(account: LocalAccount, message: Hex, compact: boolean): Promise<Hex> {
  if (!account.sign) throw new Error(`account ${account.address} cannot sign`);
  const signature = await account.sign({ hash: keccak256(message) });
  return compact ? serializeCompactSignature(signatureToCompactSignature(parseSignature(signature))) : signature;
}
