// Applies the events of blocks to the primary database, or reverts them after a reorganisation. The chain log is changed first, then the
// holdings, approvals and counters that are derived from the log, and last the affected orders. Runs in the caller's transaction.

import type {
  ChainEvent,
  LoggedEvent,
  NonceCancelled,
  OrderCancelled,
  OrderFulfilled,
} from '../../market/chain-log/chain-event.ts';
import { isLogged } from '../../market/chain-log/chain-event.ts';
import type { EvidenceChanges } from '../../market/chain-log/evidence-changes.ts';
import { toEvidenceChanges } from '../../market/chain-log/evidence-changes.ts';
import type { OperatorApproval, TokenApprovalState } from '../../market/chain-log/queries/approvals.ts';
import {
  listOperatorApprovals,
  listTokenApprovals,
  updateCounters,
  updateOperatorApprovals,
  updateTokenApprovals,
} from '../../market/chain-log/queries/approvals.ts';
import {
  deleteBlockEvents,
  deleteChainEventsAfter,
  insertChainEvents,
} from '../../market/chain-log/queries/chain-events.ts';
import type { HoldingChange } from '../../market/chain-log/queries/holdings.ts';
import { listFormerHolders, updateHoldings } from '../../market/chain-log/queries/holdings.ts';
import type { Address } from '../../platform/core/address.ts';
import { toCollectionId } from '../../platform/core/collection.ts';
import type { TokenRange } from '../../market/index/queries/metadata-announcements.ts';
import {
  insertMetadataAnnouncements,
  updateCollectionMetadataDue,
} from '../../market/index/queries/metadata-announcements.ts';
import { isTokenItem } from '../../platform/core/seaport.ts';
import type { Queryable } from '../../platform/database/port.ts';
import { evaluateAffectedOrders } from '../../market/orders/evaluate.ts';
import { toOrderKeyText } from '../../market/orders/order-id.ts';
import type { OrderChange } from '../../market/orders/queries/order-states.ts';
import { listOrderIdsByHash } from '../../market/orders/queries/stored-orders.ts';

/** `events`: added to the log or deleted from it. `evidence`: what these events changed. `orders`: the orders with a new state. */
export type BlockChanges = { events: LoggedEvent[]; evidence: EvidenceChanges; orders: OrderChange[] };

/**
 * Selects the events to store. All counter increments are stored, and all events of followed contracts and of stored orders. A fill is
 * stored if it moved a token of a followed contract. An `orders-matched` event is stored if it names a stored fill. A cancel is stored if its
 * account holds or has held a token of a followed contract, because a marketplace may list the cancelled order later. A bid is stored if its
 * protocol is itself a followed token contract, as CryptoPunks can be.
 */
export async function selectRelevant(
  tx: Queryable,
  chain: string,
  events: readonly ChainEvent[],
  contracts: ReadonlySet<Address>,
): Promise<ChainEvent[]> {
  const keys = events.flatMap((event) => ('orderHash' in event ? [{ chain, orderHash: event.orderHash }] : []));
  const known = await listOrderIdsByHash(tx, keys);
  const holders = await listHolders(tx, chain, events, contracts);
  const isRelevant = (event: ChainEvent) => {
    if ('contract' in event) return contracts.has(event.contract);
    if (event.kind === 'counter-incremented') return true;
    if (event.kind === 'orders-matched' || event.kind === 'funds-moved') return false;
    if (event.kind === 'token-bid') return contracts.has(event.protocol);
    if (event.kind === 'nonce-cancelled') return holders.has(event.offerer);
    if (known.has(toOrderKeyText({ chain, orderHash: event.orderHash }))) return true;
    if (event.kind === 'order-cancelled') return holders.has(event.offerer);
    return event.kind === 'order-fulfilled' && tokenContractsOf(event).some((contract) => contracts.has(contract));
  };
  const relevant = new Set(events.filter(isRelevant));
  const fills = new Set([...relevant].flatMap((event) => (event.kind === 'order-fulfilled' ? [event.orderHash] : [])));
  const isMatchOfFill = (event: ChainEvent) =>
    event.kind === 'orders-matched' && event.orderHashes.some((orderHash) => fills.has(orderHash));
  return events.filter((event) => relevant.has(event) || isMatchOfFill(event));
}

