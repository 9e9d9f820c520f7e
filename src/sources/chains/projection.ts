// Writes the chain log into the indexer: sales with their marketplace, holders of tokens and of collections, and the states of mirrored
// listings. The log is read in the order of its sequence numbers. The sequence number of the last entry is written in the same transaction
// as the rows. After an outage of the indexer, the projection continues at this number. An empty indexer is rebuilt from the start of the log.

import { listTransferFacts } from '../../market/activity/queries/activity-log.ts';
import { insertMarketChanges, listRecordedTransfers } from '../../market/activity/queries/market-changes.ts';
import type { OrderFulfilled, Transfer } from '../../market/chain-log/chain-event.ts';
import type { EvidenceChanges } from '../../market/chain-log/evidence-changes.ts';
import type { LogEntry } from '../../market/chain-log/queries/chain-events.ts';
import { listLogEntries } from '../../market/chain-log/queries/chain-events.ts';
import { listOwnership } from '../../market/chain-log/queries/holdings.ts';
import type { Chain, Chains } from '../../platform/core/chains.ts';
import type { Clock } from '../../platform/core/clock.ts';
import type { Log } from '../../platform/core/log.ts';
import { toCollectionId } from '../../platform/core/collection.ts';
import type { Database, Queryable } from '../../platform/database/port.ts';
import type { Follow } from '../../market/follows/queries/follows.ts';
import { listFollows } from '../../market/follows/queries/follows.ts';
import { copyCatalog } from '../../market/index/catalog.ts';
import { changeIndex } from '../../market/index/change-index.ts';
import type { ListedOrder, ListingChange } from '../../market/index/queries/judged-listings.ts';
import { listAffectedListings, listListingsOfOrders } from '../../market/index/queries/judged-listings.ts';
import { deletePointsSince } from '../../market/index/queries/market-points.ts';
import type { NewSale } from '../../market/index/queries/sales.ts';
import {
  deleteSalesAfter,
  deleteSalesOfBlocks,
  mergeReportedSales,
  upsertSales,
} from '../../market/index/queries/sales.ts';
import type { NewTokenHolder } from '../../market/index/queries/tokens.ts';
import type { CollectionAsset } from '../../market/index/queries/figures.ts';
import { copyReportedTraits } from '../../market/index/queries/reported-traits.ts';
import { deleteUnmintedTokens, listTokensMovedAfter, upsertTokenHolders } from '../../market/index/queries/tokens.ts';
import { toSaleKey } from '../../market/index/row-keys.ts';
import { toOrderKeyText } from '../../market/orders/order-id.ts';
import { listOrderIdsByHash } from '../../market/orders/queries/stored-orders.ts';
import { readBidPayments } from './bid-payments.ts';
import { changeChainHolders, readHolderChanges, writeHolderChanges } from './chain-holders.ts';
import { judge, judgeNext, transactAt, writeJudgements } from './judge-listings.ts';
import type { LogEffects, MovedTokens } from './log-effects.ts';
import { addMoved, cutAtTransaction, toAffected, toLogEffects } from './log-effects.ts';
import { toMarketplace } from './protocols/registry.ts';
import { findProjectedPosition, updateProjectedPosition } from './queries/projection.ts';
import { completeParties } from './sale-parties.ts';
import type { FillSale, SalesOptions } from './sales.ts';
import { toSales } from './sales.ts';
import { toTransferChanges } from './transfer-changes.ts';

export type ProjectionContext = {
  main: Database;
  indexer: Database;
  chain: Chain;
  chains: Chains;
  serviceName: string;
  clock: Clock;
  log?: Log;
  /** True for a chain in FROZEN_CHAINS: the listings of the chain are not judged. */
  isFrozen?: boolean;
};

const BATCH_SIZE = 5_000;
/**
 * Before a batch removes the sales of orphaned blocks, the own orders are copied to the indexer within these limits. If the copy fails, the
 * batch fails too, and a later run repeats both.
 */
const COPY_LIMITS = { timeoutMs: 10_000, batchesMax: 1_000 };

/**
 * Judges the next mirrored listings that wait, reads the holders of the next collection that has joined, and writes the next batch of the
 * log. Returns the ids of the collections that changed, or null when nothing is left to do.
 */
