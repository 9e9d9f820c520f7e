// The section `chains` of the service's status: how far each chain has been read, its followed collections, and its endpoints.

import type { ChainCursor } from '../../market/chain-log/queries/chain-cursors.ts';
import { listChainCursors } from '../../market/chain-log/queries/chain-cursors.ts';
import type { RereadRange } from '../../market/chain-log/queries/reread-ranges.ts';
import { listRereadRanges } from '../../market/chain-log/queries/reread-ranges.ts';
import type { Clock } from '../../platform/core/clock.ts';
import type { Follow } from '../../market/follows/queries/follows.ts';
import { listFollows } from '../../market/follows/queries/follows.ts';
import type { StatusProvider } from '../../platform/core/status.ts';
import type { ChainContext } from './context.ts';
import type { ChainMode } from './followed-chains.ts';
import type { Dispute } from './rpc/disputes.ts';
import type { ComparisonStatus } from './rpc/endpoint-comparison.ts';
import type { EndpointStatus } from './rpc/endpoint.ts';

export type ChainStatus = {
  chain: string;
  mode: ChainMode;
  /** The last block that was read. This and the next two fields are null before the first block. */
  block: number | null;
  /** The timestamp of that block (ISO 8601). */
  blockTime: string | null;
  /** The age of that block. */
  lagSeconds: number | null;
  /**
   * How many blocks `block` is behind the newest block that an endpoint reported to this process. Null when one of the two blocks is
   * unknown.
   */
  headDistance: number | null;
  /** Reorganisations since the chain was first followed. */
  reorganisations: number;
  /** Why no further block is read; null while the chain is read normally. */
  note: string | null;
  collections: { live: number; catchingUp: number };
  /** The comparison of the endpoints in this process. Null if the chain is not read. */
  comparison:
    | (Omit<ComparisonStatus, 'disputed'> & { disputed: (Omit<Dispute, 'since'> & { since: string }) | null })
    | null;
  /**
   * Stored blocks that wait to be read again, because they were accepted from one endpoint while no other endpoint responded, or because an audit
   * found wrong data. `since`: when the first of them was stored (ISO 8601).
   */
  toReadAgain: { from: number; to: number; since: string }[];
  /** Logs that this process has left out because they could not be read. Includes those in `unread`. */
  undecodableLogs: number;
  /** Logs of settlement contracts that this process has left out, by protocol: sales that were seen and could not be read. */
  unread: { protocol: string; logs: number }[];
  /** Ranges of blocks whose sales of pools this process could not read, because no endpoint served their logs. */
  unreadPoolRanges: number;
  /** The endpoints as this process sees them. Another process may see other states. */
  endpoints: ReturnType<typeof toPublicStatus>[];
};

const TIMEOUT_MS = 2_000;

/** Reports the EVM chains that are live or have a stored cursor. */
export function createChainStatus(context: ChainContext): StatusProvider {
  return { section: 'chains', read: () => readChainStatus(context) };
}

export async function readChainStatus({ main, chains, followed, clock }: ChainContext): Promise<ChainStatus[]> {
  const db = main.within(TIMEOUT_MS);
  const cursors = new Map((await listChainCursors(db)).map((cursor) => [cursor.chain, cursor]));
  const follows = await listFollows(db);
  const rereads = toReadAgain(await listRereadRanges(db));
  const readers = new Map(followed.readers().map((reader) => [reader.chain.id, reader]));
  return [...chains.values()]
    .filter(({ id, family }) => family === 'evm' && (followed.modeOf(id) === 'live' || cursors.has(id)))
    .map(({ id }) => {
      const reader = readers.get(id);
      const endpoints = reader?.endpoints() ?? [];
      const progress = toProgress(cursors.get(id) ?? null, clock);
      return {
        chain: id,
        mode: followed.modeOf(id),
        ...progress,
        headDistance: toHeadDistance(endpoints, progress.block),
        collections: countCollections(follows.filter(({ chain }) => chain === id)),
        comparison: reader ? toPublicComparison(reader.comparison.status()) : null,
        toReadAgain: rereads.get(id) ?? [],
        undecodableLogs: [...(reader?.unread.byContract().values() ?? [])].reduce((sum, count) => sum + count, 0),
        unread: [...(reader?.unread.byProtocol() ?? [])].map(([protocol, logs]) => ({ protocol, logs })),
        unreadPoolRanges: reader?.pools.unreadRanges() ?? 0,
        endpoints: endpoints.map(toPublicStatus),
      };
    });
}

/** The ranges of each chain. */
export function toReadAgain(ranges: readonly RereadRange[]): Map<string, ChainStatus['toReadAgain']> {
  const byChain = new Map<string, ChainStatus['toReadAgain']>();
  for (const { chain, from, to, since } of ranges) {
    const range = { from, to, since: new Date(since).toISOString() };
    byChain.set(chain, [...(byChain.get(chain) ?? []), range]);
  }
  return byChain;
}

function toProgress(cursor: ChainCursor | null, clock: Clock) {
  if (!cursor) return { block: null, blockTime: null, lagSeconds: null, reorganisations: 0, note: null };
  return {
    block: cursor.number,
    blockTime: new Date(cursor.time).toISOString(),
    lagSeconds: Math.max(0, Math.round((clock() - cursor.time) / 1_000)),
    reorganisations: cursor.reorgs,
    note: cursor.note,
  };
}

function toHeadDistance(endpoints: readonly EndpointStatus[], block: number | null): number | null {
  const heads = endpoints.map(({ head }) => head).filter((head) => head !== null);
  return heads.length === 0 || block === null ? null : Math.max(0, Math.max(...heads) - block);
}

/** Times become ISO 8601. */
function toPublicComparison({ disputed, ...comparison }: ComparisonStatus): ChainStatus['comparison'] {
  return { ...comparison, disputed: disputed && { ...disputed, since: new Date(disputed.since).toISOString() } };
}

function countCollections(follows: readonly Follow[]): ChainStatus['collections'] {
  const onChain = follows.filter(({ fromBlock }) => fromBlock !== null);
  const live = onChain.filter(({ joined }) => joined).length;
  return { live, catchingUp: onChain.length - live };
}

/** Leaves out the host and the texts of failures: both may reveal the provider. */
function toPublicStatus({ position, state, lag, failures, rangeBlocks }: EndpointStatus) {
  return { position, state, lag, failures, rangeBlocks };
}
