// Lists tokens, buys listings, makes and accepts bids, and cancels both. Each action reports its steps. `toTradeFailure` turns the errors that an action throws into
// messages.

import type { Address, Hex } from 'viem';
import { encodeFunctionData, keccak256 } from 'viem';
import { createIntakeClient } from '../../../client/src/intake.ts';
import { MercatError } from '../../../client/src/market.ts';
import { CALL_OPTIONS, client, queries } from '../data/client.ts';
import { statusQuery } from '../data/status-query.ts';
import { CURRENCY_ABI, SEAPORT_ABI, TOKEN_ABI } from './abis.ts';
import type { ChainAccess } from './chain.ts';
import { pause } from './chain.ts';
import { TradeFailure } from './failure.ts';
import type { SeaportOrder, WantedTokens } from '../../../client/src/seaport.ts';
import { toBidOrder, toListingOrder, toTokenRoot, toTypedDataJson } from '../../../client/src/seaport.ts';
import type { Fulfilment } from './seaport.ts';
import { termsOf, toAcceptCall, toCancelCall, toFillCall, totalOf } from './seaport.ts';
import { texts } from './texts.ts';

export type Step = keyof typeof texts.steps;
export type OnStep = (step: Step) => void;
/** `onApproved` is called after an approval, which stays in force whatever comes next. */
export type Reports = { onStep: OnStep; onApproved: () => void };

export type Holding = { isErc1155: boolean; units: bigint };
export type Royalty = { recipient: Address; amount: bigint };

const ERC1155_INTERFACE = '0xd9b67a26';
/** Rejections that are temporary: the service has not yet read the newest blocks, for example the block with the approval. */
const TEMPORARY_CODES = new Set(['not_approved', 'not_the_owner', 'wrong_counter', 'chain_unavailable']);
/** The most that the service lists at once. */
const TOKENS_PER_PAGE = 100;
const PATIENCE_MS = 30_000;
const POLL_MS = 500;

/** How many units of a token the account holds. */
export async function readHolding(access: ChainAccess, contract: Address, tokenId: string): Promise<Holding> {
  const id = BigInt(tokenId);
  if (await access.find<boolean>(contract, TOKEN_ABI, 'supportsInterface', [ERC1155_INTERFACE])) {
    return { isErc1155: true, units: await access.read(contract, TOKEN_ABI, 'balanceOf', [access.account, id]) };
  }
  const owner = await access.find<Address>(contract, TOKEN_ABI, 'ownerOf', [id]);
  return { isErc1155: false, units: owner?.toLowerCase() === access.account ? 1n : 0n };
}

/** The royalty (ERC-2981) on a price. Null if the contract names none. */
export async function readRoyalty(
  access: ChainAccess,
  { contract, tokenId, price }: { contract: Address; tokenId: string; price: bigint },
): Promise<Royalty | null> {
  const found = await access.find<readonly [Address, bigint]>(contract, TOKEN_ABI, 'royaltyInfo', [
    BigInt(tokenId),
    price,
  ]);
  return found && found[1] > 0n ? { recipient: found[0].toLowerCase() as Address, amount: found[1] } : null;
}

export function readIsApproved(access: ChainAccess, contract: Address): Promise<boolean> {
  const { address } = access.chain.seaport;
  return access.read(contract, TOKEN_ABI, 'isApprovedForAll', [access.account, address]);
}

export type ListingDraft = {
  contract: Address;
  tokenId: string;
  isErc1155: boolean;
  price: bigint;
  royalty: Royalty | null;
  durationS: number;
};

/** Lists a token: approves Seaport if necessary, signs the order, and submits it. */
export async function listToken(
  access: ChainAccess,
  { durationS, ...draft }: ListingDraft,
  reports: Reports,
): Promise<void> {
  const { onStep } = reports;
  const { account } = access;
  onStep('reading');
  await access.requireUnchanged();
  let approvedAt: number | null = null;
  if (!(await readIsApproved(access, draft.contract)))
    approvedAt = await approveTokens(access, draft.contract, reports);
  const order = toListingOrder({
    seller: account,
    tokens: [
      { contract: draft.contract, tokenId: BigInt(draft.tokenId), standard: draft.isErc1155 ? 'erc1155' : 'erc721' },
    ],
    payments: [{ recipient: account, amount: draft.price }, ...(draft.royalty ? [draft.royalty] : [])],
    ...(await readSigningTerms(access, durationS)),
  });
  await signAndSubmit(access, order, { approvedAt, onStep });
}

export type BidDraft = {
  /** The token, if the bid is for one; otherwise any token of the collection, or any that has the trait. */
  wanted: {
    collectionId: string;
    contract: Address;
    isErc1155: boolean;
    tokenId: string | null;
    trait: { name: string; value: string } | null;
  };
  units: bigint;
  /** The price and the royalty are those of one unit. */
  price: bigint;
  royalty: Royalty | null;
  durationS: number;
};