export async function projectNext(context: ProjectionContext): Promise<Set<string> | null> {
  const steps = [await judgeNext(context), await changeChainHolders(context), await projectBatch(context)];
  const done = steps.filter((changed) => changed !== null);
  return done.length === 0 ? null : new Set(done.flatMap((changed) => [...changed]));
}

/**
 * Writes the next batch of a chain's log. Returns the ids of the collections that changed, or null when no entry is left. If another
 * process has written entries of this log meanwhile, nothing is written and the result is empty.
 */
async function projectBatch(context: ProjectionContext): Promise<Set<string> | null> {
  const { main, indexer, chains, clock } = context;
  const chain = context.chain.id;
  const from = await findProjectedPosition(indexer, chain);
  const batch = await listLogEntries(main, chain, { after: from.seq, limit: BATCH_SIZE });
  const entries = cutAtTransaction(batch, BATCH_SIZE);
  const to = entries.at(-1)?.seq;
  if (to === undefined) return null;
  const follows = await listFollows(main, chain);
  const effects = toLogEffects(
    entries,
    new Map(follows.map((follow) => [follow.contractAddress, follow.collectionId])),
  );
  const { rewindTo, corrected, orphaned, moved } = effects;
  const sales = await toNewSales(context, effects, follows);
  const transfers = toNewTransfers(chain, effects, follows);
  const wrongTransfers = await listLoggedTransfers(context, corrected);
  const isRewound = rewindTo !== null || corrected.size > 0;
  if (rewindTo !== null) await addRewound(context, moved, rewindTo);
  if (isRewound) {
    // In the indexer, own orders can still have the states that orphaned blocks gave them. No floor must be computed from such a state.
    await copyCatalog(context, COPY_LIMITS);
  }
  const holders = await readHolders(context, moved, follows);
  const holderChanges = await readHolderChanges(context, { entries, moved, follows });
  const judgements = await judgeAffected(context, toAffected(chain, entries));
  const changed = new Set([
    ...sales.map((sale) => sale.collectionId),
    ...moved.keys(),
    ...judgements.map(({ listing }) => listing.collectionId),
    ...(orphaned?.collectionIds ?? []),
  ]);
  const reverted = await findReverted(context, { entries, orphaned });
  const isWritten = await transactAt(indexer, async (tx) => {
    if (!(await updateProjectedPosition(tx, chain, { from, to }))) return false;
    const refresh = { chains, now: clock() };
    // A rewind can delete sales of any followed collection.
    const collectionIds = isRewound ? changed.union(new Set(follows.map(({ collectionId }) => collectionId))) : changed;
    await changeIndex(tx, { collectionIds, refresh }, async () => {
      if (isRewound) {
        const resold = new Set(await deleteSalesOfBlocks(tx, chain, corrected));
        for (const id of rewindTo === null ? [] : await deleteSalesAfter(tx, chain, rewindTo)) resold.add(id);
        for (const id of resold) changed.add(id);
        const facts = orphaned ? await deletePointsSince(tx, [...reverted.union(resold)], orphaned.since) : [];
        // One `reorg` takes back the changes of the blocks after `rewindTo`. A second `reorg` takes back the deleted floors by their facts
        // (`facts` of MarketChange). There are two, because older versions of the program ignore the block number of a `reorg` with facts.
        const reorg = { kind: 'reorg', at: clock(), chain } as const;
        const floors = facts.length > 0 ? [{ ...reorg, facts }] : [];
        const later = rewindTo === null ? [] : [{ ...reorg, blockNumber: rewindTo }];
        const wrong = wrongTransfers.length > 0 ? [{ ...reorg, reason: 'correction', facts: wrongTransfers }] : [];
        await insertMarketChanges(tx, 'indexer', [...later, ...wrong, ...floors]);
      }
      // A transfer is recorded together with the owner that it gives the token, so that nobody reads an older owner after the change.
      await insertMarketChanges(tx, 'indexer', transfers);
      await upsertSales(tx, await mergeReportedSales(tx, chain, sales));
      const moved = await writeHolders(tx, holders);
      await writeHolderChanges(tx, holderChanges);
      const assets = await writeJudgements(tx, judgements, refresh.now);
      return { collectionIds: changed, moved, assets };
    });
    return true;
  });
  if (isWritten) noteUnknown(context, entries);
  return isWritten ? changed : new Set();
}

