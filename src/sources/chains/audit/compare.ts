// Compares stored rows with a chain while the chain advances. The rows and the chain's state are read at the block of the chain's cursor. A
// difference is reported only if later comparisons find it too.

import { setTimeout as delay } from 'node:timers/promises';
import type { ChainCursor } from '../../../market/chain-log/queries/chain-cursors.ts';
import { findChainCursor } from '../../../market/chain-log/queries/chain-cursors.ts';
import { findLastSeq } from '../../../market/chain-log/queries/chain-events.ts';
import type { Clock } from '../../../platform/core/clock.ts';
import type { Database } from '../../../platform/database/port.ts';
import type { Sides } from '../../../platform/database/snapshot.ts';
import { readTogether } from '../../../platform/database/snapshot.ts';
import { findProjectedPosition } from '../queries/projection.ts';
import type { ChainReader } from '../rpc/chain-reader.ts';
import { ChainUnavailable, RpcFailure } from '../rpc/rpc-failure.ts';
import { ChainFacts, UnknownFact } from './chain-facts.ts';

export type CompareContext = {
  main: Database;
  indexer: Database;
  reader: ChainReader;
  clock: Clock;
  /** How many more failures in a row are tolerated. At 0 the chain is not read any more. All comparisons of one chain share this count. */
  failures: { left: number };
  /** How long to wait after an attempt that failed, and before differing rows are compared again. In milliseconds. */
  pauseMs: number;
};

/** `read` leaves out keys whose row no longer exists. */
export type Comparison<R> = {
  read: (sides: Sides, keys: readonly string[]) => Promise<ReadonlyMap<string, R>>;
  compare: (facts: ChainFacts, row: R, now: number) => Promise<Finding[]>;
};

export type Finding = { field: string; ours: string; theirs: string };

export type ComparisonResult = {
  compared: number;
  unreadable: number;
  /** The newest block at which a row was compared. Null if no row was compared. */
  block: number | null;
  /** The rows with findings, by key. */
  differences: Map<string, { block: number | null; findings: Finding[] }>;
};

/** `findings` is null if the chain could not be read. */
type Outcome = { block: number | null; findings: Finding[] | null };

/** Failures in a row after which a chain is not read any more. */
export const CHAIN_FAILURES_MAX = 3;
/** The most rows compared at one block. Endpoints discard the state of old blocks, so a batch must not take long. */
const BATCH_SIZE = 100;
const READS_AT_ONCE = 8;
const REPEATS = 2;
/** The most attempts to compare a batch. An attempt fails when its block is orphaned, or while the indexer is behind the chain log. */
const ATTEMPTS_MAX = 40;

export async function compareAll<R>(
  context: CompareContext,
  comparison: Comparison<R>,
  keys: readonly string[],
): Promise<ComparisonResult> {
  const result: ComparisonResult = { compared: 0, unreadable: 0, block: null, differences: new Map() };
  for (let start = 0; start < keys.length; start += BATCH_SIZE) {
    const outcomes = await compareRepeatedly(context, comparison, keys.slice(start, start + BATCH_SIZE));
    for (const [key, { block, findings }] of outcomes) {
      if (findings === null) {
        result.unreadable += 1;
        continue;
      }
      result.compared += 1;
      result.block = Math.max(result.block ?? 0, block ?? 0) || null;
      if (findings.length > 0) result.differences.set(key, { block, findings });
    }
  }
  return result;
}

/** Compares a batch. Rows that differ are compared again, up to REPEATS times: a change on the chain may be stored a moment later. */
async function compareRepeatedly<R>(
  context: CompareContext,
  comparison: Comparison<R>,
  keys: readonly string[],
): Promise<Map<string, Outcome>> {
  const outcomes = await compareBatch(context, comparison, keys);
  for (let repeats = 0; repeats < REPEATS; repeats += 1) {
    const different = [...outcomes].flatMap(([key, { findings }]) => (findings && findings.length > 0 ? [key] : []));
    if (different.length === 0) break;
    await delay(context.pauseMs);
    const repeated = await compareBatch(context, comparison, different);
    for (const key of different) outcomes.delete(key);
    for (const [key, outcome] of repeated) outcomes.set(key, outcome);
  }
  return outcomes;
}

async function compareBatch<R>(
  context: CompareContext,
  comparison: Comparison<R>,
  keys: readonly string[],
): Promise<Map<string, Outcome>> {
  const { reader, failures, pauseMs } = context;
  for (let attempts = 0; attempts < ATTEMPTS_MAX && failures.left > 0; attempts += 1) {
    if (attempts > 0) await delay(pauseMs);
    const stored = await readStored(context, comparison, keys);
    if (!stored) continue;
    const { number, hash } = stored.cursor;
    const outcomes = await compareStored(context, comparison, stored);
    // The values are valid only if the chain still contains the block.
    const header = await tryRead(context, () => reader.blocks.header(number));
    if (header?.hash === hash) return outcomes;
  }
  // No attempt of this batch succeeded, so the next batches are not attempted.
  failures.left = 0;
  return new Map(keys.map((key) => [key, { block: null, findings: null }]));
}

type Stored<R> = { cursor: ChainCursor; rows: ReadonlyMap<string, R>; now: number };

/** Reads both databases as of one moment. Null while the chain has no cursor, and while the indexer lacks entries of the chain log. */
function readStored<R>(
  context: CompareContext,
  comparison: Comparison<R>,
  keys: readonly string[],
): Promise<Stored<R> | null> {
  const { reader, clock } = context;
  return readTogether(context, async (sides) => {
    const chain = reader.chain.id;
    const cursor = await findChainCursor(sides.main, chain);
    if (!cursor || (await findProjectedPosition(sides.indexer, chain)).seq < (await findLastSeq(sides.main, chain)))
      return null;
    return { cursor, rows: await comparison.read(sides, keys), now: clock() };
  });
}

async function compareStored<R>(
  context: CompareContext,
  { compare }: Comparison<R>,
  { cursor, rows, now }: Stored<R>,
): Promise<Map<string, Outcome>> {
  const { contracts, chain } = context.reader;
  const facts = new ChainFacts(contracts, { block: cursor.number, wrappedNative: chain.wrappedNative });
  const outcomes = new Map<string, Outcome>();
  const waiting = [...rows];
  const work = async () => {
    for (let next = waiting.pop(); next; next = waiting.pop()) {
      const [key, row] = next;
      const findings = await tryRead(context, () => compare(facts, row, now));
      outcomes.set(key, { block: cursor.number, findings });
    }
  };
  await Promise.all(Array.from({ length: READS_AT_ONCE }, work));
  return outcomes;
}

async function tryRead<T>({ failures }: CompareContext, read: () => Promise<T>): Promise<T | null> {
  if (failures.left <= 0) return null;
  try {
    const value = await read();
    failures.left = CHAIN_FAILURES_MAX;
    return value;
  } catch (error) {
    if (error instanceof ChainUnavailable) failures.left -= 1;
    else if (!(error instanceof RpcFailure || error instanceof UnknownFact)) throw error;
    return null;
  }
}
