// Checks a signed order and stores it, or rejects it with the code of the first check that fails. The checks against the chain log run in
// the transaction that inserts the order. That transaction locks the chain cursor, so no block can be applied before the commit.

import { findChainCursor } from '../chain-log/queries/chain-cursors.ts';
import type { OnChanged } from '../../platform/core/collection-versions.ts';
import type { Chain, Chains } from '../../platform/core/chains.ts';
import type { Clock } from '../../platform/core/clock.ts';
import { toCollectionId } from '../../platform/core/collection.ts';
import type { Queryable, Statements } from '../../platform/database/port.ts';
import { findFollow } from '../follows/queries/follows.ts';
import { evaluateBidsOf } from './evaluate.ts';
import type { OrderKey } from './order-id.ts';
import { toBidId, toOrderId, toOrderKeyText } from './order-id.ts';
import { lockBooks, refreshBookAssets, refreshTopBids } from './queries/book-figures.ts';
import type { OrderWithEvidence } from './queries/order-evidence.ts';
import { findOffererCounter, findOrderWithEvidence } from './queries/order-evidence.ts';
import type { Funds, FundsKey } from './queries/funds.ts';
import { hasOtherFunds, listCollectionsOfOpenBids, upsertFunds } from './queries/funds.ts';
import { retireBidsOfOwnOrder } from './queries/reported-bids.ts';
import type { SignedOrder } from './queries/stored-orders.ts';
import { insertSignedOrder, listOrderIdsByHash } from './queries/stored-orders.ts';
import { insertTokenSet } from './queries/token-sets.ts';
import { OrderRejected } from './rejection.ts';
import type { MoreDeployments } from './seaport/deployments.ts';
import { listProtocols } from './seaport/deployments.ts';
import type { Protocol, SeaportOrder } from './seaport/order.ts';
import { hashOrder, parseSeaportOrder, toParameters } from './seaport/order.ts';
import type { Terms } from './seaport/parse-terms.ts';
import { parseTerms } from './seaport/parse-terms.ts';
import { isSignatureText, normalizeSignature } from './seaport/signature.ts';
import type { ChainChecks, UnverifiedSignature } from './signatures.ts';
import { findSigningProtocol, readFromChain, requireContractSignature } from './signatures.ts';
import { deriveOrderStatus } from './status.ts';
import type { ListTokensWithTraits, SubmittedCriteria, TokenSet } from './token-sets.ts';
import { requireTokenSet } from './token-sets.ts';

export type OrderContext = {
  main: Statements;
  chains: Chains;
  clock: Clock;
  seaport: MoreDeployments;
  /** The calls to a chain that check an order. Null for a chain without an endpoint: then only the order and its signature are checked. */
  checksOf: (chain: Chain) => ChainChecks | null;
  listTokensWithTraits: ListTokensWithTraits;
  onChanged: OnChanged;
  /** Retires the mirrored listings of orders that this service has stored, so that each order is listed once. Must not reject. */
  retireMirroredListings: (orders: readonly OrderKey[], at: number) => Promise<void>;
  /** Copies the changes of own orders to the indexer database. Must be called after a commit that changed orders. Must not reject. */
  copyCatalog: () => Promise<void>;
};

export type Submission = {
  chain: Chain;
  /** The deployment for which the order is signed. Null: any deployment for which the signature is valid. */
  protocolAddress: string | null;
  /** `{parameters, signature}`, as OpenSea, seaport-js and Reservoir write them. */
  order: { parameters: unknown; signature: unknown };
  /** The tokens that meet a bid which names them by a Merkle root. Null for any other order. */
  criteria?: SubmittedCriteria | null;
};

type WithoutId<Order> = Order extends SignedOrder ? Omit<Order, 'orderId' | 'createdAt'> : never;
type NewSignedOrder = WithoutId<SignedOrder>;

