// Signs a Seaport order for one ERC-721 token, and lists it. The seller must have approved Seaport to transfer the token.
// SELLER_KEY=0x… MERCAT_KEY=mercat_live_… node client/examples/post-listing.ts BASE_URL RPC_URL CHAIN CONTRACT TOKEN_ID PRICE

import type { OrderResponse } from 'mercat-client/intake';
import { createIntakeClient } from 'mercat-client/intake';
import { parseAmount } from 'mercat-client';
import type { Address, Hex, LocalAccount } from 'viem';
import { createPublicClient, http, parseAbi, zeroAddress, zeroHash } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';

const SEAPORT: Address = '0x0000000000000068F116a894984e2DB1123eB395';
const SEAPORT_ABI = parseAbi(['function getCounter(address offerer) view returns (uint256)']);
const NATIVE_DECIMALS = 18;
const NATIVE = 0;
const ERC721 = 2;
const FULL_OPEN = 0;
const DAY_S = 86_400n;

const ITEM = [
  { name: 'itemType', type: 'uint8' },
  { name: 'token', type: 'address' },
  { name: 'identifierOrCriteria', type: 'uint256' },
  { name: 'startAmount', type: 'uint256' },
  { name: 'endAmount', type: 'uint256' },
] as const;
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
  OfferItem: ITEM,
  ConsiderationItem: [...ITEM, { name: 'recipient', type: 'address' }],
} as const;

export type Sale = {
  /** The name of the chain in the service, such as `ethereum`. */
  chain: string;
  contract: Address;
  tokenId: bigint;
  /** What the seller receives, in base units. */
  price: bigint;
};

export type SellerOptions = { baseUrl: string; apiKey: string; rpcUrl: string; seller: LocalAccount };

export async function postListing(
  sale: Sale,
  { baseUrl, apiKey, rpcUrl, seller }: SellerOptions,
): Promise<OrderResponse> {
  const node = createPublicClient({ transport: http(rpcUrl) });
  const [counter, { timestamp }, chainId] = await Promise.all([
    node.readContract({ address: SEAPORT, abi: SEAPORT_ABI, functionName: 'getCounter', args: [seller.address] }),
    node.getBlock(),
    node.getChainId(),
  ]);
  const payment = { itemType: NATIVE, token: zeroAddress, identifierOrCriteria: 0n, recipient: seller.address };
  const token = { itemType: ERC721, token: sale.contract, identifierOrCriteria: sale.tokenId };
  const parameters = {
    offerer: seller.address,
    zone: zeroAddress,
    offer: [{ ...token, startAmount: 1n, endAmount: 1n }],
    consideration: [{ ...payment, startAmount: sale.price, endAmount: sale.price }],
    orderType: FULL_OPEN,
    startTime: timestamp,
    endTime: timestamp + DAY_S,
    zoneHash: zeroHash,
    salt: BigInt(crypto.getRandomValues(new Uint32Array(1))[0] ?? 0),
    conduitKey: zeroHash,
    counter,
  };
  const signature = await seller.signTypedData({
    domain: { name: 'Seaport', version: '1.6', chainId, verifyingContract: SEAPORT },
    types: TYPES,
    primaryType: 'OrderComponents',
    message: parameters,
  });
  // The client sends bigints as decimal text.
  const intake = createIntakeClient({ baseUrl, apiKey });
  return intake.submitOrder({ chain: sale.chain, protocolAddress: SEAPORT, order: { parameters, signature } });
}

if (import.meta.main) {
  const [baseUrl = '', rpcUrl = '', chain = '', contract, tokenId = '', price = ''] = process.argv.slice(2);
  const { SELLER_KEY, MERCAT_KEY: apiKey = '' } = process.env;
  const sale = {
    chain,
    contract: contract as Address,
    tokenId: BigInt(tokenId),
    price: parseAmount(price, NATIVE_DECIMALS),
  };
  const seller = privateKeyToAccount(SELLER_KEY as Hex);
  const { data, order } = await postListing(sale, { baseUrl, apiKey, rpcUrl, seller });
  console.log(`listed as ${data.orderId}, hash ${order?.orderHash}`);
}
