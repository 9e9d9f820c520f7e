// Signs a Seaport order for one ERC-721 token, and lists it. The seller must have approved Seaport to transfer the token.
// SELLER_KEY=0x… MERCAT_KEY=mercat_live_… node client/examples/post-listing.ts BASE_URL RPC_URL CHAIN CONTRACT TOKEN_ID PRICE

import type { OrderResponse } from 'mercat-client/intake';
import { createIntakeClient } from 'mercat-client/intake';
import { parseAmount } from 'mercat-client';
import { toListingOrder, toTypedData } from 'mercat-client/seaport';
import type { Address, Hex, LocalAccount } from 'viem';
import { createPublicClient, http, parseAbi } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';

const SEAPORT: Address = '0x0000000000000068F116a894984e2DB1123eB395';
const SEAPORT_ABI = parseAbi(['function getCounter(address offerer) view returns (uint256)']);
const NATIVE_DECIMALS = 18;
const DAY_S = 86_400n;

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
  const parameters = toListingOrder({
    seller: seller.address,
    tokens: [{ contract: sale.contract, tokenId: sale.tokenId, standard: 'erc721' }],
    payments: [{ recipient: seller.address, amount: sale.price }],
    startTime: timestamp,
    endTime: timestamp + DAY_S,
    counter,
  });
  const signature = await seller.signTypedData(toTypedData(parameters, { address: SEAPORT, version: '1.6', chainId }));
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