/** Throws OrderRejected when a check fails. */
export async function submitOrder(context: OrderContext, submission: Submission): Promise<SignedOrder> {
  const { chain } = submission;
  const now = context.clock();
  const { order, signed } = parseSubmission(submission);
  const protocols = requireProtocols(context, submission);
  const signing = findSigningProtocol(signed, protocols);
  const terms = requireTerms(order, { chain, protocol: signing.protocol ?? protocols[0], now });
  const checks = context.checksOf(chain);
  // Nothing is called for a collection that is not followed: its contract and its offerers may be anyone's.
  const collectionId = toCollectionId(chain.id, terms.contractAddress);
  if (checks) await requireFollowed(context.main, collectionId);
  const protocol =
    signing.protocol ??
    (await requireContractSignature(signed, { protocols, closest: signing.closest, chain: checks }));
  const root = terms.side === 'bid' ? terms.root : null;
  const tokens = await requireTokenSet(
    { collectionId, root },
    submission.criteria ?? null,
    context.listTokensWithTraits,
  );
  const newOrder = toNewOrder({ chain, order, signed, terms, protocol });
  const { order: stored, collectionIds } = await storeOrder(context, newOrder, { chain, tokens, checks, now });
  await context.retireMirroredListings([stored], now);
  await context.copyCatalog();
  context.onChanged({ collectionIds, kinds: new Set(['order']) });
  return stored;
}

function parseSubmission({ order: { parameters, signature } }: Submission): {
  order: SeaportOrder;
  signed: UnverifiedSignature;
} {
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
  return { order, signed: { offerer: order.offerer, orderHash: hashOrder(order), signature } };
}

/** The deployments for which the order may be signed. Throws OrderRejected when no deployment is known. */
function requireProtocols(
  { seaport }: OrderContext,
  { chain, protocolAddress }: Submission,
): readonly [Protocol, ...Protocol[]] {
  const wanted = protocolAddress?.toLowerCase();
  const [first, ...others] = listProtocols(chain, seaport).filter(
    ({ address }) => wanted === undefined || address === wanted,
  );
  if (first) return [first, ...others];
  if (wanted === undefined) {
    throw new OrderRejected('unknown_protocol', `no deployment of Seaport is known on ${chain.id}`);
  }
  throw new OrderRejected('unknown_protocol', `no deployment of Seaport is known on ${chain.id} at that address`, {
    path: 'protocolAddress',
  });
}

function requireTerms(
  order: SeaportOrder,
  { chain, protocol, now }: { chain: Chain; protocol: Protocol; now: number },
): Terms {
  const { wrappedNative, currencies } = chain;
  const parsed = parseTerms(order, { protocol, wrappedNative, currencies, now });
  if (!parsed.terms) throw new OrderRejected(parsed.code, parsed.message);
  return parsed.terms;
}

function toNewOrder({
  chain,
  order,
  signed,
  terms,
  protocol,
}: {
  chain: Chain;
  order: SeaportOrder;
  signed: UnverifiedSignature;
  terms: Terms;
  protocol: Protocol;
}): NewSignedOrder {
  const { contractAddress, standard, quantity, startsAt, expiresAt, counter, operator } = terms;
  return {
    ...toSubject(terms),
    contractAddress,
    standard,
    quantity,
    startsAt,
    expiresAt,
    counter,
    operator,
    collectionId: toCollectionId(chain.id, contractAddress),
    chain: chain.id,
    seller: order.offerer,
    seaport: { parameters: toParameters(order), signature: normalizeSignature(signed.signature, protocol.version) },
    orderHash: signed.orderHash,
    protocolAddress: protocol.address,
    orderType: order.orderType,
  };
}

function toSubject(terms: Terms) {
  if (terms.side === 'ask') {
    const { side, tokenId: asset, askRaw: raw, buyerTotalRaw } = terms;
    return { side, asset, raw, buyerTotalRaw, proceeds: null, root: null, currency: null };
  }
  const { side, tokenId: asset, priceRaw: raw, proceedsRaw: proceeds, root, currency } = terms;
  return { side, asset, raw, buyerTotalRaw: null, proceeds, root, currency };
}

/**
 * An order is checked and inserted in at most this many attempts. An attempt fails when a block is applied meanwhile. After the last attempt
 * the order is rejected with `chain_unavailable`.
 */
const ATTEMPTS_MAX = 8;

