// Why an order is in the state it is in: all that was signed, all that happened, and what follows from it now, check by check. It
// derives what it says from the evidence, as the book does, and says so when what is stored differs.

import { findChainCursor } from '../chain-log/queries/chain-cursors.ts';
import { listOrderEvents, listTokenEvents } from '../chain-log/queries/chain-events.ts';
import { findFollow } from '../follows/queries/follows.ts';
import type { JudgedOrder } from './queries/order-states.ts';
import { findJudgedOrder } from './queries/order-states.ts';
import type { OrderCancel, StoredOrder } from './queries/signed-orders.ts';
import { findOrderCancel, findStoredOrder } from './queries/signed-orders.ts';
import type { ChainEvent } from '../chain-log/chain-event.ts';
import type { OrderState } from './status.ts';
import { deriveOrderStatus } from './status.ts';
import type { OrderContext } from './submit.ts';

/** `ok` null: cannot be known here. */
export type ExplainedCheck = { check: string; ok: boolean | null; detail: string };
/** What the order was, and became, at a time. */
export type Transition = { at: number; to: string; because: string; tx: string | null };

export type Explanation = {
  order: StoredOrder;
  /** null for a row that was imported as it was told: nothing is derived for it. */
  derived: OrderState | null;
  checks: ExplainedCheck[];
  transitions: Transition[];
  /** Of the order and its offerer's counter, in the order of the chain; then of its token, newest first. */
  events: ChainEvent[];
  tokenEvents: ChainEvent[];
  cancel: OrderCancel | null;
  /** How far the chain has been read; null where it is not followed. */
  readTo: { number: number; hash: string; time: number } | null;
};

/** The newest of a token's events that are told. */
const TOKEN_EVENTS_MAX = 50;

/** null where there is no order of that id. */
export async function explainOrder({ main, clock }: OrderContext, orderId: string): Promise<Explanation | null> {
  const order = await findStoredOrder(main, orderId);
  if (!order) return null;
  const { chain, signed, seller, contractAddress, asset, collectionId } = order;
  const now = clock();
  const judged = await findJudgedOrder(main, orderId);
  const readTo = await findChainCursor(main, chain);
  const follow = await findFollow(main, collectionId);
  const derived = judged && deriveOrderStatus(judged.terms, judged.evidence, now);
  const token = { contract: contractAddress, tokenId: asset, holder: seller, limit: TOKEN_EVENTS_MAX };
  return {
    order,
    derived,
    checks: judged && signed ? listChecks(order, judged, { now, followed: follow?.joined ?? false }) : [],
    transitions: listTransitions(order, judged, derived),
    events: signed
      ? await listOrderEvents(main, chain, {
          orderHash: signed.orderHash,
          protocol: signed.protocolAddress,
          offerer: seller,
        })
      : [],
    tokenEvents: await listTokenEvents(main, chain, token),
    cancel: await findOrderCancel(main, orderId),
    readTo: readTo && { number: readTo.number, hash: readTo.hash, time: readTo.time },
  };
}

function listChecks(
  { signed, dormant, status }: StoredOrder,
  { terms, evidence, stored }: JudgedOrder,
  { now, followed }: { now: number; followed: boolean },
): ExplainedCheck[] {
  const derived = deriveOrderStatus(terms, evidence, now);
  const filled = evidence.fills.reduce((sum, fill) => sum + fill.quantity, 0n);
  const ofChain = followed ? '' : 'the collection is not followed: ';
  const startsAt = signed?.startsAt ?? 0;
  return [
    { check: 'signature', ok: true, detail: `verified under ${signed?.protocolAddress} when the order was taken` },
    { check: 'started', ok: startsAt <= now, detail: `begins at ${toTime(startsAt)}` },
    {
      check: 'not_expired',
      ok: terms.expiresAt === null || terms.expiresAt > now,
      detail: terms.expiresAt === null ? 'never ends' : `ends at ${toTime(terms.expiresAt)}`,
    },
    { check: 'not_filled', ok: filled < terms.quantity, detail: `${filled} of ${terms.quantity} filled` },
    {
      check: 'not_cancelled',
      ok: evidence.cancel === null,
      detail: describe(evidence.cancel, 'no cancel on the chain'),
    },
    {
      check: 'counter',
      ok: evidence.counterRaise === null,
      detail: describe(evidence.counterRaise, `signed with ${terms.counter}, never raised beyond it`),
    },
    { check: 'no_word', ok: evidence.word === null, detail: describe(evidence.word, 'nobody cancelled it by word') },
    {
      check: 'balance',
      ok: evidence.balance === null ? null : dormant !== 'no-balance' && evidence.balance > 0n,
      detail: evidence.balance === null ? `${ofChain}unknown` : `the offerer holds ${evidence.balance}`,
    },
    {
      check: 'approval',
      ok: evidence.approved,
      detail: evidence.approved === null ? `${ofChain}unknown` : `of ${signed?.operator}: ${evidence.approved}`,
    },
    {
      check: 'stored_state',
      ok: stored.status === derived.status && stored.dormant === derived.dormant,
      detail: `stored as ${status}${dormant === null ? '' : `, dormant: ${dormant}`}`,
    },
  ];
}

function describe(ending: { at: number; tx: string | null } | null, none: string): string {
  return ending === null ? none : `at ${toTime(ending.at)}${ending.tx === null ? '' : ` by ${ending.tx}`}`;
}

function listTransitions(order: StoredOrder, judged: JudgedOrder | null, derived: OrderState | null): Transition[] {
  const taken: Transition = { at: order.createdAt, to: 'active', because: 'taken into the book', tx: null };
  const state = derived ?? order;
  const fills = (judged?.evidence.fills ?? []).map(({ at, tx, quantity }) => ({
    at,
    tx,
    to: 'active',
    because: `${quantity} filled`,
  }));
  // The last fill is the ending itself.
  if (state.status === 'filled') fills.pop();
  if (state.status === 'active') {
    return [
      taken,
      ...fills,
      ...(state.dormant ? [{ at: order.createdAt, to: 'dormant', because: state.dormant, tx: null }] : []),
    ];
  }
  return [
    taken,
    ...fills,
    { at: state.endedAt ?? order.createdAt, to: state.status, because: becauseOf(judged, state), tx: state.tx },
  ];
}

function becauseOf(judged: JudgedOrder | null, { status, endedAt }: Pick<OrderState, 'status' | 'endedAt'>): string {
  if (status === 'expired') return 'its time ended';
  if (status === 'filled') return 'all of it was filled';
  const { cancel, counterRaise, word } = judged?.evidence ?? { cancel: null, counterRaise: null, word: null };
  if (cancel?.at === endedAt) return 'cancelled on the chain';
  if (counterRaise?.at === endedAt) return 'the offerer raised the counter';
  return word ? 'cancelled by word' : 'imported so';
}

function toTime(ms: number): string {
  return new Date(ms).toISOString();
}
