// Computes the changes that a batch of chain log entries causes in the indexer, without I/O.

import type { OrderFulfilled, Transfer } from '../../market/chain-log/chain-event.ts';
import type { EvidenceChanges } from '../../market/chain-log/evidence-changes.ts';
import { joinEvidenceChanges, toEvidenceChanges } from '../../market/chain-log/evidence-changes.ts';
import type { LogEntry } from '../../market/chain-log/queries/chain-events.ts';
import type { Address } from '../../platform/core/address.ts';
import type { Hex } from '../../platform/core/evm.ts';

/** Tokens that moved, by collection id and token id, with the block of their last transfer. */
export type MovedTokens = Map<string, Map<string, number>>;

export type LogEffects = {
  /**
   * The lowest `ancestor` of the reorganisations in the batch. Sales in later blocks are deleted from the indexer. Null if the batch has no
   * reorganisation.
   */
  rewindTo: number | null;
  /** Blocks whose stored events were wrong. The sales of these blocks are deleted from the indexer. */
  corrected: ReadonlySet<number>;
  /**
   * `since`: when the first orphaned block was applied, in milliseconds. `collectionIds`: the collections that the orphaned events concern.
   * Null if no reorganisation of the batch has a known time.
   */
  orphaned: { since: number; collectionIds: ReadonlySet<string> } | null;
  /** Without the fills that a later reorganisation in the batch orphaned. */
  fills: OrderFulfilled[];
  /** Orders that `matchOrders` matched with other orders. Each element is the text `tx orderHash`. */
  matched: ReadonlySet<string>;
  moved: MovedTokens;
  /** The transfers of followed contracts, without those that a later reorganisation in the batch orphaned. In block order. */
  allTransfers: readonly Transfer[];
  /** The transfers of followed contracts in the transactions of the fills, by transaction hash and in block order. */
  transfers: ReadonlyMap<string, readonly Transfer[]>;
};

/** The entries must be sorted by sequence number. `collectionIds` maps each followed contract to its collection id. */
export function toLogEffects(entries: readonly LogEntry[], collectionIds: ReadonlyMap<Address, string>): LogEffects {
  let rewindTo: number | null = null;
  let orphaned: LogEffects['orphaned'] = null;
  const corrected = new Set<number>();
  let fills: OrderFulfilled[] = [];
  const matched = new Set<string>();
  const moved: MovedTokens = new Map();
  let transfers: Transfer[] = [];
  for (const entry of entries) {
    if ('ancestor' in entry) {
      const { ancestor } = entry;
      orphaned = joinOrphaned(orphaned, entry);
      if (entry.corrected) {
        const wrong = new Set(entry.corrected);
        for (const block of wrong) corrected.add(block);
        for (const { collectionId, tokenId } of entry.affected.tokens) {
          addMoved(moved, collectionId, tokenId, Math.min(...wrong));
        }
        fills = fills.filter((fill) => !wrong.has(fill.blockNumber));
        transfers = transfers.filter((transfer) => !wrong.has(transfer.blockNumber));
        continue;
      }
      rewindTo = Math.min(rewindTo ?? ancestor, ancestor);
      // The holders that an earlier batch has read may already have been those after the orphaned transfers.
      for (const { collectionId, tokenId } of entry.affected.tokens) {
        addMoved(moved, collectionId, tokenId, Math.min(moved.get(collectionId)?.get(tokenId) ?? ancestor, ancestor));
      }
      fills = fills.filter((fill) => fill.blockNumber <= ancestor);
      transfers = transfers.filter((transfer) => transfer.blockNumber <= ancestor);
      continue;
    }
    if ('unknown' in entry) continue;
    const { event } = entry;
    if (event.kind === 'order-fulfilled') fills.push(event);
    else if (event.kind === 'orders-matched') {
      for (const orderHash of event.orderHashes) matched.add(`${event.tx} ${orderHash}`);
    } else if (event.kind === 'transfer') {
      const collectionId = collectionIds.get(event.contract);
      if (collectionId === undefined) continue;
      addMoved(moved, collectionId, event.tokenId, event.blockNumber);
      transfers.push(event);
    }
  }
  const txs = new Set(fills.map(({ tx }) => tx));
  const ofFills = transfers.filter(({ tx }) => txs.has(tx));
  return {
    rewindTo,
    corrected,
    orphaned,
    fills,
    matched,
    moved,
    allTransfers: transfers,
    transfers: Map.groupBy(ofFills, ({ tx }) => tx),
  };
}

function joinOrphaned(
  orphaned: LogEffects['orphaned'],
  { since, collectionIds }: { since: number | null; collectionIds: readonly string[] },
): LogEffects['orphaned'] {
  if (since === null) return orphaned;
  const earliest = Math.min(orphaned?.since ?? since, since);
  return { since: earliest, collectionIds: new Set([...(orphaned?.collectionIds ?? []), ...collectionIds]) };
}

/** Returns the evidence that the entries change: an event adds evidence, and a reorganisation deletes the evidence of its events. */
export function toAffected(chain: string, entries: readonly LogEntry[]): EvidenceChanges {
  const events = entries.flatMap((entry) => ('event' in entry ? [entry.event] : []));
  const reverted = entries.flatMap((entry) => ('ancestor' in entry ? [entry.affected] : []));
  return joinEvidenceChanges(chain, [toEvidenceChanges(chain, events), ...reverted]);
}

export function addMoved(moved: MovedTokens, collectionId: string, tokenId: string, blockNumber: number): void {
  const tokens = moved.get(collectionId) ?? new Map<string, number>();
  tokens.set(tokenId, blockNumber);
  moved.set(collectionId, tokens);
}

/**
 * Removes the last transaction from a full batch. The batch may have only a part of this transaction, and the fills of a transaction must
 * be processed together. A batch of only one transaction is returned unchanged, so that every batch makes progress.
 */
export function cutAtTransaction(entries: readonly LogEntry[], batchSize: number): readonly LogEntry[] {
  const tx = entries.length < batchSize ? null : txOf(entries.at(-1));
  if (tx === null) return entries;
  const end = entries.findLastIndex((entry) => txOf(entry) !== tx);
  return end < 0 ? entries : entries.slice(0, end + 1);
}

/** Null for a reorganisation. */
function txOf(entry: LogEntry | undefined): Hex | null {
  if (!entry || 'ancestor' in entry) return null;
  return 'event' in entry ? entry.event.tx : entry.unknown.tx;
}