/**
 * Checks the order by calls to its chain, and inserts it. If a block is applied between the calls and the insert, both are repeated.
 * Without the repetition, an order that ended in this block could be stored as active: the calls read the state before this block, and the
 * block was applied when the order was not stored yet. Returns the collections whose orders may have changed.
 */
async function storeOrder(
  { main }: OrderContext,
  order: NewSignedOrder,
  { chain, tokens, checks, now }: { chain: Chain; tokens: TokenSet | null; checks: ChainChecks | null; now: number },
): Promise<{ order: SignedOrder; collectionIds: Set<string> }> {
  for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt += 1) {
    const before = checks && (await findChainCursor(main, order.chain));
    // If no block of the chain was read, the collection is not followed any more, and the order is rejected below.
    if (checks && before) await checkOnChain(checks, order, before.number);
    const funds = checks && before ? await readFunds({ chain, checks }, order, before.number) : null;
    const stored = await main.transaction(async (tx) => {
      // The cursor is locked until the commit, so that no block is applied between the checks and the insert.
      const cursor = await findChainCursor(tx, order.chain, 'for share');
      if (checks && cursor?.hash !== before?.hash) return null;
      // The funds also judge the other bids of the bidder, if they could not be read before.
      const isNews = funds !== null && (await hasOtherFunds(tx, order.chain, funds));
      const others = isNews ? await listCollectionsOfOpenBids(tx, order.chain, order.seller) : [];
      await lockBooks(tx, [order.collectionId, ...others]);
      if (tokens) await insertTokenSet(tx, order.collectionId, tokens);
      await retireBidsOfOwnOrder(tx, order, now);
      if (funds && before) await upsertFunds(tx, { chain: order.chain, block: before.number }, [funds]);
      const inserted = await insertChecked(tx, order, { followed: checks !== null, now });
      if (isNews) await evaluateBidsOf(tx, order.chain, [order.seller], now);
      return { order: inserted, collectionIds: new Set([order.collectionId, ...others]) };
    });
    if (stored) return stored;
  }
  throw new OrderRejected('chain_unavailable', 'new blocks arrived while the order was checked; submit it again');
}

/**
 * Throws OrderRejected if Seaport reports that the order was cancelled or filled, or that the offerer has another counter. The chain log is
 * not enough, because it may lack the events from before the collection was followed. The calls name the last block that was read. So an
 * endpoint that does not have this block yet fails, and cannot return a state that is older than the log.
 */
async function checkOnChain(checks: ChainChecks, order: NewSignedOrder, block: number): Promise<void> {
  const { protocolAddress, orderHash, seller } = order;
  const status = await readFromChain(() => checks.getOrderStatus(protocolAddress, orderHash, block));
  if (status?.cancelled) throw new OrderRejected('already_cancelled', 'the order was cancelled on its chain');
  // Without the events of earlier fills the remaining quantity cannot be derived, so a partly filled order is rejected too.
  if (status && status.totalFilled > 0n) {
    throw new OrderRejected('already_filled', 'the order, or a part of it, was filled on its chain');
  }
  const counter = await readFromChain(() => checks.getCounter(protocolAddress, seller, block));
  if (counter !== null && counter !== order.counter) throw wrongCounter(order.counter, counter);
}

/** What the bidder can pay at the block. Null for an ask: what its offerer holds is in the chain log. */
async function readFunds(
  { chain: { wrappedNative }, checks }: { chain: Chain; checks: ChainChecks },
  { side, seller: account, operator, currency }: NewSignedOrder,
  block: number,
): Promise<(FundsKey & { funds: Funds }) | null> {
  const contract = currency ?? wrappedNative;
  if (side === 'ask' || contract === null) return null;
  const [read] = await readFromChain(() => checks.funds(contract, [{ account, operator }], block));
  if (read) return { account, operator, currency, funds: read };
  throw new OrderRejected('no_funds', `the contract of the currency, ${contract}, has no balance of the offerer`);
}

async function requireFollowed(db: Queryable, collectionId: string): Promise<void> {
  const follow = await findFollow(db, collectionId);
  if (follow?.joined) return;
  throw new OrderRejected(
    'collection_not_followed',
    'the service does not follow the collection, or has not read all of its past blocks yet',
  );
}

