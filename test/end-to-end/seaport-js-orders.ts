// Prepares one local chain for tests with OpenSea's seaport-js library. A seller holds ERC-721 tokens and units of an ERC-1155 token, the
// edition. A contract wallet holds ERC-721 tokens, and a buyer has money. For each way of listing, the library signs an order.

import assert from 'node:assert/strict';
import type { CreateOrderInput, OrderWithCounter } from '@opensea/seaport-js/lib/types.js';
import type { Hex } from 'viem';
import { readContract } from '../../devnet/artifacts.ts';
import { callOf, deploy, setAutomine, transact } from '../../devnet/chain.ts';
import type { Contract } from '../../devnet/protocol.ts';
import type { World } from '../../devnet/world.ts';
import { createSeaportJs } from '../support/chain/devnet.ts';

type Party = ReturnType<typeof createSeaportJs>;

export type Scene = {
  world: World;
  nft: Contract;
  editions: Contract;
  /** A contract wallet. Its signatures are made with the key of its owner (ERC-1271). */
  wallet: Contract;
  seller: Party;
  buyer: Party;
  walletOwner: Party;
  end(): void;
};

/** An order that the library signed, and the terms that the service must read from the order. */
export type Signed = {
  order: OrderWithCounter;
  contract: Contract;
  tokenId: bigint;
  units: bigint;
  /** The amount that the offerer must receive for a unit. */
  ask: bigint;
  /** The amount that the buyer must pay for a unit. */
  total: bigint;
  offerer: string;
  /** Whether the order has an end time. */
  ends: boolean;
};

// The next three constants are indexes of accounts. These accounts have given no approval, so the library must request each
// approval.
const SELLER = 0;
const BUYER = 1;
const WALLET_OWNER = 2;

// Seaport's numbers for the types of items.
const ERC721 = 2;
const ERC1155 = 3;

const DAY_S = 86_400;
const FEE_BPS = 250;

const FIRST_TOKEN = 201;
const SELLER_TOKENS = 8;
const WALLET_TOKENS = 2;
const tokensFrom = (first: number, count: number) => Array.from({ length: count }, (_, index) => BigInt(first + index));
const OF_SELLER = tokensFrom(FIRST_TOKEN, SELLER_TOKENS);
const OF_WALLET = tokensFrom(FIRST_TOKEN + SELLER_TOKENS, WALLET_TOKENS);
/** A token of the seller that `signListingsOfAll` does not list. Tests sign orders for this token later. */
export const LATE_TOKEN = BigInt(FIRST_TOKEN + SELLER_TOKENS + WALLET_TOKENS);
const EDITION = 301n;
const EDITION_UNITS = 10n;
const BUYERS_MONEY = 10n ** 18n;

export async function setScene(world: World): Promise<Scene> {
  const { chain, collections, protocol } = world;
  const [nft, editions] = collections;
  assert.ok(nft && editions);
  const parties = [SELLER, BUYER, WALLET_OWNER].map((index) => createSeaportJs(chain, index));
  const [seller, buyer, walletOwner] = parties;
  assert.ok(seller && buyer && walletOwner);
  const artifact = readContract('DevnetWallet');
  const wallet = { address: await deploy(chain, artifact, [walletOwner.address]), abi: artifact.abi };
  const mint = (to: string) => (id: bigint) => callOf(seller.address, nft, 'mint', [to, id]);
  const { data } = callOf(wallet.address, nft, 'setApprovalForAll', [protocol.seaport.address, true]);
  await transact(chain, [
    ...[...OF_SELLER, LATE_TOKEN].map(mint(seller.address)),
    ...OF_WALLET.map(mint(wallet.address)),
    callOf(seller.address, editions, 'mint', [seller.address, EDITION, EDITION_UNITS]),
    callOf(buyer.address, protocol.wrapped, 'deposit', [], BUYERS_MONEY),
    callOf(walletOwner.address, wallet, 'execute', [nft.address, 0n, data]),
  ]);
  await setAutomine(chain, true);
  const end = () => parties.forEach((party) => party.end());
  return { world, nft, editions, wallet, seller, buyer, walletOwner, end };
}