/** Makes a bid: lets Seaport spend its price if necessary, signs the order, and submits it. */
export async function makeBid(
  access: ChainAccess,
  { wanted, units, price, royalty, durationS }: BidDraft,
  reports: Reports,
): Promise<void> {
  const { onStep } = reports;
  const { account, chain } = access;
  const currency = chain.wrappedNative as Address;
  onStep('reading');
  await access.requireUnchanged();
  const payment = { currency, amount: price * units, spender: chain.seaport.address as Address };
  const approvedAt = await requireCurrency(access, { ...payment, ...reports });
  const order = toBidOrder({
    bidder: account,
    wanted: await toWantedTokens(wanted),
    units,
    currency,
    price: payment.amount,
    fees: royalty ? [{ recipient: royalty.recipient, amount: royalty.amount * units }] : [],
    ...(await readSigningTerms(access, durationS)),
  });
  const criteria = wanted.trait && { traits: [wanted.trait] };
  await signAndSubmit(access, order, { approvedAt, criteria, onStep });
}

/** A trait is signed as the set of the tokens that have the trait now. */
async function toWantedTokens({
  collectionId,
  contract,
  isErc1155,
  ...wanted
}: BidDraft['wanted']): Promise<WantedTokens> {
  const { tokenId, trait } = wanted;
  const standard = isErc1155 ? 'erc1155' : 'erc721';
  if (tokenId !== null) return { contract, standard, tokenId: BigInt(tokenId) };
  if (trait === null) return { contract, standard, root: null };
  const list = {
    id: collectionId,
    traits: { [trait.name]: trait.value },
    sort: 'id',
    limit: TOKENS_PER_PAGE,
  } as const;
  const tokens = await Array.fromAsync(client.listTokens(list));
  const ids = tokens.flatMap((token) => (token.tokenId === null ? [] : [BigInt(token.tokenId)]));
  if (ids.length === 0) throw new TradeFailure(texts.failed.noTokens);
  return { contract, standard, root: toTokenRoot(ids, keccak256) };
}

async function readSigningTerms(access: ChainAccess, durationS: number) {
  const { timestamp } = await access.request<{ timestamp: Hex }>('eth_getBlockByNumber', ['latest', false]);
  const startTime = Number(timestamp);
  const seaport = access.chain.seaport.address as Address;
  const counter = await access.read<bigint>(seaport, SEAPORT_ABI, 'getCounter', [access.account]);
  return { startTime, endTime: startTime + durationS, counter };
}

type Signing = {
  /** The block of an approval that the order needs. Null if no approval was needed. */
  approvedAt: number | null;
  criteria?: Submission['criteria'];
  onStep: OnStep;
};

async function signAndSubmit(
  access: ChainAccess,
  parameters: SeaportOrder,
  { approvedAt, criteria = null, onStep }: Signing,
): Promise<void> {
  const { account, chain } = access;
  const seaport = chain.seaport.address as Address;
  onStep('signing');
  // While the approval was mined, the person may have selected another account or chain in the wallet.
  await access.requireUnchanged();
  const typedData = toTypedDataJson(parameters, { ...chain.seaport, address: seaport, chainId: chain.chainId });
  const signature = await access.request<Hex>('eth_signTypedData_v4', [account, typedData]);
  if (approvedAt !== null) {
    onStep('following');
    await untilRead(chain.chain, approvedAt);
  }
  onStep('submitting');
  await submit({ chain: chain.chain, protocolAddress: seaport, order: { parameters, signature }, criteria });
}

/** Lets Seaport move the tokens of the account. Returns the block of the approval. */
async function approveTokens(access: ChainAccess, contract: Address, { onStep, onApproved }: Reports): Promise<number> {
  onStep('approving');
  const args = [access.chain.seaport.address as Address, true] as const;
  const data = encodeFunctionData({ abi: TOKEN_ABI, functionName: 'setApprovalForAll', args });
  const block = await access.send({ to: contract, data, value: 0n }, () => onStep('mining'));
  onApproved();
  return block;
}

/** Waits until the service has read the block, at most `PATIENCE_MS`. The service rejects an order whose approval it has not read. Returns whether it has. */
async function untilRead(chain: string, block: number): Promise<boolean> {
  for (const deadline = performance.now() + PATIENCE_MS; performance.now() < deadline; await pause(POLL_MS)) {
    const state = await queries.fetchQuery({ ...statusQuery, staleTime: 0 }).catch(() => null);
    if ((state?.chains?.find((one) => one.chain === chain)?.block ?? 0) >= block) return true;
  }
  return false;
}

type Submission = Parameters<ReturnType<typeof createIntakeClient>['submitOrder']>[0];

