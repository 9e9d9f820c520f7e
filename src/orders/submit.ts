// Takes one signed order into the own book, or refuses it with the code of the first check that it does not pass. What the chain
// decides is judged in the transaction that inserts the order, under the lock that whoever moves the chain on has to take too.

import type { OnChanged } from '../core/changes.ts';
import type { Clock } from '../core/clock.ts';
import { findChainCursor } from '../chain-log/queries/chain-cursors.ts';
import type { Queryable, Statements } from '../database/port.ts';
import { findFollow } from '../follows/queries/follows.ts';
import { findJudgedOrder } from './queries/order-states.ts';
import type { SignedOrder } from './queries/signed-orders.ts';
import { findOffererCounter, findOrderIdByHash, insertSignedOrder } from './queries/signed-orders.ts';
import type { Chain, Chains } from '../core/chains.ts';
import { toCollectionId } from '../core/collection.ts';
import { toOrderId } from './order-id.ts';
import type { OrderEvidence, OrderTerms } from './status.ts';
import { deriveOrderStatus } from './status.ts';
import type { MoreDeployments } from './seaport/deployments.ts';
import { listProtocols } from './seaport/deployments.ts';
import { toListingTerms } from './seaport/listing.ts';
import type { Protocol, SeaportOrder } from './seaport/order.ts';
import { hashOrder, parseSeaportOrder, toParameters } from './seaport/order.ts';
import { isSignatureText, normalizeSignature } from './seaport/signature.ts';
import { OrderRejected } from './rejection.ts';
import type { ChainChecks, Claim } from './signatures.ts';
import { ask, findSigningProtocol, requireContractSignature } from './signatures.ts';

export type OrderContext = {
  main: Statements;
  chains: Chains;
  clock: Clock;
  /** Deployments besides the known ones. */
  seaport: MoreDeployments;
  /** How a chain is asked; null where it has no endpoint: there an order is taken on its signature alone. */
  checksOf: (chain: Chain) => ChainChecks | null;
  onChanged: OnChanged;
  /** Ends what marketplaces list of orders that are in the own order book from now on. Never fails. */
  retireMirroredListings: (orders: readonly OrderKey[], at: number) => Promise<void>;
};

/** A signed order, wherever it is listed. */
export type OrderKey = { chain: string; orderHash: string };

export type Submission = {
  chain: Chain;
  /** null: whichever deployment the signature is for. */
  protocolAddress: string | null;
  /** `{parameters, signature}`, as OpenSea, seaport-js and Reservoir write them. */
  order: { parameters: unknown; signature: unknown };
};

/** Orders of one token that arrive within one millisecond take the next free ones. */
const ID_ATTEMPTS_MAX = 1_000;

/** Takes an order. Throws OrderRejected. */
export async function submitOrder(context: OrderContext, submission: Submission): Promise<SignedOrder> {
  const { chain } = submission;
  const { order, claim } = readSubmission(submission);
  const checks = context.checksOf(chain);
  const now = context.clock();
  const protocols = readProtocols(context, submission);
  const signing = findSigningProtocol(claim, protocols);
  const [likely] = signing.protocol ? [signing.protocol] : protocols;
  if (!likely) throw new OrderRejected('unknown_protocol', `no deployment of Seaport is known on ${chain.id}`);
  const listed = toListingTerms(order, { protocol: likely, wrappedNative: chain.wrappedNative, now });
  if (!listed.terms) throw new OrderRejected(listed.code, listed.message);
  const protocol =
    signing.protocol ?? (await requireContractSignature(claim, { protocols, nearest: signing.nearest, chain: checks }));
  const { askRaw, tokenId, ...terms } = listed.terms;
  const submitted: Omit<SignedOrder, 'orderId' | 'createdAt'> = {
    ...terms,
    collectionId: toCollectionId(chain.id, terms.contractAddress),
    chain: chain.id,
    asset: tokenId,
    raw: askRaw,
    seller: order.offerer,
    seaport: { parameters: toParameters(order), signature: normalizeSignature(claim.signature, protocol.version) },
    orderHash: claim.orderHash,
    protocolAddress: protocol.address,
    orderType: order.orderType,
  };
  const taken = await take(context, submitted, { checks, now });
  await context.retireMirroredListings([taken], now);
  context.onChanged({ collectionIds: new Set([taken.collectionId]), kinds: new Set(['order']) });
  return taken;
}

function readSubmission({ order: { parameters, signature } }: Submission): { order: SeaportOrder; claim: Claim } {
  const parsed = parseSeaportOrder(parameters);
  if (!parsed.order) {
    const path = ['order.parameters', parsed.path].filter(Boolean).join('.');
    throw new OrderRejected('malformed_order', `${path}: ${parsed.reason}`, { path });
  }
  if (typeof signature !== 'string' || !isSignatureText(signature)) {
    throw new OrderRejected('malformed_order', 'order.signature: must be 0x and bytes in hex', {
      path: 'order.signature',
    });
  }
  const { order } = parsed;
  return { order, claim: { offerer: order.offerer, orderHash: hashOrder(order), signature } };
}

