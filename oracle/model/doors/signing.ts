// Signs orders and cancels for the chains that a run has no endpoint of, and for the simulated chain.

import type { Hex } from 'viem';
import { concat, keccak256, numberToHex } from 'viem';
import type { PrivateKeyAccount } from 'viem/accounts';
import { privateKeyToAccount } from 'viem/accounts';
import { toJson } from '../../../client/src/json.ts';
import type { SeaportDeployment, SeaportOrder } from '../../../client/src/seaport.ts';
import { SEAPORT_TYPES, toListingOrder, toSeaportDomain } from '../../../client/src/seaport.ts';
import type { Json } from '../comparison/check.ts';

const SEAPORT: Hex = '0x0000000000000068f116a894984e2db1123eb395';
export const DEPLOYMENTS: Readonly<Record<string, SeaportDeployment & { wrapped: Hex }>> = {
  ethereum: { address: SEAPORT, version: '1.6', chainId: 1, wrapped: '0xc02aaa39b223fe8d0a0e5c4f27ead9083c756cc2' },
  base: { address: SEAPORT, version: '1.6', chainId: 8453, wrapped: '0x4200000000000000000000000000000000000006' },
  polygon: { address: SEAPORT, version: '1.6', chainId: 137, wrapped: '0x0d500b1d8e8ef31e21c99d1db9a6444d3adf1270' },
};
const FEE_RECIPIENT: Hex = '0x00000000000000000000000000000000000000fe';
const ITEM = { erc20: 1, token: { erc721: 2, erc1155: 3 }, criteria: { erc721: 4, erc1155: 5 } } as const;

export type Standard = 'erc721' | 'erc1155';

/** What both sides of a trade state. Amounts are for all units. Times are in seconds. */
export type Terms = {
  offerer: number;
  contract: string;
  standard: Standard;
  units: bigint;
  price: bigint;
  fee: bigint;
  startTime: number;
  endTime: number;
  salt: bigint;
};

const accounts = new Map<number, PrivateKeyAccount>();

/** The account whose private key is the number `n`, 1 or more. */
export function accountOf(n: number): PrivateKeyAccount {
  const account = accounts.get(n) ?? privateKeyToAccount(numberToHex(n, { size: 32 }));
  accounts.set(n, account);
  return account;
}

/** An order that sells units of a token for the native currency. */
export function toAsk(terms: Terms, tokenId: string): SeaportOrder {
  const seller = accountOf(terms.offerer).address;
  const { contract, standard, units, price, fee, ...rest } = terms;
  return toListingOrder({
    ...rest,
    seller,
    tokens: [{ contract: contract.toLowerCase() as Hex, tokenId: BigInt(tokenId), standard, units }],
    payments: [{ recipient: seller, amount: price }, ...(fee > 0n ? [{ recipient: FEE_RECIPIENT, amount: fee }] : [])],
    counter: 0n,
  });
}

/** An order that offers the wrapped currency. `price` is what the bidder pays for all units, with the fee. `wanted`: the token, or the root of a set; 0 means any token. */
export function toBid(terms: Terms, wrapped: Hex, wanted: { tokenId: string } | { root: bigint }): SeaportOrder {
  const { contract, standard, units, price, fee } = terms;
  const pay = (amount: bigint) => toItem(ITEM.erc20, { token: wrapped, id: 0n, amount });
  const [kind, id] =
    'root' in wanted ? (['criteria', wanted.root] as const) : (['token', BigInt(wanted.tokenId)] as const);
  const token = toItem(ITEM[kind][standard], { token: contract.toLowerCase() as Hex, id, amount: units });
  return {
    ...toAsk(terms, '0'),
    offer: [pay(price)],
    consideration: [
      { ...token, recipient: accountOf(terms.offerer).address },
      ...(fee > 0n ? [{ ...pay(fee), recipient: FEE_RECIPIENT }] : []),
    ],
  };
}

function toItem(itemType: number, { token, id, amount }: { token: Hex; id: bigint; amount: bigint }) {
  return { itemType, token, identifierOrCriteria: id, startAmount: amount, endAmount: amount };
}

/** Orders, "Bids": "the leaves are the Keccak-256 hashes of the token ids as 32 bytes, sorted, and the two hashes of a pair are sorted too". */
export function rootOf(tokens: readonly string[]): bigint {
  const sorted = (hashes: readonly Hex[]) => hashes.toSorted((a, b) => (BigInt(a) < BigInt(b) ? -1 : 1));
  let level = sorted(tokens.map((token) => keccak256(numberToHex(BigInt(token), { size: 32 }))));
  while (level.length > 1) {
    level = Array.from({ length: Math.ceil(level.length / 2) }, (_, index) => {
      const pair = level.slice(2 * index, 2 * index + 2);
      return pair.length === 1 ? (pair[0] ?? '0x') : keccak256(concat(sorted(pair)));
    });
  }
  return BigInt(level[0] ?? 0);
}

/** The order with its signature, as `POST /intake/v1/orders` takes it. */
export async function signOrder(order: SeaportOrder, chain: string, signer: number): Promise<Json> {
  const deployment = DEPLOYMENTS[chain];
  if (!deployment) throw new Error(`no orders are signed on ${chain}`);
  const signature = await accountOf(signer).signTypedData({
    domain: toSeaportDomain(deployment),
    types: SEAPORT_TYPES,
    primaryType: 'OrderComponents',
    message: order,
  });
  const total = order.consideration.length;
  return { parameters: { ...(JSON.parse(toJson(order)) as Json), totalOriginalConsiderationItems: total }, signature };
}

/** The signature with which an offerer cancels an order off-chain. */
export function signCancel(chain: string, orderHash: string, signer: number): Promise<string> {
  return accountOf(signer).signTypedData({
    domain: { name: 'Mercat', version: '1', chainId: DEPLOYMENTS[chain]?.chainId ?? 0 },
    types: { CancelOrder: [{ name: 'orderHash', type: 'bytes32' }] },
    primaryType: 'CancelOrder',
    message: { orderHash: orderHash as Hex },
  });
}
