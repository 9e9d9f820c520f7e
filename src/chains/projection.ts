// From the primary's log of a chain to the indexer: sales with their marketplace, and who holds which token. It reads the log
// in its order of arrival and writes with its own place in it, so that the indexer may be away, be behind, or begin anew.

import type { Clock } from '../core/clock.ts';
import { toOrderKeyText } from '../orders/order-id.ts';
import { listOrderIdsByHash } from '../orders/queries/stored-orders.ts';
import type { LogEntry } from '../chain-log/queries/chain-events.ts';
import { listLogEntries } from '../chain-log/queries/chain-events.ts';
import { findProjectedSeq, updateProjectedSeq } from './queries/projection.ts';
import type { Database, Queryable } from '../database/port.ts';
import type { Follow } from '../follows/queries/follows.ts';
import { listFollows } from '../follows/queries/follows.ts';
import { countHoldings, listTokenHolders } from '../chain-log/queries/holdings.ts';
import type { NewSale } from '../market/queries/sales.ts';
import { deleteReportedSales, deleteSalesAfter, upsertSales } from '../market/queries/sales.ts';
import { upsertStats } from '../market/queries/stats.ts';
import type { NewTokenHolder } from '../market/queries/tokens.ts';
import { deleteUnmintedTokens, listTokensMovedAfter, upsertTokenHolders } from '../market/queries/tokens.ts';
import type { Address } from '../core/address.ts';
import { toTokenId } from '../core/address.ts';
import type { OrderFulfilled } from '../chain-log/chain-event.ts';
import { toCollectionId } from '../core/collection.ts';
import type { FillSale } from './sales.ts';
import { toSales } from './sales.ts';
import { toSaleKey } from '../market/row-keys.ts';

export type ProjectionContext = {
  main: Database;
  indexer: Database;
  chain: string;
  serviceName: string;
  clock: Clock;
  wrappedNative: Address | null;
  /** The marketplace that a fill came through, when it is no order of our own. */
  attribute: (fill: OrderFulfilled) => string;
};

/** Entries written at a time. */
const BATCH_SIZE = 5_000;

/** Writes the next batch of the log; null when there is nothing to write. Returns the collections that it changed. */
export async function projectNext(context: ProjectionContext): Promise<Set<string> | null> {
  const { main, indexer, chain } = context;
  const from = await findProjectedSeq(indexer, chain);
  const entries = wholeTransactions(await listLogEntries(main, chain, { after: from, limit: BATCH_SIZE }));
  const to = entries.at(-1)?.seq;
  if (to === undefined) return null;
  const follows = new Map((await listFollows(main, chain)).map((follow) => [follow.contractAddress, follow]));
  const { rewind, fills, matched, moved } = fold(entries, follows);
  const sales = await toNewSales(context, { fills, matched }, follows);
  // A token that moved again since has its later block.
  for (const token of rewind === null ? [] : await listTokensMovedAfter(indexer, chain, rewind)) {
    if (!moved.get(token.collectionId)?.has(token.asset)) note(moved, token, rewind ?? 0);
  }
  const tokens = await readTokens(context, moved, follows);
  const stats = await readStats(context, moved, follows);
  const changed = new Set([...sales.map((sale) => sale.collectionId), ...moved.keys()]);
  const done = await indexer.transaction(async (tx) => {
    if (!(await updateProjectedSeq(tx, chain, { from, to }))) return false;
    if (rewind !== null) for (const id of await deleteSalesAfter(tx, chain, rewind)) changed.add(id);
    await deleteReportedSales(tx, chain, sales);
    await upsertSales(tx, sales);
    await writeTokens(tx, tokens);
    await upsertStats(tx, stats);
    return true;
  });
  return done ? changed : new Set();
}

/** A full batch may end within a transaction, whose fills belong together: what is cut off is left to the next batch. */
function wholeTransactions(entries: LogEntry[]): LogEntry[] {
  const last = entries.at(-1);
  if (entries.length < BATCH_SIZE || !last || !('event' in last)) return entries;
  const { tx } = last.event;
  const cut = entries.findLastIndex((entry) => !('event' in entry) || entry.event.tx !== tx);
  return cut < 0 ? entries : entries.slice(0, cut + 1);
}

/** Tokens by collection and id, with the block of their last move. */
type Moved = Map<string, Map<string, number>>;

function note(moved: Moved, { collectionId, asset }: { collectionId: string; asset: string }, block: number): void {
  const tokens = moved.get(collectionId) ?? new Map<string, number>();
  tokens.set(asset, block);
  moved.set(collectionId, tokens);
}

/** Fills, and which of them were matched with others, as `tx hash`. */
type Trades = { fills: OrderFulfilled[]; matched: ReadonlySet<string> };

