// Explains the state of an order: its checks, its events, and its transitions. The state is derived again from the evidence, to compare it
// with the stored state.

import type { ChainEvent } from '../chain-log/chain-event.ts';
import { findChainCursor } from '../chain-log/queries/chain-cursors.ts';
import { listOrderEvents, listTokenEvents } from '../chain-log/queries/chain-events.ts';
import type { TokenStandard } from '../../platform/core/evm.ts';
import type { Queryable } from '../../platform/database/port.ts';
import { findFollow } from '../follows/queries/follows.ts';
import type { OrderCancel } from './queries/order-cancels.ts';
import { findOrderCancel } from './queries/order-cancels.ts';
import type { OrderWithEvidence } from './queries/order-evidence.ts';
import { findOrderWithEvidence } from './queries/order-evidence.ts';
import type { SignedTerms, StoredOrder } from './queries/stored-orders.ts';
import { findStoredOrder } from './queries/stored-orders.ts';
import type { DormantReason, Occurrence, OrderState } from './status.ts';
import { deriveOrderStatus, toRequiredBalance } from './status.ts';
import type { OrderContext } from './submit.ts';

/** One condition that an order must meet to be filled. `ok` is null when this service cannot know. */
export type ExplainedCheck = { check: string; ok: boolean | null; detail: string };
/**
 * A change of the order's state. `at` is in milliseconds. For the transition to `dormant`, `at` is null if the event that caused it is not
 * among the newest `TOKEN_EVENTS_MAX` events of the token.
 */
export type Transition = { at: number | null; to: string; because: string; tx: string | null };

export type Explanation = {
  order: StoredOrder;
  /** Null for an order that was imported without a signature, because its state is not derived from evidence. */
  derived: OrderState | null;
  checks: ExplainedCheck[];
  transitions: Transition[];
  /** The events of the order, and the increments of its offerer's counter that end it, in block order. Empty for an order imported without a signature. */
  events: ChainEvent[];
  /** Transfers and approvals of the token, and the offerer's approvals for all tokens. At most `TOKEN_EVENTS_MAX`, newest first. Empty for a bid that several tokens meet. */
  tokenEvents: ChainEvent[];
  cancel: OrderCancel | null;
  /** The last block of the chain that was read. Null if no block of the chain was read. */
  readTo: { number: number; hash: string; time: number } | null;
};

const TOKEN_EVENTS_MAX = 50;

/** Null when no order has this id. */
export async function explainOrder(
  { main, clock }: { main: Queryable; clock: OrderContext['clock'] },
  orderId: string,
): Promise<Explanation | null> {
  const order = await findStoredOrder(main, orderId);
  if (!order) return null;
  const { chain, signed, seller, contractAddress, asset, collectionId } = order;
  const now = clock();
  const evaluated = await findOrderWithEvidence(main, orderId);
  const readTo = await findChainCursor(main, chain);
  const follow = await findFollow(main, collectionId);
  const derived = evaluated && deriveOrderStatus(evaluated.terms, evaluated.evidence, now);
  const token = { contract: contractAddress, holder: seller, limit: TOKEN_EVENTS_MAX };
  const tokenEvents = asset === null ? [] : await listTokenEvents(main, chain, { ...token, tokenId: asset });
  return {
    order,
    derived,
    checks: evaluated && signed ? listChecks(signed, evaluated, { now, followed: follow?.joined ?? false }) : [],
    transitions: listTransitions(order, { evaluated, derived, tokenEvents }),
    events: signed
      ? await listOrderEvents(main, chain, {
          orderHash: signed.orderHash,
          protocol: signed.protocolAddress,
          offerer: seller,
          counter: signed.counter,
        })
      : [],
    tokenEvents,
    cancel: await findOrderCancel(main, orderId),
    readTo: readTo && { number: readTo.number, hash: readTo.hash, time: readTo.time },
  };
}

