// Parses Seaport orders strictly, from the JSON that OpenSea, seaport-js and Reservoir write. Hashes orders as Seaport does (EIP-712).
// listing.ts decides whether an order is a listing.

import type { Address } from '../../../platform/core/address.ts';
import { parseAddress } from '../../../platform/core/address.ts';
import { UINT256_MAX } from '../../../platform/core/amount.ts';
import { JsonNumber } from '../../../platform/core/json-text.ts';
import type { Hex } from '../../../platform/core/evm.ts';
import { keccak256, keccak256OfText } from '../../../platform/core/keccak.ts';

/** `identifierOrCriteria` is a token id, or the Merkle root of the token ids that meet a criterion. */
export type OfferItem = {
  itemType: number;
  token: Address;
  identifierOrCriteria: bigint;
  startAmount: bigint;
  endAmount: bigint;
};
export type ConsiderationItem = OfferItem & { recipient: Address };

/** The components of an order, as they are signed. Times are in seconds since the epoch. */
export type SeaportOrder = {
  offerer: Address;
  zone: Address;
  offer: readonly OfferItem[];
  consideration: readonly ConsiderationItem[];
  orderType: number;
  startTime: bigint;
  endTime: bigint;
  zoneHash: Hex;
  salt: bigint;
  conduitKey: Hex;
  counter: bigint;
};

/** A deployment of Seaport. All three values are part of the EIP-712 domain of the orders that are signed for this deployment. */
export type Protocol = { address: Address; version: string; chainId: number };

export type ParsedSeaportOrder = { order: SeaportOrder } | { order: null; path: string; reason: string };

/** The most items of an offer, and the most items of a consideration. */
const ITEMS_MAX = 32;
const ORDER_TYPE_MAX = 4n;
const ITEM_TYPE_MAX = 5n;
const NUMBER_LENGTH_MAX = 100;
const FIELD_NAME_SHOWN_MAX = 100;

/**
 * Fields that are accepted beside the components and are not part of the hash. `totalOriginalConsiderationItems` must be the number of
 * consideration items. The other fields, which Reservoir adds, are ignored.
 */
const EXTRA_FIELDS = new Set(['totalOriginalConsiderationItems', 'kind', 'signature', 'partial']);

/** Numbers may be JSON numbers, decimal text or 0x-hex text. */
export function parseSeaportOrder(value: unknown): ParsedSeaportOrder {
  try {
    return { order: readOrder({ value, path: '' }) };
  } catch (error) {
    if (!(error instanceof MalformedOrder)) throw error;
    return { order: null, path: error.path, reason: error.message };
  }
}

class MalformedOrder extends Error {
  override readonly name = 'MalformedOrder';
  readonly path: string;

  constructor(path: string, reason: string) {
    super(reason);
    this.path = path;
  }
}

/** `path` is for the error message. */
type JsonValue = { value: unknown; path: string };

const ITEM_FIELDS = ['itemType', 'token', 'identifierOrCriteria', 'startAmount', 'endAmount'];
const ORDER_FIELDS = [
  'offerer',
  'zone',
  'offer',
  'consideration',
  'orderType',
  'startTime',
  'endTime',
  'zoneHash',
  'salt',
  'conduitKey',
  'counter',
];

function readOrder(json: JsonValue): SeaportOrder {
  const field = fieldsOf(json, ORDER_FIELDS, EXTRA_FIELDS);
  const consideration = readItems(field('consideration'), ['recipient']).map((item) => ({
    ...readItem(item),
    recipient: readAddress(item('recipient')),
  }));
  const count = field('totalOriginalConsiderationItems');
  if (count.value !== undefined && readUint(count) !== BigInt(consideration.length)) {
    throw new MalformedOrder(count.path, `must be ${consideration.length}, the number of consideration items`);
  }
  return {
    offerer: readAddress(field('offerer')),
    zone: readAddress(field('zone')),
    offer: readItems(field('offer'), []).map(readItem),
    consideration,
    orderType: Number(readUint(field('orderType'), ORDER_TYPE_MAX)),
    startTime: readUint(field('startTime')),
    endTime: readUint(field('endTime')),
    zoneHash: readBytes32(field('zoneHash')),
    salt: readUint(field('salt')),
    conduitKey: readBytes32(field('conduitKey')),
    counter: readUint(field('counter')),
  };
}

type FieldReader = (name: string) => JsonValue;

function readItems(json: JsonValue, extraFields: readonly string[]): FieldReader[] {
  const { value, path } = json;
  if (!Array.isArray(value)) throw new MalformedOrder(path, 'must be an array');
  if (value.length > ITEMS_MAX) throw new MalformedOrder(path, `must have at most ${ITEMS_MAX} items`);
  return value.map((item: unknown, index) =>
    fieldsOf({ value: item, path: `${path}.${index}` }, [...ITEM_FIELDS, ...extraFields], NO_FIELDS),
  );
}

const NO_FIELDS: ReadonlySet<string> = new Set();

function readItem(field: FieldReader): OfferItem {
  return {
    itemType: Number(readUint(field('itemType'), ITEM_TYPE_MAX)),
    token: readAddress(field('token')),
    identifierOrCriteria: readUint(field('identifierOrCriteria')),
    startAmount: readUint(field('startAmount')),
    endAmount: readUint(field('endAmount')),
  };
}