/** What a batch amounts to: back to which block first, then which fills and which tokens. */
function fold(
  entries: readonly LogEntry[],
  follows: ReadonlyMap<Address, Follow>,
): { rewind: number | null; moved: Moved } & Trades {
  let rewind: number | null = null;
  let fills: OrderFulfilled[] = [];
  const matched = new Set<string>();
  const moved: Moved = new Map();
  for (const entry of entries) {
    if ('ancestor' in entry) {
      const { ancestor } = entry;
      rewind = Math.min(rewind ?? ancestor, ancestor);
      fills = fills.filter((fill) => fill.blockNumber <= ancestor);
      continue;
    }
    const { event } = entry;
    if (event.kind === 'order-fulfilled') fills.push(event);
    if (event.kind === 'orders-matched') for (const hash of event.orderHashes) matched.add(`${event.tx} ${hash}`);
    if (event.kind !== 'transfer') continue;
    const follow = follows.get(event.contract);
    if (follow) note(moved, { collectionId: follow.collectionId, asset: event.tokenId }, event.blockNumber);
  }
  return { rewind, fills, matched, moved };
}

async function toNewSales(
  context: ProjectionContext,
  { fills, matched }: Trades,
  follows: ReadonlyMap<Address, Follow>,
): Promise<NewSale[]> {
  const byTx = Map.groupBy(fills, (fill) => fill.tx);
  const found = [...byTx.values()]
    .flatMap((group) => {
      const hashes = group.filter((fill) => matched.has(`${fill.tx} ${fill.orderHash}`)).map((fill) => fill.orderHash);
      return toSales(group, { matched: new Set(hashes), wrappedNative: context.wrappedNative });
    })
    .filter(({ contract }) => follows.has(contract));
  const keyOf = ({ fill }: FillSale) => ({ chain: context.chain, orderHash: fill.orderHash });
  const own = await listOrderIdsByHash(context.main, found.map(keyOf));
  return found.map((sale) => toNewSale(context, sale, own.get(toOrderKeyText(keyOf(sale))) ?? null));
}

function toNewSale(
  { chain, serviceName, attribute }: ProjectionContext,
  sale: FillSale,
  ownId: string | null,
): NewSale {
  const { fill, contract, tokenId, priceRaw, price, seller, buyer } = sale;
  const collectionId = toCollectionId(chain, contract);
  const { tx, logIndex, blockNumber, blockTime: soldAt } = fill;
  const source = ownId === null ? attribute(fill) : serviceName;
  const row = {
    source,
    chain,
    collectionId,
    asset: tokenId === null ? null : toTokenId(tokenId),
    price,
    priceRaw,
    seller,
    buyer,
    soldAt,
    listingId: ownId,
    tx,
    logIndex,
  };
  return { key: toSaleKey(row), ...row, blockNumber };
}

type TokenChanges = { owners: NewTokenHolder[]; unminted: { collectionId: string; asset: string }[] };

/** Holders as the primary knows them now: later than the batch at most, and then a later batch says so again. */
async function readTokens(
  { main, chain }: ProjectionContext,
  moved: Moved,
  follows: ReadonlyMap<Address, Follow>,
): Promise<TokenChanges> {
  const changes: TokenChanges = { owners: [], unminted: [] };
  for (const { collectionId, contractAddress: contract } of follows.values()) {
    const tokens = moved.get(collectionId);
    if (!tokens) continue;
    const holders = await listTokenHolders(main, { collectionId, chain, contract }, [...tokens.keys()]);
    for (const [asset, blockNumber] of tokens) {
      const holder = holders.get(asset);
      if (!holder?.minted) changes.unminted.push({ collectionId, asset });
      else changes.owners.push({ collectionId, asset, chain, owner: holder.owner, burned: holder.burned, blockNumber });
    }
  }
  return changes;
}

async function writeTokens(tx: Queryable, { owners, unminted }: TokenChanges): Promise<void> {
  if (unminted.length > 0) await deleteUnmintedTokens(tx, unminted);
  if (owners.length > 0) await upsertTokenHolders(tx, owners);
}

/** Holders of ERC-1155 tokens cannot be counted from one owner a token: they are told as stats. */
async function readStats({ main, clock }: ProjectionContext, moved: Moved, follows: ReadonlyMap<Address, Follow>) {
  const stats: Parameters<typeof upsertStats>[1][number][] = [];
  for (const { collectionId, standard } of follows.values()) {
    const tokens = moved.get(collectionId);
    if (!tokens || standard !== 'erc1155') continue;
    const counted = await countHoldings(main, collectionId);
    stats.push({ collectionId, ...counted, listedCount: null, floorRaw: null, at: clock(), atReported: true });
  }
  return stats;
}