/**
 * The accounts whose cancels are selected. They are the senders and receivers of transfers among these events, and the offerers of
 * cancelled orders who hold or have sent a token. Only tokens of followed contracts count.
 */
async function listHolders(
  tx: Queryable,
  chain: string,
  events: readonly ChainEvent[],
  contracts: ReadonlySet<Address>,
): Promise<ReadonlySet<string>> {
  const parties = new Set<string>();
  for (const event of events) {
    if (event.kind === 'transfer' && contracts.has(event.contract)) parties.add(event.from).add(event.to);
  }
  const cancelled = new Set(events.flatMap((event) => (isCancel(event) ? [event.offerer] : [])));
  const others = [...cancelled].filter((offerer) => !parties.has(offerer));
  return parties.union(await listFormerHolders(tx, chain, { contracts: [...contracts], accounts: others }));
}

function isCancel(event: ChainEvent): event is OrderCancelled | NonceCancelled {
  return event.kind === 'order-cancelled' || event.kind === 'nonce-cancelled';
}

function tokenContractsOf({ offer, consideration }: OrderFulfilled): Address[] {
  return [...offer, ...consideration].filter(isTokenItem).map(({ token }) => token);
}

/** Events that are already in the chain log change nothing. Announced changes of metadata are noted for the task that reads metadata. */
export async function applyEvents(
  tx: Queryable,
  chain: string,
  events: readonly ChainEvent[],
  now: number,
): Promise<BlockChanges> {
  await insertMetadataAnnouncements(tx, toAnnouncements(chain, events));
  await updateCollectionMetadataDue(tx, toAnnouncedCollections(chain, events), now);
  const logged = events.filter(isLogged);
  const added = await insertChainEvents(tx, chain, logged);
  if (added.length === 0) return noChanges(chain);
  await updateHoldings(tx, toHoldingChanges(chain, added, 1n));
  const approvals = lastApprovals(chain, added);
  if (approvals.operators.length > 0) await updateOperatorApprovals(tx, approvals.operators);
  if (approvals.tokens.length > 0) await updateTokenApprovals(tx, approvals.tokens);
  return applyToOrders(tx, chain, added, now);
}

/**
 * Deletes all events after block `ancestor` from the chain log and reverts their consequences. Transferred units move back to the
 * holdings of the senders. Approvals are set to their last values in the remaining chain log.
 */
export async function revertAfter(tx: Queryable, chain: string, ancestor: number, now: number): Promise<BlockChanges> {
  const deleted = await deleteChainEventsAfter(tx, chain, ancestor);
  if (deleted.length === 0) return noChanges(chain);
  await updateHoldings(tx, toHoldingChanges(chain, deleted, -1n));
  await readApprovals(tx, chain, deleted);
  return applyToOrders(tx, chain, deleted, now);
}

/** `before`: all stored events of the blocks. `after`: all events that the blocks really have. */
export type Correction = { blocks: readonly number[]; before: readonly LoggedEvent[]; after: readonly LoggedEvent[] };

/**
 * Replaces the events of blocks whose stored events are wrong, and corrects what follows from them. `insertEntry` is called between the
 * deletion and the insertion, with the evidence that changed: the entry that it adds to the log precedes the right events. Approvals are read
 * from the log, because later events may have changed them since.
 */
export async function correctBlocks(
  tx: Queryable,
  chain: string,
  { blocks, before, after }: Correction,
  { now, insertEntry }: { now: number; insertEntry: (evidence: EvidenceChanges) => Promise<void> },
): Promise<BlockChanges> {
  const events = [...before, ...after];
  await deleteBlockEvents(tx, chain, blocks);
  await insertEntry(toEvidenceChanges(chain, before));
  await insertChainEvents(tx, chain, after);
  await updateHoldings(tx, [...toHoldingChanges(chain, before, -1n), ...toHoldingChanges(chain, after, 1n)]);
  await readApprovals(tx, chain, events);
  return applyToOrders(tx, chain, events, now);
}