/** The returned function reads a field of the object. Throws MalformedOrder if the object has a field in neither `known` nor `extra`. */
function fieldsOf({ value, path }: JsonValue, known: readonly string[], extra: ReadonlySet<string>): FieldReader {
  if (typeof value !== 'object' || value === null || Array.isArray(value) || value instanceof JsonNumber) {
    throw new MalformedOrder(path, 'must be an object');
  }
  const prefix = path === '' ? '' : `${path}.`;
  const unknown = Object.keys(value).find((name) => !known.includes(name) && !extra.has(name));
  if (unknown !== undefined) {
    throw new MalformedOrder(prefix + unknown.slice(0, FIELD_NAME_SHOWN_MAX), 'is not a field of an order');
  }
  return (name) => ({
    value: Object.hasOwn(value, name) ? (value as Record<string, unknown>)[name] : undefined,
    path: prefix + name,
  });
}

const NUMBER = /^(?:0|[1-9]\d*|0x[0-9a-f]+)$/i;

/**
 * Reads an unsigned integer. A JavaScript number above 2^53 - 1 is rejected: it may have been rounded, and the order would have another
 * hash than the signed order. A JsonNumber keeps the digits of the JSON text, so it may be as large as `max`.
 */
function readUint({ value, path }: JsonValue, max = UINT256_MAX): bigint {
  const text = value instanceof JsonNumber ? value.text : Number.isSafeInteger(value) ? String(value) : value;
  const isNumber = typeof text === 'string' && text.length <= NUMBER_LENGTH_MAX && NUMBER.test(text);
  const number = isNumber ? BigInt(text) : -1n;
  if (number >= 0n && number <= max) return number;
  const largest = max === UINT256_MAX ? '2^256-1' : String(max);
  throw new MalformedOrder(
    path,
    `must be an integer from 0 to ${largest}, as a number, decimal text without leading zeros or 0x-hex text`,
  );
}

function readAddress({ value, path }: JsonValue): Address {
  const address = typeof value === 'string' ? parseAddress('evm', value) : null;
  if (address === null) throw new MalformedOrder(path, 'must be an EVM address');
  return address;
}

function readBytes32({ value, path }: JsonValue): Hex {
  if (typeof value !== 'string' || !/^0x[0-9a-f]{64}$/i.test(value)) {
    throw new MalformedOrder(path, 'must be 0x and 32 bytes in hex');
  }
  return value.toLowerCase() as Hex;
}

/** The components as they are stored, and as buyers' libraries read them: JSON with large integers as decimal text. */
export function toParameters(order: SeaportOrder): Record<string, unknown> {
  const toText = (_name: string, value: unknown) => (typeof value === 'bigint' ? value.toString() : value);
  const components = JSON.parse(JSON.stringify(order, toText)) as Record<string, unknown>;
  return { ...components, totalOriginalConsiderationItems: order.consideration.length };
}

const ITEM = 'uint8 itemType,address token,uint256 identifierOrCriteria,uint256 startAmount,uint256 endAmount';
const OFFER_ITEM_TYPE = `OfferItem(${ITEM})`;
const CONSIDERATION_ITEM_TYPE = `ConsiderationItem(${ITEM},address recipient)`;
const COMPONENTS_TYPE =
  'OrderComponents(address offerer,address zone,OfferItem[] offer,ConsiderationItem[] consideration,uint8 orderType,' +
  'uint256 startTime,uint256 endTime,bytes32 zoneHash,uint256 salt,bytes32 conduitKey,uint256 counter)';
/** The EIP-712 encoding of the order's own type, without the types that it references. */
export const ORDER_TYPE_TEXT = COMPONENTS_TYPE;
/** The EIP-712 encodings of the types that the order's type references, sorted by name. */
export const REFERENCED_TYPES_TEXT = CONSIDERATION_ITEM_TYPE + OFFER_ITEM_TYPE;

const OFFER_ITEM_TYPE_HASH = keccak256OfText(OFFER_ITEM_TYPE);
const CONSIDERATION_ITEM_TYPE_HASH = keccak256OfText(CONSIDERATION_ITEM_TYPE);
const ORDER_TYPE_HASH = keccak256OfText(COMPONENTS_TYPE + REFERENCED_TYPES_TEXT);
const DOMAIN_TYPE_HASH = keccak256OfText(
  'EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)',
);
const NAME_HASH = keccak256OfText('Seaport');

/** The EIP-712 struct hash of an order, by which events and marketplaces identify it. */
export function hashOrder(order: SeaportOrder): Hex {
  return hashWords([
    ORDER_TYPE_HASH,
    order.offerer,
    order.zone,
    hashWords(order.offer.map((item) => hashWords([OFFER_ITEM_TYPE_HASH, ...wordsOf(item)]))),
    hashWords(
      order.consideration.map((item) => hashWords([CONSIDERATION_ITEM_TYPE_HASH, ...wordsOf(item), item.recipient])),
    ),
    BigInt(order.orderType),
    order.startTime,
    order.endTime,
    order.zoneHash,
    order.salt,
    order.conduitKey,
    order.counter,
  ]);
}

function wordsOf({ itemType, token, identifierOrCriteria, startAmount, endAmount }: OfferItem): readonly Word[] {
  return [BigInt(itemType), token, identifierOrCriteria, startAmount, endAmount];
}

/** The EIP-712 digest that is signed for one deployment. `structHash` is the struct hash of an order, or of a tree of orders. */
export function orderDigest({ address, version, chainId }: Protocol, structHash: Hex): Hex {
  const domain = hashWords([DOMAIN_TYPE_HASH, NAME_HASH, keccak256OfText(version), BigInt(chainId), address]);
  return keccak256(`0x1901${domain.slice(2)}${structHash.slice(2)}`);
}

/** Hex text of at most 32 bytes, or a number. */
type Word = string | bigint;

/** The keccak256 hash of values encoded as in EIP-712: each value is padded on the left to 32 bytes. */
export function hashWords(words: readonly Word[]): Hex {
  const digits = words.map((word) => (typeof word === 'bigint' ? word.toString(16) : word.slice(2)).padStart(64, '0'));
  return keccak256(`0x${digits.join('')}`);
}
