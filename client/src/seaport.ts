// Seaport listings: the components of an order that sells tokens, and the typed data (EIP-712) that the seller's wallet signs.
// Nothing here asks a node: the caller reads the seller's counter and the time of the newest block.

import { toJson } from './json.ts';

type Hex = `0x${string}`;

/** `identifierOrCriteria` is a token id, 0 for a payment, or the criteria of a bid for one of several tokens. */
export type SeaportItem = {
  itemType: number;
  token: Hex;
  identifierOrCriteria: bigint;
  startAmount: bigint;
  endAmount: bigint;
};
export type SeaportPayment = SeaportItem & { recipient: Hex };

/** The components of an order, as they are signed. Times are in seconds since the epoch. */
export type SeaportOrder = {
  offerer: Hex;
  zone: Hex;
  offer: readonly SeaportItem[];
  consideration: readonly SeaportPayment[];
  orderType: number;
  startTime: bigint;
  endTime: bigint;
  zoneHash: Hex;
  salt: bigint;
  conduitKey: Hex;
  counter: bigint;
};

/** The contract that fills the order. Its address, version and chain are signed with the order. */
export type SeaportDeployment = { address: Hex; version: string; chainId: number };

export type OfferedToken = {
  contract: Hex;
  tokenId: bigint;
  standard: 'erc721' | 'erc1155';
  /** 1 if absent. */
  units?: bigint;
};

export type ListingTerms = {
  seller: Hex;
  /** Several tokens are sold together, at one price. */
  tokens: readonly OfferedToken[];
  /** What the buyer pays, in base units: first what the seller receives, then fees and royalties. */
  payments: readonly { recipient: Hex; amount: bigint }[];
  /** The ERC-20 currency of all payments. The native currency if absent or null. */
  currency?: Hex | null;
  /** Seconds since the epoch. */
  startTime: number | bigint;
  endTime: number | bigint;
  /** The seller's counter in the Seaport contract (`getCounter`). An order with another counter cannot be filled. */
  counter: bigint;
  /** Random if absent, so that two orders with the same terms differ. */
  salt?: bigint;
  /** The conduit that the seller approved to transfer tokens. If absent, it is Seaport itself. */
  conduitKey?: Hex;
};

/** https://github.com/ProjectOpenSea/seaport-types, ConsiderationEnums.sol */
const ITEM_TYPE = { native: 0, erc20: 1, erc721: 2, erc1155: 3 } as const;
const ORDER_TYPE = { fullOpen: 0, partialOpen: 1 } as const;
const ZERO_ADDRESS: Hex = `0x${'0'.repeat(40)}`;
const ZERO_HASH: Hex = `0x${'0'.repeat(64)}`;
const SALT_BYTES = 16;

/** An order that sells the tokens. Several units of a token may be bought in parts. */
export function toListingOrder(terms: ListingTerms): SeaportOrder {
  const currency = terms.currency ?? null;
  return {
    offerer: terms.seller,
    zone: ZERO_ADDRESS,
    offer: terms.tokens.map(({ contract, tokenId, standard, units = 1n }) =>
      toItem(ITEM_TYPE[standard], contract, tokenId, units),
    ),
    consideration: terms.payments.map(({ recipient, amount }) => ({
      ...toItem(currency === null ? ITEM_TYPE.native : ITEM_TYPE.erc20, currency ?? ZERO_ADDRESS, 0n, amount),
      recipient,
    })),
    orderType: terms.tokens.some(({ units = 1n }) => units > 1n) ? ORDER_TYPE.partialOpen : ORDER_TYPE.fullOpen,
    startTime: BigInt(terms.startTime),
    endTime: BigInt(terms.endTime),
    zoneHash: ZERO_HASH,
    salt: terms.salt ?? randomSalt(),
    conduitKey: terms.conduitKey ?? ZERO_HASH,
    counter: terms.counter,
  };
}

function toItem(itemType: number, token: Hex, identifierOrCriteria: bigint, amount: bigint): SeaportItem {
  return { itemType, token, identifierOrCriteria, startAmount: amount, endAmount: amount };
}

function randomSalt(): bigint {
  const bytes = crypto.getRandomValues(new Uint8Array(SALT_BYTES));
  return bytes.reduce((salt, byte) => salt * 256n + BigInt(byte), 0n);
}

const ITEM = [
  { name: 'itemType', type: 'uint8' },
  { name: 'token', type: 'address' },
  { name: 'identifierOrCriteria', type: 'uint256' },
  { name: 'startAmount', type: 'uint256' },
  { name: 'endAmount', type: 'uint256' },
] as const;

/** The types of the structs that are signed (EIP-712). */
export const SEAPORT_TYPES = {
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
  OfferItem: ITEM,
  ConsiderationItem: [...ITEM, { name: 'recipient', type: 'address' }],
} as const;

const DOMAIN = [
  { name: 'name', type: 'string' },
  { name: 'version', type: 'string' },
  { name: 'chainId', type: 'uint256' },
  { name: 'verifyingContract', type: 'address' },
] as const;

/** The name, version, chain and address for which an order is signed. */
export function toSeaportDomain({ address, version, chainId }: SeaportDeployment) {
  return { name: 'Seaport', version, chainId, verifyingContract: address };
}

/** What the seller signs: the argument of `signTypedData` of viem and of similar libraries. */
export function toTypedData(message: SeaportOrder, deployment: SeaportDeployment) {
  const domain = toSeaportDomain(deployment);
  return { domain, types: SEAPORT_TYPES, primaryType: 'OrderComponents', message } as const;
}

/** What the seller signs, as the JSON that a wallet in a browser takes (`eth_signTypedData_v4`). */
export function toTypedDataJson(order: SeaportOrder, deployment: SeaportDeployment): string {
  const { types, ...typedData } = toTypedData(order, deployment);
  return toJson({ ...typedData, types: { EIP712Domain: DOMAIN, ...types } });
}
