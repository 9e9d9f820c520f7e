// Seaport listings and bids: the components of an order that sells or buys tokens, and the typed data (EIP-712) that the wallet of its maker signs.
// Nothing here asks a node: the caller reads the maker's counter and the time of the newest block.

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

export type Payment = { recipient: Hex; amount: bigint };

/** The terms that listings and bids have in common. */
type SigningTerms = {
  /** Seconds since the epoch. */
  startTime: number | bigint;
  endTime: number | bigint;
  /** The maker's counter in the Seaport contract (`getCounter`). An order with another counter cannot be filled. */
  counter: bigint;
  /** Random if absent, so that two orders with the same terms differ. */
  salt?: bigint;
  /** The conduit that the maker approved to transfer tokens and payments. If absent, it is Seaport itself. */
  conduitKey?: Hex;
};

export type ListingTerms = SigningTerms & {
  seller: Hex;
  /** Several tokens are sold together, at one price. */
  tokens: readonly OfferedToken[];
  /** What the buyer pays, in base units: first what the seller receives, then fees and royalties. */
  payments: readonly Payment[];
  /** The ERC-20 currency of all payments. The native currency if absent or null. */
  currency?: Hex | null;
};

/**
 * What a bid is for: one token (`tokenId`), any token of the set with this Merkle root (`root`, as `toTokenRoot` returns it), or any token of the
 * contract (`root: null`).
 */
export type WantedTokens = { contract: Hex; standard: OfferedToken['standard'] } & (
  | { tokenId: bigint; root?: undefined }
  | { tokenId?: undefined; root: Hex | null }
);

export type BidTerms = SigningTerms & {
  bidder: Hex;
  wanted: WantedTokens;
  /** How many units of the token, or how many of the tokens, the bid buys. 1 if absent. */
  units?: bigint;
  /** The ERC-20 currency of all payments: at a Mercat service, the wrapped native currency of the chain. */
  currency: Hex;
  /** What the bidder pays for all units, in base units of the currency. A multiple of `units`. */
  price: bigint;
  /** Paid by the seller out of the price, for all units. Each amount is a multiple of `units`. */
  fees?: readonly Payment[];
};

/** https://github.com/ProjectOpenSea/seaport-types, ConsiderationEnums.sol */
const ITEM_TYPE = { native: 0, erc20: 1, erc721: 2, erc1155: 3, erc721Criteria: 4, erc1155Criteria: 5 } as const;
const ORDER_TYPE = { fullOpen: 0, partialOpen: 1 } as const;
const ZERO_ADDRESS: Hex = `0x${'0'.repeat(40)}`;
const ZERO_HASH: Hex = `0x${'0'.repeat(64)}`;
const SALT_BYTES = 16;

/** An order that sells the tokens. Several units of a token may be bought in parts. */
export function toListingOrder({ seller, tokens, payments, currency = null, ...terms }: ListingTerms): SeaportOrder {
  return toOrder(terms, {
    offerer: seller,
    offer: tokens.map(({ contract, tokenId, standard, units = 1n }) =>
      toItem(ITEM_TYPE[standard], contract, tokenId, units),
    ),
    consideration: payments.map((payment) => toPayment(currency, payment)),
    isPartial: tokens.some(({ units = 1n }) => units > 1n),
  });
}

/** An order that buys a token, or one of several tokens. A bid for several units may be accepted in parts. */
export function toBidOrder({
  bidder,
  wanted,
  units = 1n,
  currency,
  price,
  fees = [],
  ...terms
}: BidTerms): SeaportOrder {
  const { contract, standard, tokenId, root } = wanted;
  const item =
    tokenId === undefined
      ? toItem(ITEM_TYPE[`${standard}Criteria`], contract, BigInt(root ?? 0), units)
      : toItem(ITEM_TYPE[standard], contract, tokenId, units);
  return toOrder(terms, {
    offerer: bidder,
    offer: [toItem(ITEM_TYPE.erc20, currency, 0n, price)],
    consideration: [{ ...item, recipient: bidder }, ...fees.map((fee) => toPayment(currency, fee))],
    isPartial: units > 1n,
  });
}

type OrderParts = Pick<SeaportOrder, 'offerer' | 'offer' | 'consideration'> & { isPartial: boolean };

function toOrder(
  { startTime, endTime, counter, salt = randomSalt(), conduitKey = ZERO_HASH }: SigningTerms,
  { isPartial, ...parts }: OrderParts,
): SeaportOrder {
  return {
    ...parts,
    zone: ZERO_ADDRESS,
    orderType: isPartial ? ORDER_TYPE.partialOpen : ORDER_TYPE.fullOpen,
    startTime: BigInt(startTime),
    endTime: BigInt(endTime),
    zoneHash: ZERO_HASH,
    salt,
    conduitKey,
    counter,
  };
}

function toPayment(currency: Hex | null, { recipient, amount }: Payment): SeaportPayment {
  const itemType = currency === null ? ITEM_TYPE.native : ITEM_TYPE.erc20;
  return { ...toItem(itemType, currency ?? ZERO_ADDRESS, 0n, amount), recipient };
}

function toItem(itemType: number, token: Hex, identifierOrCriteria: bigint, amount: bigint): SeaportItem {
  return { itemType, token, identifierOrCriteria, startAmount: amount, endAmount: amount };
}

function randomSalt(): bigint {
  const bytes = crypto.getRandomValues(new Uint8Array(SALT_BYTES));
  return bytes.reduce((salt, byte) => salt * 256n + BigInt(byte), 0n);
}

/**
 * The root of the Merkle tree of the tokens that meet a bid, as Seaport verifies it: the leaves are the hashes of the token ids, sorted, and the
 * two hashes of a pair are sorted too. A hash without a neighbour moves up unchanged. `tokenIds`: at least one, none of them twice.
 * `keccak256`: that of viem, ethers or a similar library.
 */
export function toTokenRoot(tokenIds: readonly bigint[], keccak256: (bytes: Hex) => Hex): Hex {
  let level = tokenIds.map((id) => keccak256(`0x${id.toString(16).padStart(64, '0')}`)).sort();
  while (level.length > 1) {
    level = Array.from({ length: Math.ceil(level.length / 2) }, (_, at) => {
      const [left = ZERO_HASH, right] = level.slice(2 * at, 2 * at + 2).sort();
      return right === undefined ? left : keccak256(`${left}${right.slice(2)}`);
    });
  }
  const [root] = level;
  if (root === undefined) throw new TypeError('a set has at least one token');
  return root;
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

/** What the maker of the order signs: the argument of `signTypedData` of viem and of similar libraries. */
export function toTypedData(message: SeaportOrder, deployment: SeaportDeployment) {
  const domain = toSeaportDomain(deployment);
  return { domain, types: SEAPORT_TYPES, primaryType: 'OrderComponents', message } as const;
}

/** What the maker signs, as the JSON that a wallet in a browser takes (`eth_signTypedData_v4`). */
export function toTypedDataJson(order: SeaportOrder, deployment: SeaportDeployment): string {
  const { types, ...typedData } = toTypedData(order, deployment);
  return toJson({ ...typedData, types: { EIP712Domain: DOMAIN, ...types } });
}
