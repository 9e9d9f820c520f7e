// Buys a listing of the service by filling its Seaport order, for example on a chain of `npm run devnet`.
// BUYER_KEY=0x… node client/examples/buy-listing.ts BASE_URL RPC_URL ORDER_ID

import type { Order } from 'mercat-client';
import { createMarketClient } from 'mercat-client';
import type { Address, Hex, LocalAccount } from 'viem';
import { createPublicClient, createWalletClient, http, parseAbi, zeroHash } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';

const SEAPORT_ABI = parseAbi([
  'struct OfferItem { uint8 itemType; address token; uint256 identifierOrCriteria; uint256 startAmount; uint256 endAmount; }',
  'struct ConsiderationItem { uint8 itemType; address token; uint256 identifierOrCriteria; uint256 startAmount; uint256 endAmount; address recipient; }',
  'struct OrderParameters { address offerer; address zone; OfferItem[] offer; ConsiderationItem[] consideration; uint8 orderType; uint256 startTime; uint256 endTime; bytes32 zoneHash; uint256 salt; bytes32 conduitKey; uint256 totalOriginalConsiderationItems; }',
  'struct Order { OrderParameters parameters; bytes signature; }',
  'function fulfillOrder(Order order, bytes32 fulfillerConduitKey) payable returns (bool fulfilled)',
]);
const NATIVE = 0;

/** The parts of the components that this program reads. Integers are decimal text. */
type Item = { itemType: number; token: Address; identifierOrCriteria: string; startAmount: string; endAmount: string };
type Components = {
  offerer: Address;
  zone: Address;
  offer: Item[];
  consideration: (Item & { recipient: Address })[];
  orderType: number;
  startTime: string;
  endTime: string;
  zoneHash: Hex;
  salt: string;
  conduitKey: Hex;
};

export type BuyerOptions = { baseUrl: string; rpcUrl: string; buyer: LocalAccount };

/** Returns the hash of the transaction. */
export async function buyListing(orderId: string, { baseUrl, rpcUrl, buyer }: BuyerOptions): Promise<Hex> {
  const { data: order } = await createMarketClient({ baseUrl }).getOrder({ orderId });
  const { protocolAddress, parameters, signature } = requireFulfilment(order);
  const { offer, consideration, startTime, endTime, salt, ...rest } = parameters as unknown as Components;
  const items = consideration.map((item) => ({ ...toAmounts(item), recipient: item.recipient }));
  const total = items.reduce((sum, { itemType, startAmount }) => sum + (itemType === NATIVE ? startAmount : 0n), 0n);
  const transport = http(rpcUrl);
  const wallet = createWalletClient({ account: buyer, transport });
  // A fill that the chain would reject fails here, before it costs gas.
  const { request } = await createPublicClient({ transport }).simulateContract({
    account: buyer,
    address: protocolAddress as Address,
    abi: SEAPORT_ABI,
    functionName: 'fulfillOrder',
    args: [
      {
        parameters: {
          ...rest,
          offer: offer.map(toAmounts),
          consideration: items,
          startTime: BigInt(startTime),
          endTime: BigInt(endTime),
          salt: BigInt(salt),
          totalOriginalConsiderationItems: BigInt(items.length),
        },
        signature: signature as Hex,
      },
      zeroHash,
    ],
    value: total,
  });
  return wallet.writeContract({ ...request, chain: null });
}

function requireFulfilment({ fulfilment, status, dormant }: Order): NonNullable<Order['fulfilment']> {
  if (dormant) throw new Error(`the order cannot be filled now: ${dormant.reasons.join(', ')}`);
  if (!fulfilment)
    throw new Error(`the order is ${status}, or its fulfilment needs a signature of another marketplace`);
  return fulfilment;
}

const toAmounts = ({ itemType, token, identifierOrCriteria, startAmount, endAmount }: Item) => ({
  itemType,
  token,
  identifierOrCriteria: BigInt(identifierOrCriteria),
  startAmount: BigInt(startAmount),
  endAmount: BigInt(endAmount),
});

if (import.meta.main) {
  const [baseUrl = '', rpcUrl = '', orderId = ''] = process.argv.slice(2);
  const buyer = privateKeyToAccount(process.env['BUYER_KEY'] as Hex);
  console.log(await buyListing(orderId, { baseUrl, rpcUrl, buyer }));
}
