// How the chains are doing, as anyone may see it: how far each has been read, how old that is, and what is followed there.

import type { ChainContext } from './context.ts';
import { listChainCursors } from '../chain-log/queries/chain-cursors.ts';
import { listFollows } from '../follows/queries/follows.ts';
import type { EndpointStatus } from './rpc/chain-reader.ts';
import type { StatusProvider } from '../core/status.ts';
import type { ChainMode } from './followed-chains.ts';

export type ChainStatus = {
  chain: string;
  mode: ChainMode;
  /** The last block that was read, when the chain says it was made, and how long ago that is. */
  block: number | null;
  blockTime: string | null;
  lagSeconds: number | null;
  reorganisations: number;
  /** Why the chain stands still, when it does. */
  note: string | null;
  collections: { live: number; catchingUp: number };
  /** As this process sees them. */
  endpoints: Pick<EndpointStatus, 'position' | 'state' | 'lag' | 'failures' | 'rangeBlocks'>[];
};

const TIMEOUT_MS = 2_000;

/** Chains that are live or have ever been. */
export function createChainStatus({ main, chains, followed, clock }: ChainContext): StatusProvider {
  return {
    section: 'chains',
    read: async (): Promise<ChainStatus[]> => {
      const db = main.within(TIMEOUT_MS);
      const cursors = new Map((await listChainCursors(db)).map((cursor) => [cursor.chain, cursor]));
      const follows = await listFollows(db);
      const readers = new Map(followed.readers().map((reader) => [reader.chain.id, reader]));
      const shown = [...chains.values()].filter(
        ({ id, family }) => family === 'evm' && (followed.modeOf(id) === 'live' || cursors.has(id)),
      );
      return shown.map(({ id }) => {
        const cursor = cursors.get(id);
        const here = follows.filter(({ chain, fromBlock }) => chain === id && fromBlock !== null);
        const live = here.filter(({ joined }) => joined).length;
        return {
          chain: id,
          mode: followed.modeOf(id),
          block: cursor?.number ?? null,
          blockTime: cursor ? new Date(cursor.time).toISOString() : null,
          lagSeconds: cursor ? Math.max(0, Math.round((clock() - cursor.time) / 1_000)) : null,
          reorganisations: cursor?.reorgs ?? 0,
          note: cursor?.note ?? null,
          collections: { live, catchingUp: here.length - live },
          endpoints: (readers.get(id)?.endpoints() ?? []).map(({ position, state, lag, failures, rangeBlocks }) => ({
            position,
            state,
            lag,
            failures,
            rangeBlocks,
          })),
        };
      });
    },
  };
}