function readProtocols({ seaport }: OrderContext, { chain, protocolAddress }: Submission): Protocol[] {
  const known = listProtocols(chain, seaport);
  const wanted = protocolAddress?.toLowerCase();
  const protocols = wanted === undefined ? known : known.filter(({ address }) => address === wanted);
  if (protocols.length > 0) return protocols;
  const where = wanted === undefined ? '' : ' at that address';
  throw new OrderRejected('unknown_protocol', `no deployment of Seaport is known on ${chain.id}${where}`, {
    ...(wanted !== undefined && { path: 'protocolAddress' }),
  });
}

/** Blocks that may arrive between the question and the answer, again and again, before the order is sent back. */
const ASKS_MAX = 8;

/**
 * Asks the chain and inserts the order, if the follower has not moved in between: an end in a block that it passed while
 * nobody knew the order would be in neither.
 */
async function take(
  { main }: OrderContext,
  submitted: Omit<SignedOrder, 'orderId' | 'createdAt'>,
  { checks, now }: { checks: ChainChecks | null; now: number },
): Promise<SignedOrder> {
  for (let asks = 0; asks < ASKS_MAX; asks += 1) {
    const asked = checks && (await findChainCursor(main, submitted.chain));
    if (checks) await askChain(checks, submitted);
    const taken = await main.transaction(async (tx) => {
      // Held until the commit: no block slips in between what is judged here and what its follower sees.
      const cursor = await findChainCursor(tx, submitted.chain, 'for share');
      if (checks && cursor?.hash !== asked?.hash) return null;
      return insertJudged(tx, submitted, { followed: checks !== null, now });
    });
    if (taken) return taken;
  }
  throw new OrderRejected('chain_unavailable', 'the chain moves too fast to judge the order now');
}

/** What happened before the collection was followed, and is in no log of this service. */
async function askChain(checks: ChainChecks, order: Omit<SignedOrder, 'orderId' | 'createdAt'>): Promise<void> {
  const { protocolAddress, orderHash, seller } = order;
  const status = await ask(() => checks.getOrderStatus(protocolAddress, orderHash, 'latest'));
  if (status?.cancelled) throw new OrderRejected('already_cancelled', 'the order was cancelled on its chain');
  // How much of it is left could not be told from what happens after: a part counts as the whole.
  if (status && status.totalFilled > 0n) {
    throw new OrderRejected('already_filled', 'the order, or a part of it, was filled on its chain');
  }
  const counter = await ask(() => checks.getCounter(protocolAddress, seller, 'latest'));
  if (counter !== null && counter !== order.counter) throw wrongCounter(counter);
}

async function insertJudged(
  tx: Queryable,
  order: Omit<SignedOrder, 'orderId' | 'createdAt'>,
  { followed, now }: { followed: boolean; now: number },
): Promise<SignedOrder> {
  const taken = await insertUnderNewId(tx, order, now);
  const follow = await findFollow(tx, order.collectionId);
  if (followed && !follow?.joined) {
    throw new OrderRejected('collection_not_followed', 'the collection is not followed here, or has not caught up yet');
  }
  const judged = await findJudgedOrder(tx, taken.orderId);
  if (judged) requireFillable(judged.terms, judged.evidence, now);
  const key = { chain: order.chain, protocol: order.protocolAddress, offerer: order.seller };
  const counter = await findOffererCounter(tx, key);
  if (counter !== null && counter !== order.counter) throw wrongCounter(counter);
  return taken;
}

/** The order under the first millisecond from now on that is free for its token. */
async function insertUnderNewId(
  tx: Queryable,
  order: Omit<SignedOrder, 'orderId' | 'createdAt'>,
  now: number,
): Promise<SignedOrder> {
  const { chain, contractAddress, asset, orderHash } = order;
  for (let createdAt = now; createdAt < now + ID_ATTEMPTS_MAX; createdAt += 1) {
    const taken = { ...order, orderId: toOrderId(chain, contractAddress, asset, createdAt), createdAt };
    if (await insertSignedOrder(tx, taken)) return taken;
    const known = await findOrderIdByHash(tx, chain, orderHash);
    if (known !== null) throw new OrderRejected('duplicate', `the order is in the book as ${known}`);
  }
  throw new Error(`no free order id for ${contractAddress} ${asset} within ${ID_ATTEMPTS_MAX} ms`);
}

/** Refuses what would not be listed the moment it is taken. */
function requireFillable(terms: OrderTerms, evidence: OrderEvidence, now: number): void {
  const { status, dormant } = deriveOrderStatus(terms, evidence, now);
  if (status === 'filled') throw new OrderRejected('already_filled', 'the order was filled on its chain');
  if (status === 'cancelled') {
    throw evidence.cancel
      ? new OrderRejected('already_cancelled', 'the order was cancelled on its chain')
      : wrongCounter(null);
  }
  if (status === 'expired') throw new OrderRejected('expired', 'the order has ended');
  if (dormant === 'no-balance') throw new OrderRejected('not_the_owner', 'the offerer does not hold what is offered');
  if (dormant === 'not-approved') {
    throw new OrderRejected('not_approved', 'the offerer has not approved the operator to move the token');
  }
}

function wrongCounter(counter: bigint | null): OrderRejected {
  const now = counter === null ? 'has been raised since' : `is ${counter}`;
  return new OrderRejected('wrong_counter', `the order is void: the offerer’s counter ${now}`, {
    path: 'order.parameters.counter',
  });
}
