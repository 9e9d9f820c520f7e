// The part of `audit --replay` that counts the maintained figures of collections again.

import { setTimeout as delay } from 'node:timers/promises';
import { readTogether } from '../../../platform/database/snapshot.ts';
import { recountFigures } from '../../../market/index/recount.ts';
import type { FigureDifference } from '../../../market/index/queries/figure-recount.ts';
import type { ChainContext } from '../context.ts';
import { countCollections } from './queries/figure-counts.ts';
import type { ChainAudit, Difference } from './report.ts';
import { FIGURE_DIFFERENCES_MAX } from './report.ts';

/**
 * The figures are counted at most this many times. A difference is reported only if every count finds it. A stored figure may be wrong for up to 5
 * seconds, until the sweep of expired rows corrects it. If a copy to the indexer has failed, the figure is wrong until the task `catalog`
 * repeats the copy.
 */
const COUNTS = 4;
const PAUSE_MS = 2_000;

export type RecountedChain = { audited: ChainAudit; differences: Difference[] };

/** `chain` null: all chains. A chain without collections is missing from the result. */
export async function auditFigures(
  context: Pick<ChainContext, 'main' | 'indexer' | 'chains' | 'clock'>,
  { chain, pauseMs = PAUSE_MS }: { chain: string | null; pauseMs?: number | undefined },
): Promise<RecountedChain[]> {
  const prefix = chain === null ? '' : `${chain}_`;
  const recount = () =>
    readTogether(context, ({ main, indexer }) =>
      recountFigures(
        { main, indexer, chains: context.chains },
        { prefix, now: context.clock(), limit: FIGURE_DIFFERENCES_MAX },
      ),
    );
  let found = await recount();
  for (let counts = 1; counts < COUNTS && found.length > 0; counts += 1) {
    await delay(pauseMs);
    const again = new Map((await recount()).map((difference) => [toKey(difference), difference]));
    found = found.flatMap((difference) => again.get(toKey(difference)) ?? []);
  }
  const byChain = Map.groupBy(found, ({ collectionId }) => chainOf(collectionId));
  const counted = await countCollections(context.indexer, prefix);
  return [...new Set([...counted.keys(), ...byChain.keys()])].map((id) => {
    const differences = (byChain.get(id) ?? []).map((difference) => toDifference(id, difference));
    const counts = {
      orders: 0,
      tokens: 0,
      collections: counted.get(id) ?? 0,
      unreadable: 0,
      rereads: 0,
      drift: differences.length,
    };
    return { audited: { chain: id, block: null, ...counts, digest: null }, differences };
  });
}

function toKey({ collectionId, figure, row }: FigureDifference): string {
  return JSON.stringify([collectionId, figure, row]);
}

function chainOf(collectionId: string): string {
  return collectionId.split('_')[0] ?? '';
}

function toDifference(chain: string, { collectionId, figure, row, stored, counted }: FigureDifference): Difference {
  return {
    chain,
    block: null,
    subject: `${figure} of ${collectionId}${row === null ? '' : ` ${row}`}`,
    field: 'counted',
    ours: stored ?? 'nothing',
    theirs: counted ?? 'nothing',
  };
}