function noteUnknown({ chain, log }: ProjectionContext, entries: readonly LogEntry[]): void {
  const kinds = entries.flatMap((entry) => ('unknown' in entry ? [entry.unknown.kind] : []));
  if (kinds.length === 0) return;
  log?.warn('events that only a newer version knows were left out', {
    chain: chain.id,
    events: kinds.length,
    kinds: [...new Set(kinds)].sort(),
  });
}

async function judgeAffected(context: ProjectionContext, changes: EvidenceChanges): Promise<ListingChange[]> {
  return judge(context, await listAffectedListings(context.indexer, changes));
}

/** The collections that the orphaned events of the batch concern. Collections that have only new events in the batch are not among them. */
async function findReverted(
  { indexer, chain }: ProjectionContext,
  { entries, orphaned }: { entries: readonly LogEntry[]; orphaned: LogEffects['orphaned'] },
): Promise<Set<string>> {
  if (!orphaned) return new Set();
  const reorgs = entries.filter((entry) => 'ancestor' in entry);
  const listings = await listAffectedListings(indexer, toAffected(chain.id, reorgs));
  return new Set([...orphaned.collectionIds, ...listings.map(({ collectionId }) => collectionId)]);
}

/** Adds the tokens whose last transfer in the indexer is in an orphaned block. A token that is already in `moved` keeps its block. */
async function addRewound({ indexer, chain }: ProjectionContext, moved: MovedTokens, rewindTo: number): Promise<void> {
  for (const { collectionId, asset } of await listTokensMovedAfter(indexer, chain.id, rewindTo)) {
    if (!moved.get(collectionId)?.has(asset)) addMoved(moved, collectionId, asset, rewindTo);
  }
}

async function toNewSales(
  context: ProjectionContext,
  { fills, matched, transfers }: LogEffects,
  follows: readonly Follow[],
): Promise<NewSale[]> {
  const { main, indexer, chain } = context;
  const contracts = new Set(follows.map((follow) => follow.contractAddress));
  const byTx = Map.groupBy(await readBidPayments(main, chain.id, fills), (fill) => fill.tx);
  const sales = [...byTx]
    .flatMap(([tx, fillsOfTx]) => {
      const { wrappedNative } = chain;
      return toSalesOfTransaction(fillsOfTx, { matched, transfers: transfers.get(tx) ?? [], wrappedNative });
    })
    .filter(({ contract }) => contracts.has(contract));
  const keyOf = ({ fill }: FillSale) => ({ chain: chain.id, orderHash: fill.orderHash });
  const ownIds = await listOrderIdsByHash(main, sales.map(keyOf));
  const mirrored = await listListingsOfOrders(
    indexer,
    chain.id,
    sales.map(({ fill }) => fill.orderHash),
  );
  const backfilled = new Map(follows.map((follow) => [follow.contractAddress, follow.readToBlock]));
  const rows = sales.map((sale) =>
    toNewSale(context, sale, {
      ownId: ownIds.get(toOrderKeyText(keyOf(sale))) ?? null,
      mirrored,
      readToBlock: backfilled.get(sale.contract) ?? null,
    }),
  );
  return withDistinctKeys(rows);
}

/** The changes for the activity log. As in a backfill, the transfers of past blocks are no changes of the market. */
function toNewTransfers(
  chain: string,
  { allTransfers }: LogEffects,
  follows: readonly Follow[],
): ReturnType<typeof toTransferChanges> {
  const readTo = new Map(follows.map(({ contractAddress, readToBlock }) => [contractAddress, readToBlock]));
  const live = allTransfers.filter(({ contract, blockNumber }) => blockNumber > (readTo.get(contract) ?? -1));
  return toTransferChanges(chain, live);
}

/**
 * The facts of the transfers of corrected blocks that were recorded for the activity log, merged or not. All of them are taken back: the right transfers
 * follow in the chain log, and are recorded again.
 */
async function listLoggedTransfers(
  { main, indexer, chain }: ProjectionContext,
  corrected: ReadonlySet<number>,
): Promise<string[]> {
  if (corrected.size === 0) return [];
  // In this order, because the merge moves changes from the first table to the second.
  const unmerged = await listRecordedTransfers(indexer, chain.id, [...corrected]);
  return [...new Set([...unmerged, ...(await listTransferFacts(main, chain.id, [...corrected]))])];
}