/** Sets the approvals that these events concern to their last values in the chain log. */
async function readApprovals(tx: Queryable, chain: string, events: readonly LoggedEvent[]): Promise<void> {
  const { operators, tokens } = lastApprovals(chain, events);
  if (operators.length > 0) await updateOperatorApprovals(tx, await listOperatorApprovals(tx, chain, operators));
  if (tokens.length > 0) await updateTokenApprovals(tx, await listTokenApprovals(tx, chain, tokens));
}

/** Derives the counters and the states of the affected orders from the current chain log. */
async function applyToOrders(tx: Queryable, chain: string, events: LoggedEvent[], now: number): Promise<BlockChanges> {
  const counters = events.filter((event) => event.kind === 'counter-incremented');
  await updateCounters(
    tx,
    chain,
    counters.map(({ protocol, offerer }) => ({ protocol, offerer })),
  );
  const evidence = toEvidenceChanges(chain, events);
  return { events, evidence, orders: await evaluateAffectedOrders(tx, evidence, now) };
}

function noChanges(chain: string): BlockChanges {
  return { events: [], evidence: toEvidenceChanges(chain, []), orders: [] };
}

function toAnnouncements(chain: string, events: readonly ChainEvent[]): TokenRange[] {
  return events.flatMap((event) => {
    if (event.kind !== 'metadata-updated') return [];
    return [{ collectionId: toCollectionId(chain, event.contract), from: event.fromId, to: event.toId }];
  });
}

function toAnnouncedCollections(chain: string, events: readonly ChainEvent[]): string[] {
  const announced = events.filter((event) => event.kind === 'collection-metadata-updated');
  return [...new Set(announced.map(({ contract }) => toCollectionId(chain, contract)))];
}

/** `sign` is -1 to revert the transfers. */
function toHoldingChanges(chain: string, events: readonly LoggedEvent[], sign: 1n | -1n): HoldingChange[] {
  return events.flatMap((event) => {
    if (event.kind !== 'transfer') return [];
    const token = { collectionId: toCollectionId(chain, event.contract), tokenId: event.tokenId };
    return [
      { ...token, holder: event.from, quantity: -sign * event.quantity },
      { ...token, holder: event.to, quantity: sign * event.quantity },
    ];
  });
}

/** The last approvals that these events set for each operator and each token. A transfer revokes the approval of its token. */
function lastApprovals(
  chain: string,
  events: readonly LoggedEvent[],
): { operators: OperatorApproval[]; tokens: TokenApprovalState[] } {
  const operators = new Map<string, OperatorApproval>();
  const tokens = new Map<string, TokenApprovalState>();
  for (const event of events) {
    if (!('contract' in event)) continue;
    const { contract } = event;
    const collectionId = toCollectionId(chain, contract);
    if (event.kind === 'approval-for-all') {
      const { owner, operator, approved } = event;
      operators.set(`${contract} ${owner} ${operator}`, { collectionId, contract, owner, operator, approved });
    } else {
      const { tokenId } = event;
      const approvedAddress = event.kind === 'token-approval' ? event.operator : null;
      tokens.set(`${contract} ${tokenId}`, { collectionId, contract, tokenId, operator: approvedAddress });
    }
  }
  return { operators: [...operators.values()], tokens: [...tokens.values()] };
}

export function toChangedCollections(
  chain: string,
  { events, orders }: Pick<BlockChanges, 'events' | 'orders'>,
): Set<string> {
  const changed = new Set(orders.map((order) => order.collectionId));
  for (const event of events) if ('contract' in event) changed.add(toCollectionId(chain, event.contract));
  return changed;
}