function listChecks(
  { protocolAddress, operator, startsAt }: SignedTerms,
  { side, terms, evidence, stored }: OrderWithEvidence,
  { now, followed }: { now: number; followed: boolean },
): ExplainedCheck[] {
  const derived = deriveOrderStatus(terms, evidence, now);
  const filled = evidence.fills.reduce((sum, fill) => sum + fill.quantity, 0n);
  const unfollowed =
    side === 'ask'
      ? 'unknown: the collection is not followed, or its backfill is not complete'
      : 'unknown: the funds of the bidder were not read';
  return [
    { check: 'signature', ok: true, detail: `verified for ${protocolAddress} when the order was stored` },
    { check: 'started', ok: startsAt <= now, detail: `starts at ${toTime(startsAt)}` },
    {
      check: 'not_expired',
      ok: terms.expiresAt === null || terms.expiresAt > now,
      detail: terms.expiresAt === null ? 'never expires' : `expires at ${toTime(terms.expiresAt)}`,
    },
    { check: 'not_filled', ok: filled < terms.quantity, detail: `${filled} of ${terms.quantity} filled` },
    {
      check: 'not_cancelled',
      ok: evidence.cancel === null,
      detail: describeOccurrence(evidence.cancel, 'not cancelled on the chain'),
    },
    {
      check: 'counter',
      ok: evidence.counterRaise === null,
      detail: describeOccurrence(evidence.counterRaise, `signed with counter ${terms.counter}, which was not raised`),
    },
    {
      check: 'not_cancelled_off_chain',
      ok: evidence.offChainCancel === null,
      detail: describeOccurrence(evidence.offChainCancel, 'not cancelled off-chain'),
    },
    ...(side === 'ask'
      ? []
      : [
          {
            check: 'not_burned',
            ok: evidence.burn === null,
            detail: describeOccurrence(evidence.burn, 'the wanted token was not burned'),
          },
        ]),
    {
      check: 'balance',
      ok: evidence.balance === null ? null : evidence.balance >= toRequiredBalance(terms),
      detail:
        evidence.balance === null
          ? followed && side === 'ask'
            ? 'unknown: the log of the collection does not begin with its first transfer'
            : unfollowed
          : `the offerer holds ${evidence.balance}, a fill needs ${toRequiredBalance(terms)}`,
    },
    {
      check: 'approval',
      ok: evidence.approved,
      detail:
        evidence.approved === null
          ? followed && side === 'ask'
            ? 'unknown'
            : unfollowed
          : `${operator} is ${evidence.approved ? '' : 'not '}approved${side === 'ask' ? '' : ` to spend ${toRequiredBalance(terms)}`}`,
    },
    {
      check: 'stored_state',
      ok: stored.status === derived.status && stored.dormant === derived.dormant,
      detail: `stored as ${stored.status}${stored.dormant === null ? '' : `, dormant: ${stored.dormant}`}`,
    },
  ];
}

function describeOccurrence(occurrence: Occurrence | null, textIfNone: string): string {
  if (occurrence === null) return textIfNone;
  const { at, tx } = occurrence;
  return `at ${toTime(at)}${tx === null ? '' : ` by ${tx}`}`;
}

function listTransitions(
  order: StoredOrder,
  {
    evaluated,
    derived,
    tokenEvents,
  }: { evaluated: OrderWithEvidence | null; derived: OrderState | null; tokenEvents: readonly ChainEvent[] },
): Transition[] {
  const state = derived ?? order;
  const stored: Transition = { at: order.createdAt, to: 'active', because: 'stored', tx: null };
  const fills = (evaluated?.evidence.fills ?? []).map(({ at, tx, quantity }) => ({
    at,
    tx,
    to: 'active',
    because: `${quantity} filled`,
  }));
  if (state.status === 'active') {
    const { dormant } = state;
    return [stored, ...fills, ...(dormant === null ? [] : [toDormancy(order, dormant, tokenEvents)])];
  }
  // The last fill is left out, because the transition to `filled` represents it.
  if (state.status === 'filled') fills.pop();
  const because = reasonOfEnd(state, evaluated);
  const end = { at: state.endedAt ?? order.createdAt, to: state.status, because, tx: state.tx };
  return [stored, ...fills, end];
}

/** The transition to `dormant`, at the newest event that took the token from the offerer, or the approval from the operator. */
function toDormancy(
  { side, seller, signed, createdAt }: StoredOrder,
  dormant: DormantReason,
  tokenEvents: readonly ChainEvent[],
): Transition {
  // The chain log has no events of currencies.
  if (side === 'bid') return { at: null, to: 'dormant', because: dormant, tx: null };
  const cause = tokenEvents.find((event) =>
    dormant === 'no-balance'
      ? event.kind === 'transfer' && event.from === seller
      : revokesApproval(event, { seller, operator: signed?.operator ?? null, standard: signed?.standard ?? null }),
  );
  const isComplete = tokenEvents.length < TOKEN_EVENTS_MAX;
  // The cause may be older than the order. If no event of a complete list is the cause, the order was dormant when it was stored.
  const at = cause ? Math.max(cause.blockTime, createdAt) : isComplete ? createdAt : null;
  return { at, to: 'dormant', because: dormant, tx: cause?.tx ?? null };
}

/** Whether an event revokes the approval of `operator`. The transfer of an ERC-721 token revokes the approval for this token. */
function revokesApproval(
  event: ChainEvent,
  { seller, operator, standard }: { seller: string; operator: string | null; standard: TokenStandard | null },
): boolean {
  if (event.kind === 'transfer') return event.from === seller && standard === 'erc721';
  if (event.kind === 'token-approval') return event.operator !== operator;
  return event.kind === 'approval-for-all' && event.operator === operator && !event.approved;
}

function reasonOfEnd(
  { status, endedAt }: Pick<OrderState, 'status' | 'endedAt'>,
  evaluated: OrderWithEvidence | null,
): string {
  if (status === 'expired') return 'expired';
  if (status === 'filled') return 'all units were filled';
  if (!evaluated) return 'imported with this status';
  const { cancel, counterRaise, offChainCancel, burn } = evaluated.evidence;
  if (cancel?.at === endedAt) return 'cancelled on the chain';
  if (counterRaise?.at === endedAt) return 'the offerer raised the counter';
  if (burn?.at === endedAt) return 'the wanted token was burned';
  return offChainCancel ? 'cancelled off-chain' : 'imported with this status';
}

function toTime(ms: number): string {
  return new Date(ms).toISOString();
}