/** Makes the keys distinct. One EVM log can have several sales of one token, because a buyer can buy units from several sellers at once. */
function withDistinctKeys(sales: readonly NewSale[]): NewSale[] {
  const seen = new Map<string, number>();
  return sales.map((sale) => {
    const repetition = seen.get(sale.key) ?? 0;
    seen.set(sale.key, repetition + 1);
    return repetition === 0 ? sale : { ...sale, key: toSaleKey(sale, repetition) };
  });
}

/** The sales of one transaction, with their parties. `matched`: as in LogEffects. `transfers`: of the sold tokens in the transaction. */
export function toSalesOfTransaction(
  fills: readonly OrderFulfilled[],
  { matched, transfers, wrappedNative }: SalesOptions & { transfers: readonly Transfer[] },
): FillSale[] {
  const matchedFills = fills.filter((fill) => matched.has(`${fill.tx} ${fill.orderHash}`));
  const options = { matched: new Set(matchedFills.map((fill) => fill.orderHash)), wrappedNative };
  return completeParties(toSales(fills, options), transfers);
}

function toNewSale(
  { chain, serviceName }: ProjectionContext,
  sale: FillSale,
  {
    ownId,
    mirrored,
    readToBlock,
  }: { ownId: string | null; mirrored: readonly ListedOrder[]; readToBlock: number | null },
): NewSale {
  const { fill, bid, contract, asset, sold, priceRaw, price, seller, buyer } = sale;
  const { tx, logIndex, blockNumber, blockTime: soldAt, orderHash } = fill;
  const collectionId = toCollectionId(chain.id, contract);
  const source = ownId === null ? toMarketplace(bid === null ? [fill] : [fill, bid]) : serviceName;
  const row = {
    source,
    chain: chain.id,
    collectionId,
    asset,
    price,
    priceRaw,
    seller,
    buyer,
    soldAt,
    listingId: ownId ?? findListingId(mirrored, { orderHash, collectionId, asset }, source),
    tx,
    logIndex,
    quantity: sold.reduce((sum, { quantity }) => sum + quantity, 0n),
    ...(asset === null && { tokens: [...sold] }),
  };
  // A sale in a block that the backfill has read is a past sale, even if the sale is written to the indexer much later.
  return { key: toSaleKey(row), ...row, blockNumber, isPast: readToBlock !== null && blockNumber <= readToBlock };
}

/**
 * The listing that the sale filled: the listing of the order at the sale's marketplace, otherwise the first listing of the order. Null if
 * the order has no listing.
 */
function findListingId(
  mirrored: readonly ListedOrder[],
  sold: { orderHash: string; collectionId: string; asset: string | null },
  marketplace: string,
): string | null {
  const listings = mirrored.filter(
    ({ orderHash, collectionId, asset }) =>
      orderHash === sold.orderHash && collectionId === sold.collectionId && asset === sold.asset,
  );
  return (listings.find(({ source }) => source === marketplace) ?? listings[0])?.id ?? null;
}

type TokenChanges = { held: NewTokenHolder[]; unminted: { collectionId: string; asset: string }[] };

/**
 * Reads the current holders from the primary database, with the block of the last transfer or token approval of each token. The holders
 * can be newer than this batch. The later batch that contains their transfers then changes nothing.
 */
async function readHolders(
  { main, chain }: ProjectionContext,
  moved: MovedTokens,
  follows: readonly Follow[],
): Promise<TokenChanges> {
  const changes: TokenChanges = { held: [], unminted: [] };
  for (const { collectionId, contractAddress: contract } of follows) {
    const tokens = moved.get(collectionId);
    if (!tokens) continue;
    const ownership = await listOwnership(main, { collectionId, chain: chain.id, contract }, [...tokens.keys()]);
    for (const [asset, movedIn] of tokens) {
      const known = ownership.get(asset);
      if (!known?.minted) changes.unminted.push({ collectionId, asset });
      else {
        const { owner, burned, block } = known;
        changes.held.push({ collectionId, asset, chain: chain.id, owner, burned, blockNumber: block ?? movedIn });
      }
    }
  }
  return changes;
}

/** Returns the tokens that were burned, or whose mint or burn was taken back. */
async function writeHolders(tx: Queryable, { held, unminted }: TokenChanges): Promise<CollectionAsset[]> {
  if (unminted.length > 0) await deleteUnmintedTokens(tx, unminted);
  await copyReportedTraits(tx, unminted);
  return held.length > 0 ? [...unminted, ...(await upsertTokenHolders(tx, held))] : unminted;
}
