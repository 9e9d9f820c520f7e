// One step of a chain, forward or back, in the primary database: the log, what follows from it about holders, approvals and
// counters, and the orders that it touches, in one transaction of the caller. It never asks a chain anything.

import {
  listOperatorApprovalStates,
  listTokenApprovalStates,
  updateCounters,
  updateOperatorApprovals,
  updateTokenApprovals,
} from '../chain-log/queries/approvals.ts';
import type { OperatorApprovalState, TokenApprovalState } from '../chain-log/queries/approvals.ts';
import { deleteChainEventsAfter, insertChainEvents } from '../chain-log/queries/chain-events.ts';
import type { Queryable } from '../database/port.ts';
import type { HoldingChange } from '../chain-log/queries/holdings.ts';
import { updateHoldings } from '../chain-log/queries/holdings.ts';
import { evaluateAffectedOrders } from '../orders/evaluate.ts';
import { toOrderKeyText } from '../orders/order-id.ts';
import type { EvidenceChanges } from '../orders/queries/order-evidence.ts';
import type { OrderChange } from '../orders/queries/order-states.ts';
import { listOrderIdsByHash } from '../orders/queries/stored-orders.ts';
import type { Address } from '../core/address.ts';
import type { ChainEvent, OrderFulfilled } from '../chain-log/chain-event.ts';
import { toCollectionId } from '../core/collection.ts';
import { isTokenItem } from '../core/seaport.ts';

/** What a step did: the events that are new in the log (or gone from it), and the orders whose state changed. */
export type Step = { events: ChainEvent[]; orders: OrderChange[] };

/** The part of what was read that concerns us: what followed contracts tell, fills that moved their tokens, and known orders. */
export async function selectRelevant(
  tx: Queryable,
  chain: string,
  events: readonly ChainEvent[],
  contracts: ReadonlySet<Address>,
): Promise<ChainEvent[]> {
  const keys = events.flatMap((event) => ('orderHash' in event ? [{ chain, orderHash: event.orderHash }] : []));
  const known = await listOrderIdsByHash(tx, keys);
  const isWanted = (event: ChainEvent) => {
    if ('contract' in event) return contracts.has(event.contract);
    if (event.kind === 'counter-incremented') return true;
    if (event.kind === 'orders-matched') return false;
    if (known.has(toOrderKeyText({ chain, orderHash: event.orderHash }))) return true;
    return event.kind === 'order-fulfilled' && tokensOf(event).some((token) => contracts.has(token));
  };
  const wanted = new Set(events.filter(isWanted));
  const fills = new Set([...wanted].flatMap((event) => (event.kind === 'order-fulfilled' ? [event.orderHash] : [])));
  // Which fills were matched with each other is told after them, and only matters with them.
  const isMatchOf = (event: ChainEvent) =>
    event.kind === 'orders-matched' && event.orderHashes.some((orderHash) => fills.has(orderHash));
  return events.filter((event) => wanted.has(event) || isMatchOf(event));
}

function tokensOf({ offer, consideration }: OrderFulfilled): Address[] {
  return [...offer, ...consideration].filter(isTokenItem).map(({ token }) => token);
}

/** Adds events to the log and lets them take effect. Events that the log has already change nothing. */
export async function applyEvents(
  tx: Queryable,
  chain: string,
  events: readonly ChainEvent[],
  now: number,
): Promise<Step> {
  const fresh = await insertChainEvents(tx, chain, events);
  if (fresh.length === 0) return { events: [], orders: [] };
  await updateHoldings(tx, toHoldingChanges(chain, fresh, 1n));
  const words = lastWords(chain, fresh);
  if (words.operators.length > 0) await updateOperatorApprovals(tx, words.operators);
  if (words.tokens.length > 0) await updateTokenApprovals(tx, words.tokens);
  return settle(tx, chain, fresh, now);
}

/** Takes back all that happened after the ancestor. */
export async function rewindTo(tx: Queryable, chain: string, ancestor: number, now: number): Promise<Step> {
  const gone = await deleteChainEventsAfter(tx, chain, ancestor);
  if (gone.length === 0) return { events: [], orders: [] };
  await updateHoldings(tx, toHoldingChanges(chain, gone, -1n));
  const words = lastWords(chain, gone);
  if (words.operators.length > 0) {
    await updateOperatorApprovals(tx, await listOperatorApprovalStates(tx, chain, words.operators));
  }
  if (words.tokens.length > 0) await updateTokenApprovals(tx, await listTokenApprovalStates(tx, chain, words.tokens));
  return settle(tx, chain, gone, now);
}

async function settle(tx: Queryable, chain: string, events: ChainEvent[], now: number): Promise<Step> {
  const counters = events.flatMap((event) => (event.kind === 'counter-incremented' ? [event] : []));
  await updateCounters(
    tx,
    chain,
    counters.map(({ protocol, offerer }) => ({ protocol, offerer })),
  );
  const orders = await evaluateAffectedOrders(tx, toEvidenceChanges(chain, events), now);
  return { events, orders };
}

function toEvidenceChanges(chain: string, events: readonly ChainEvent[]): EvidenceChanges {
  const orderHashes = new Set<string>();
  const offerers = new Set<string>();
  const tokens = new Map<string, EvidenceChanges['tokens'][number]>();
  const owners = new Map<string, EvidenceChanges['owners'][number]>();
  for (const event of events) {
    if ('orderHash' in event) orderHashes.add(event.orderHash);
    else if (event.kind === 'counter-incremented') offerers.add(event.offerer);
    else if ('contract' in event) {
      const collectionId = toCollectionId(chain, event.contract);
      if (event.kind === 'approval-for-all') {
        owners.set(`${collectionId} ${event.owner}`, { collectionId, owner: event.owner });
      } else tokens.set(`${collectionId} ${event.tokenId}`, { collectionId, tokenId: event.tokenId });
    }
  }
  return { chain, orderHashes, offerers, tokens: [...tokens.values()], owners: [...owners.values()] };
}

function toHoldingChanges(chain: string, events: readonly ChainEvent[], sign: bigint): HoldingChange[] {
  return events.flatMap((event) => {
    if (event.kind !== 'transfer') return [];
    const token = { collectionId: toCollectionId(chain, event.contract), tokenId: event.tokenId };
    return [
      { ...token, holder: event.from, quantity: -sign * event.quantity },
      { ...token, holder: event.to, quantity: sign * event.quantity },
    ];
  });
}

/** The last word of these events on each operator of each owner, and on each token. */
function lastWords(
  chain: string,
  events: readonly ChainEvent[],
): {
  operators: (OperatorApprovalState & { approved: boolean })[];
  tokens: (TokenApprovalState & { operator: string | null })[];
} {
  const operators = new Map<string, OperatorApprovalState & { approved: boolean }>();
  const tokens = new Map<string, TokenApprovalState & { operator: string | null }>();
  for (const event of events) {
    if (!('contract' in event)) continue;
    const { contract } = event;
    const collectionId = toCollectionId(chain, contract);
    if (event.kind === 'approval-for-all') {
      const { owner, operator, approved } = event;
      operators.set(`${contract} ${owner} ${operator}`, { collectionId, contract, owner, operator, approved });
    } else {
      const { tokenId } = event;
      const operator = event.kind === 'token-approval' ? event.operator : null;
      tokens.set(`${contract} ${tokenId}`, { collectionId, contract, tokenId, operator });
    }
  }
  return { operators: [...operators.values()], tokens: [...tokens.values()] };
}