/** Calls Seaport from the contract wallet. Resolves to the transaction hash. */
export async function callAsWallet({ world, wallet, walletOwner }: Scene, data: string): Promise<Hex> {
  const { seaport } = world.protocol;
  const call = callOf(walletOwner.address, wallet, 'execute', [seaport.address, 0n, data]);
  const [receipt] = await transact(world.chain, [call]);
  return receipt?.transactionHash ?? assert.fail();
}

export function askFor({ nft }: Scene, tokenId: bigint, amount: bigint, currency?: string): CreateOrderInput {
  return {
    offer: [{ itemType: ERC721, token: nft.address, identifier: tokenId.toString() }],
    consideration: [{ amount: amount.toString(), ...(currency !== undefined && { token: currency }) }],
    endTime: String(Math.floor(Date.now() / 1_000) + DAY_S),
  };
}

export async function sign(
  { seaport, address }: Party,
  input: CreateOrderInput,
  offerer: string = address,
): Promise<OrderWithCounter> {
  const { executeAllActions } = await seaport.createOrder(input, offerer);
  return executeAllActions();
}

export type Name = 'plain' | 'fees' | 'wrapped' | 'conduit' | 'wallet' | 'wallet2' | 'edition' | `bulk${number}`;
const BULK_SIZE = 3;
/** The ask of the first bulk order: the lowest ask of the collection `nft`. */
const BULK_ASK = 40_000n;
const UNIT_ASK = 1_000n;

/** Signs an order for each way of listing. No two orders have the same price. */
export async function signListingsOfAll(scene: Scene): Promise<Map<Name, Signed>> {
  const { seller, walletOwner, wallet, world, nft, editions } = scene;
  const { fees, protocol } = world;
  const [plain = 0n, withFees = 0n, wrapped = 0n, conduit = 0n, ...rest] = OF_SELLER;
  const book = new Map<Name, Signed>();
  const add = (name: Name, order: OrderWithCounter, terms: Pick<Signed, 'tokenId' | 'ask'> & Partial<Signed>) => {
    const rules = { contract: nft, units: 1n, total: terms.ask, offerer: seller.address, ends: true };
    book.set(name, { order, ...rules, ...terms });
  };
  const { endTime: _left, ...unending } = askFor(scene, plain, 50_000n);
  add('plain', await sign(seller, unending), { tokenId: plain, ask: 50_000n, ends: false });
  const fee = { recipient: fees.own.to, basisPoints: FEE_BPS };
  const feeInput = { ...askFor(scene, withFees, 60_000n), fees: [fee] };
  add('fees', await sign(seller, feeInput), { tokenId: withFees, ask: 58_500n, total: 60_000n });
  const wrappedInput = askFor(scene, wrapped, 70_000n, protocol.wrapped.address);
  add('wrapped', await sign(seller, wrappedInput), { tokenId: wrapped, ask: 70_000n });
  const conduitInput = { ...askFor(scene, conduit, 75_000n), conduitKey: protocol.conduit.key };
  add('conduit', await sign(seller, conduitInput), { tokenId: conduit, ask: 75_000n });
  for (const [index, tokenId] of OF_WALLET.entries()) {
    const ask = 80_000n + BigInt(index);
    const order = await sign(walletOwner, askFor(scene, tokenId, ask), wallet.address);
    add(index === 0 ? 'wallet' : 'wallet2', order, { tokenId, ask, offerer: wallet.address });
  }
  const edition: CreateOrderInput = {
    offer: [{ itemType: ERC1155, token: editions.address, identifier: String(EDITION), amount: String(EDITION_UNITS) }],
    consideration: [{ amount: String(EDITION_UNITS * UNIT_ASK) }],
    allowPartialFills: true,
    endTime: String(Math.floor(Date.now() / 1_000) + DAY_S),
  };
  const editionTerms = { contract: editions, tokenId: EDITION, units: EDITION_UNITS, ask: UNIT_ASK };
  add('edition', await sign(seller, edition), editionTerms);
  const bulk = rest.slice(0, BULK_SIZE).map((tokenId, index) => ({ tokenId, ask: BULK_ASK + BigInt(index) }));
  const inputs = bulk.map(({ tokenId, ask }) => askFor(scene, tokenId, ask));
  const { executeAllActions } = await seller.seaport.createBulkOrders(inputs, seller.address);
  const orders = await executeAllActions();
  for (const [index, terms] of bulk.entries()) add(`bulk${index}`, orders[index] ?? assert.fail(), terms);
  return book;
}
