// Stores records of the kind `bid`: bids that marketplaces report. They stand in the order book beside the bids of the service, so that one
// statement finds the best bid for a token.

import type { AssetId } from '../../platform/core/address.ts';
import type { Database, Queryable } from '../../platform/database/port.ts';
import type { UpsertCounts } from '../../platform/database/upsert.ts';
import type { RecordWrites } from '../../platform/database/write-recording.ts';
import { listTokensOfTraits } from '../../market/explore/queries/trait-keys.ts';
import { lockChainsAndBooks } from '../../market/orders/book.ts';
import { toOrderKeyText } from '../../market/orders/order-id.ts';
import { refreshTopBids } from '../../market/orders/queries/book-figures.ts';
import { upsertReportedBids } from '../../market/orders/queries/reported-bids.ts';
import { listOrderIdsByHash } from '../../market/orders/queries/stored-orders.ts';
import { upsertTokenSet } from '../../market/orders/queries/token-sets.ts';
import type { TokenSet } from '../../market/orders/token-sets.ts';
import { SET_TOKENS_MAX } from '../../market/orders/token-sets.ts';
import type { BidRow } from '../records/bid.ts';
import type { LineRejection, NumberedRecord } from '../records/parse.ts';

type BidLine = { line: number; row: BidRow };

/**
 * Finds the tokens of the sets that bids name by traits alone, in the indexer. Rejects a bid if no stored token has its traits, except in a dry run: then its
 * tokens may be in the same import. Rejects a bid if too many tokens have them.
 */
export async function findTokensOfBids(
  indexer: Pick<Database, 'query'>,
  records: readonly NumberedRecord[],
  { now, dryRun }: { now: number; dryRun: boolean },
): Promise<{ bids: BidLine[]; rejections: LineRejection[] }> {
  const bids: BidLine[] = [];
  const rejections: LineRejection[] = [];
  const known = new Map<string, readonly AssetId[]>();
  for (const { line, record } of records) {
    if (record.kind !== 'bid') continue;
    const { row } = record;
    const { set, collectionId } = row;
    if (!set || set.tokenIds !== null) {
      bids.push({ line, row });
      continue;
    }
    const key = `${collectionId} ${set.root}`;
    const query = { traits: set.traits ?? [], limit: SET_TOKENS_MAX + 1, now };
    const tokenIds = known.get(key) ?? (await listTokensOfTraits(indexer, collectionId, query));
    known.set(key, tokenIds);
    const reason = toReason(tokenIds.length, dryRun);
    if (reason === null) bids.push({ line, row: { ...row, set: { ...set, tokenIds } } });
    else rejections.push({ line, kind: 'bid', reason });
  }
  return { bids, rejections };
}

function toReason(tokens: number, dryRun: boolean): string | null {
  if (tokens > SET_TOKENS_MAX) return `traits: more than ${SET_TOKENS_MAX} tokens have these traits`;
  if (tokens > 0 || dryRun) return null;
  return 'traits: no stored token has these traits; import the tokens first, or name them with tokenIds or mints';
}

/**
 * `ownLines`: the lines of bids whose order the service has stored itself. They are counted as unchanged and are not written. `changedSets`: the collections
 * of which a set has other tokens now, also if no bid has changed.
 */
export type IngestedBids = { counts: UpsertCounts; ownLines: readonly number[]; changedSets: ReadonlySet<string> };

export async function ingestBids(
  tx: Queryable,
  bids: readonly BidLine[],
  { now, record }: { now: number; record: RecordWrites | undefined },
): Promise<IngestedBids> {
  await lockChainsAndBooks(
    tx,
    bids.map(({ row }) => row),
  );
  const keyOf = ({ chain, orderHash }: BidRow) => (orderHash === null ? null : { chain, orderHash });
  const own = await listOrderIdsByHash(
    tx,
    bids.flatMap(({ row }) => keyOf(row) ?? []),
  );
  const isOwn = (row: BidRow) => {
    const key = keyOf(row);
    return key !== null && own.has(toOrderKeyText(key));
  };
  const rows = bids.flatMap(({ row }) => (isOwn(row) ? [] : [row]));
  const changedSets = new Set<string>();
  for (const [collectionId, set] of listSets(rows))
    if (await upsertTokenSet(tx, collectionId, set)) changedSets.add(collectionId);
  const counts = await upsertReportedBids(tx, rows, { now, record });
  await refreshTopBids(
    tx,
    rows.map(({ collectionId }) => collectionId),
    now,
  );
  const ownLines = bids.flatMap(({ line, row }) => (isOwn(row) ? [line] : []));
  return { counts: { ...counts, unchanged: counts.unchanged + ownLines.length }, ownLines, changedSets };
}

/** The sets of the bids, each once, in the order of their keys. The last record that names a set decides about its tokens. */
function listSets(rows: readonly BidRow[]): [collectionId: string, set: TokenSet][] {
  const sets = new Map<string, [string, TokenSet]>();
  for (const { collectionId, set } of rows) {
    if (set?.tokenIds) sets.set(`${collectionId} ${set.root}`, [collectionId, { ...set, tokenIds: set.tokenIds }]);
  }
  return [...sets].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, set]) => set);
}
