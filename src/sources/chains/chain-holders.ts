// Keeps the holders of followed collections in the indexer: how many tokens each account holds according to the chain log. The stored
// owners of the tokens are not a source for these numbers: a marketplace may report a token that does not exist, and several accounts may
// hold one ERC-1155 token. The projection writes the log in batches. The holders that a batch changes are read from the primary, which may
// already have applied the events of later batches. This causes no error: a later batch then writes the same holders again.

import { listTokensOfHolders } from '../../market/chain-log/queries/holdings.ts';
import { ZERO_ADDRESS } from '../../platform/core/evm.ts';
import type { Database, Queryable } from '../../platform/database/port.ts';
import type { Follow } from '../../market/follows/queries/follows.ts';
import { listFollows } from '../../market/follows/queries/follows.ts';
import type { TokensOfHolder } from '../../market/index/queries/chain-holders.ts';
import {
  insertOwnersCoverage,
  listChainHeldCollections,
  replaceChainHolders,
  updateChainHolders,
  updateToReportedHolders,
} from '../../market/index/queries/chain-holders.ts';
import { changeIndexDetails } from '../../market/index/change-index.ts';
import type { LogEntry } from '../../market/chain-log/queries/chain-events.ts';
import { transactAt } from './judge-listings.ts';
import type { JudgeContext } from './judge-listings.ts';
import type { MovedTokens } from './log-effects.ts';
import { findProjectedPosition, updateProjectedPosition } from './queries/projection.ts';

/**
 * Processes one collection. If a collection has joined its chain and its holders are not stored yet, stores all its holders. Otherwise, if
 * a collection with stored holders is no longer followed, counts its holders from the owners of its tokens. Returns the ids of the
 * collections that changed, or null when there is nothing to do.
 */
export async function changeChainHolders(context: JudgeContext): Promise<Set<string> | null> {
  const { main, indexer, chain } = context;
  const from = await findProjectedPosition(indexer, chain.id);
  const stored = new Set(await listChainHeldCollections(indexer, chain.id));
  const joined = (await listFollows(main, chain.id))
    .filter((follow) => follow.joined)
    .map(({ collectionId }) => collectionId);
  const added = joined.find((id) => !stored.has(id));
  const collectionId = added ?? [...stored].find((id) => !joined.includes(id));
  if (collectionId === undefined) return null;
  const holders = added === undefined ? null : await listTokensOfHolders(main, collectionId, null);
  const isWritten = await transactAt(indexer, async (tx) => {
    if (!(await updateProjectedPosition(tx, chain.id, { from, to: from.seq }))) return false;
    await changeIndexDetails(tx, [collectionId], async () => {
      if (holders) {
        await replaceChainHolders(tx, collectionId, holders);
        await insertOwnersCoverage(tx, collectionId);
      } else await updateToReportedHolders(tx, collectionId);
    });
    return true;
  });
  return new Set(isWritten ? [collectionId] : []);
}

/**
 * The holders of a collection after a batch. `isComplete`: `holders` are all holders of the collection, not only those that the batch may
 * have changed.
 */
export type HolderChange = { collectionId: string; isComplete: boolean; holders: readonly TokensOfHolder[] };

/**
 * Reads the holders that the batch may have changed. If the batch has an entry for a reorganisation, reads all holders of the collection,
 * because such an entry does not name the accounts of the deleted transfers.
 */
export async function readHolderChanges(
  { main, indexer, chain }: { main: Database; indexer: Database; chain: { id: string } },
  { entries, moved, follows }: { entries: readonly LogEntry[]; moved: MovedTokens; follows: readonly Follow[] },
): Promise<HolderChange[]> {
  const stored = new Set(await listChainHeldCollections(indexer, chain.id));
  const isComplete = entries.some((entry) => 'ancestor' in entry);
  const changes: HolderChange[] = [];
  for (const { collectionId, contractAddress } of follows) {
    if (!stored.has(collectionId) || !moved.has(collectionId)) continue;
    const accounts = isComplete ? null : listParties(entries, contractAddress);
    changes.push({ collectionId, isComplete, holders: await listTokensOfHolders(main, collectionId, accounts) });
  }
  return changes;
}

function listParties(entries: readonly LogEntry[], contract: string): string[] {
  const parties = new Set<string>();
  for (const entry of entries) {
    if (!('event' in entry) || entry.event.kind !== 'transfer' || entry.event.contract !== contract) continue;
    parties.add(entry.event.from).add(entry.event.to);
  }
  parties.delete(ZERO_ADDRESS);
  return [...parties];
}

export async function writeHolderChanges(tx: Queryable, changes: readonly HolderChange[]): Promise<void> {
  for (const { collectionId, isComplete, holders } of changes) {
    if (isComplete) await replaceChainHolders(tx, collectionId, holders);
    else await updateChainHolders(tx, collectionId, holders);
  }
}
