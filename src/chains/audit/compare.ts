// How an audit looks at a moving thing: our side in one go at the block that the chain's cursor names, the chain's side at that
// same block, and once more at a newer one before anything is called a difference. What cannot be read is never agreement.

import { setTimeout as delay } from 'node:timers/promises';
import { findLastSeq } from '../queries/audited.ts';
import type { ChainCursor } from '../../chain-log/queries/chain-cursors.ts';
import { findChainCursor } from '../../chain-log/queries/chain-cursors.ts';
import { findProjectedSeq } from '../queries/projection.ts';
import type { Database } from '../../database/port.ts';
import type { Sides } from '../../database/snapshot.ts';
import { readTogether } from '../../database/snapshot.ts';
import type { ChainReader } from '../rpc/chain-reader.ts';
import { ChainUnavailable, RpcFailure } from '../rpc/chain-reader.ts';
import type { ChainFacts } from './chain-facts.ts';
import { createChainFacts, NoAnswer } from './chain-facts.ts';
import type { Finding } from './orders.ts';

export type LookContext = {
  main: Database;
  indexer: Database;
  reader: ChainReader;
  clock: () => number;
  /** The chain is given up when it did not answer so many times in a row; whoever looks takes from it. */
  patience: { left: number };
};

/** How subjects of one kind are taken from our side, and held against the chain. */
export type Kind<S> = {
  take: (sides: Sides, keys: readonly string[]) => Promise<ReadonlyMap<string, S>>;
  compare: (facts: ChainFacts, subject: S, now: number) => Promise<Finding[]>;
};

/** What was seen of one subject at a block. `findings` null: it could not be read. */
type Sight = { block: number | null; findings: Finding[] | null };

export type Seen = { compared: number; unreadable: number; block: number | null; differences: Map<string, Sight> };

/** Failures in a row after which a chain is asked nothing more. */
export const PATIENCE = 3;
/** Subjects looked at together, so that the block does not grow old: endpoints forget the state of old ones. */
const BATCH_SIZE = 100;
const READS_AT_ONCE = 8;
/** Times that a difference is looked at again. */
const SECOND_LOOKS = 2;
/** Times that a look is begun when the chain took back the block under it, or the indexer is behind. */
const LOOKS_MAX = 40;
const PAUSE_MS = 200;

/** Looks at every subject; those that are gone by then are not counted. */
export async function lookAtAll<S>(context: LookContext, kind: Kind<S>, keys: readonly string[]): Promise<Seen> {
  const seen: Seen = { compared: 0, unreadable: 0, block: null, differences: new Map() };
  for (let start = 0; start < keys.length; start += BATCH_SIZE) {
    for (const [key, sight] of await lookTwice(context, kind, keys.slice(start, start + BATCH_SIZE))) {
      seen.block = Math.max(seen.block ?? 0, sight.block ?? 0) || null;
      if (sight.findings === null) seen.unreadable += 1;
      else seen.compared += 1;
      if (sight.findings && sight.findings.length > 0) seen.differences.set(key, sight);
    }
  }
  return seen;
}

async function lookTwice<S>(context: LookContext, kind: Kind<S>, keys: readonly string[]): Promise<Map<string, Sight>> {
  const sights = await look(context, kind, keys);
  for (let looks = 0; looks < SECOND_LOOKS; looks += 1) {
    const doubtful = [...sights].flatMap(([key, { findings }]) => (findings && findings.length > 0 ? [key] : []));
    if (doubtful.length === 0) break;
    await delay(PAUSE_MS);
    const again = await look(context, kind, doubtful);
    for (const key of doubtful) sights.delete(key);
    for (const [key, sight] of again) sights.set(key, sight);
  }
  return sights;
}

async function look<S>(context: LookContext, kind: Kind<S>, keys: readonly string[]): Promise<Map<string, Sight>> {
  for (let looks = 0; looks < LOOKS_MAX && context.patience.left > 0; looks += 1) {
    if (looks > 0) await delay(PAUSE_MS);
    const stock = await takeStock(context, kind, keys);
    if (!stock) continue;
    const { number: block, hash } = stock.cursor;
    const facts = createChainFacts(context.reader, block);
    const sights = new Map<string, Sight>();
    const waiting = [...stock.subjects];
    const work = async () => {
      for (let next = waiting.pop(); next; next = waiting.pop()) {
        const [key, subject] = next;
        const findings = await attempt(context, () => kind.compare(facts, subject, stock.now));
        sights.set(key, { block, findings });
      }
    };
    await Promise.all(Array.from({ length: READS_AT_ONCE }, work));
    // Only then the answers were of the block that we mean.
    const header = await attempt(context, () => context.reader.header(block));
    if (header?.hash === hash) return sights;
  }
  // What did not come to rest for this does not for the others either.
  context.patience.left = 0;
  return new Map(keys.map((key) => [key, { block: null, findings: null }]));
}

type Stock<S> = { cursor: ChainCursor; subjects: ReadonlyMap<string, S>; now: number };

/** Our side at one moment; null while the indexer has not been told all that the log holds. */
function takeStock<S>(context: LookContext, kind: Kind<S>, keys: readonly string[]): Promise<Stock<S> | null> {
  const { reader, clock } = context;
  return readTogether(context, async (sides) => {
    const chain = reader.chain.id;
    const cursor = await findChainCursor(sides.main, chain);
    if (!cursor || (await findProjectedSeq(sides.indexer, chain)) < (await findLastSeq(sides.main, chain))) return null;
    return { cursor, subjects: await kind.take(sides, keys), now: clock() };
  });
}

/** Null when the chain does not say. */
async function attempt<T>({ patience }: LookContext, read: () => Promise<T>): Promise<T | null> {
  if (patience.left <= 0) return null;
  try {
    const answer = await read();
    patience.left = PATIENCE;
    return answer;
  } catch (error) {
    if (error instanceof ChainUnavailable) patience.left -= 1;
    else if (!(error instanceof RpcFailure || error instanceof NoAnswer)) throw error;
    return null;
  }
}