async function insertChecked(
  tx: Queryable,
  order: NewSignedOrder,
  { followed, now }: { followed: boolean; now: number },
): Promise<SignedOrder> {
  const stored = await insertUnderNewId(tx, order, now);
  if (followed) await requireFollowed(tx, order.collectionId);
  const evaluated = await findOrderWithEvidence(tx, stored.orderId);
  if (evaluated) requireFillable(order, evaluated, now);
  const key = { chain: order.chain, protocol: order.protocolAddress, offerer: order.seller };
  const counter = await findOffererCounter(tx, key);
  if (counter !== null && counter !== order.counter) throw wrongCounter(order.counter, counter);
  if (order.side === 'ask') await refreshBookAssets(tx, [order], now);
  else await refreshTopBids(tx, [order.collectionId], now);
  return stored;
}

/**
 * The most creation times that are tried for an ask: `now` and the milliseconds after it. Its id contains the creation time, so a second
 * ask for one token in the same millisecond gets the next free millisecond.
 */
const ID_ATTEMPTS_MAX = 1_000;

/** Tries creation times from `now` on until the id is free. Throws OrderRejected if the order is already stored. */
async function insertUnderNewId(tx: Queryable, order: NewSignedOrder, now: number): Promise<SignedOrder> {
  for (let createdAt = now; createdAt < now + ID_ATTEMPTS_MAX; createdAt += 1) {
    const stored = { ...order, orderId: toId(order, createdAt), createdAt };
    if (await insertSignedOrder(tx, stored, now)) return stored;
    const duplicate = (await listOrderIdsByHash(tx, [order])).get(toOrderKeyText(order));
    if (duplicate !== undefined) {
      throw new OrderRejected('duplicate', `the order is already stored as ${duplicate}`);
    }
  }
  throw new Error(`no free order id for ${order.contractAddress} ${order.asset} within ${ID_ATTEMPTS_MAX} ms`);
}

function toId(order: NewSignedOrder, createdAt: number): string {
  const { chain, contractAddress, orderHash } = order;
  return order.side === 'ask'
    ? toOrderId(chain, contractAddress, order.asset, createdAt)
    : toBidId(chain, contractAddress, orderHash);
}

/** Throws OrderRejected for an order that cannot be filled at the time when it is stored. */
function requireFillable(order: NewSignedOrder, { terms, evidence }: OrderWithEvidence, now: number): void {
  const { status, dormant } = deriveOrderStatus(terms, evidence, now);
  if (status === 'filled') throw new OrderRejected('already_filled', 'the order was filled on its chain');
  if (status === 'cancelled' && evidence.burn) {
    throw new OrderRejected('token_burned', 'the wanted token was burned');
  }
  if (status === 'cancelled') {
    throw evidence.cancel
      ? new OrderRejected('already_cancelled', 'the order was cancelled on its chain')
      : wrongCounter(order.counter, null);
  }
  if (status === 'expired') throw new OrderRejected('expired', 'the order has expired');
  if (dormant === 'no-balance') {
    throw order.side === 'ask'
      ? new OrderRejected('not_the_owner', 'the offerer does not hold the offered quantity of the token')
      : new OrderRejected('no_funds', 'the offerer holds less of the currency of the bid than a fill of the bid needs');
  }
  if (dormant === 'not-approved') {
    const what = order.side === 'ask' ? 'transfer the token' : 'spend what a fill of the bid needs';
    throw new OrderRejected('not_approved', `the offerer has not approved ${order.operator} to ${what}`);
  }
}

/** `current` is null when the offerer's counter is higher than the signed counter, but its value is not known. */
function wrongCounter(signed: bigint, current: bigint | null): OrderRejected {
  const difference = current === null ? 'has been raised since' : `is ${current}`;
  return new OrderRejected(
    'wrong_counter',
    `the order was signed with counter ${signed}, but the counter of the offerer ${difference}: sign the order again`,
    { path: 'order.parameters.counter' },
  );
}