async function submit(submission: Submission): Promise<void> {
  const intake = createIntakeClient(CALL_OPTIONS);
  for (const deadline = performance.now() + PATIENCE_MS; ; await pause(POLL_MS)) {
    try {
      await intake.submitOrder(submission);
      return;
    } catch (error) {
      const isTemporary = error instanceof MercatError && TEMPORARY_CODES.has(error.code);
      if (!isTemporary || performance.now() > deadline) throw error;
    }
  }
}

/** Buys a listing. Returns whether the service has read the purchase already. */
export async function buyListing(access: ChainAccess, orderId: string, reports: Reports): Promise<boolean> {
  const { onStep } = reports;
  onStep('reading');
  await access.requireUnchanged();
  const fulfilment = await requireFulfilment(orderId);
  const { amount, currency } = totalOf(fulfilment);
  if (currency === null) await requireNative(access, amount);
  else await requireCurrency(access, { currency, amount, spender: fulfilment.protocolAddress as Address, ...reports });
  const call = toFillCall(fulfilment);
  await access.rehearse(call);
  onStep('buying');
  await access.send(call, () => onStep('mining'));
  onStep('following');
  return hasEnded(orderId);
}

/** Cancels a listing or a bid on its chain. Returns whether the service has read the cancel already. */
export async function cancelOrder(access: ChainAccess, orderId: string, onStep: OnStep): Promise<boolean> {
  onStep('reading');
  await access.requireUnchanged();
  const call = toCancelCall(await requireFulfilment(orderId));
  await access.rehearse(call);
  onStep('cancelling');
  await access.send(call, () => onStep('mining'));
  onStep('following');
  return hasEnded(orderId);
}

export type Acceptance = { orderId: string; tokenId: string; isOfMany: boolean };

/**
 * Accepts a bid with one unit of a token. `isOfMany`: whether several tokens meet the bid, so that the service has a proof for this token. Returns
 * whether the service has read the sale already.
 */
export async function acceptBid(
  access: ChainAccess,
  { orderId, tokenId, isOfMany }: Acceptance,
  reports: Reports,
): Promise<boolean> {
  const { onStep } = reports;
  onStep('reading');
  await access.requireUnchanged();
  const fulfilment = await requireFulfilment(orderId, isOfMany ? tokenId : undefined);
  const { contract, fees, currency } = termsOf(fulfilment);
  if (!(await readIsApproved(access, contract))) await approveTokens(access, contract, reports);
  // Seaport first pays the price to the seller, and then takes the fees from the seller.
  const spender = fulfilment.protocolAddress as Address;
  if (currency !== null) await requireAllowance(access, { currency, amount: fees, spender, ...reports });
  const call = toAcceptCall(fulfilment, tokenId);
  await access.rehearse(call);
  onStep('accepting');
  const block = await access.send(call, () => onStep('mining'));
  onStep('following');
  return untilRead(access.chain.chain, block);
}

async function requireFulfilment(orderId: string, token?: string): Promise<Fulfilment> {
  const { data } = await client.getOrder({ orderId, ...(token !== undefined && { token }) });
  if (data.status !== 'active' || !data.fulfilment) throw new TradeFailure(texts.failed.gone, { hasEnded: true });
  return data.fulfilment;
}

async function requireNative(access: ChainAccess, amount: bigint): Promise<void> {
  const balance = await access.request<Hex>('eth_getBalance', [access.account, 'latest']);
  if (BigInt(balance) < amount) throw new TradeFailure(texts.failed.money);
}

type Payment = Reports & { currency: Address; amount: bigint; spender: Address };

/** Returns the block of the approval. Null if none was necessary. */
async function requireCurrency(access: ChainAccess, payment: Payment): Promise<number | null> {
  const { currency, amount } = payment;
  const balance = await access.read<bigint>(currency, CURRENCY_ABI, 'balanceOf', [access.account]);
  if (balance < amount) throw new TradeFailure(texts.failed.wrappedMoney);
  return requireAllowance(access, payment);
}

/** Approves the exact amount unless Seaport is already allowed to spend it. Returns the block of the approval. */
async function requireAllowance(access: ChainAccess, payment: Payment): Promise<number | null> {
  const { currency, amount, spender, onStep, onApproved } = payment;
  const allowance = await access.read<bigint>(currency, CURRENCY_ABI, 'allowance', [access.account, spender]);
  if (allowance >= amount) return null;
  onStep('approvingCurrency');
  const data = encodeFunctionData({ abi: CURRENCY_ABI, functionName: 'approve', args: [spender, amount] });
  const block = await access.send({ to: currency, data, value: 0n }, () => onStep('mining'));
  onApproved();
  return block;
}

/** Waits until the service serves the order as ended, at most `PATIENCE_MS`. Returns false if the order has not ended by then. */
async function hasEnded(orderId: string): Promise<boolean> {
  for (const deadline = performance.now() + PATIENCE_MS; performance.now() < deadline; await pause(POLL_MS)) {
    const order = await client.getOrder({ orderId }).catch(() => null);
    if (order && order.data.status !== 'active') return true;
  }
  return false;
}
