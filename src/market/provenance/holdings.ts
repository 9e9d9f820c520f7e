// Chooses the supply, the number of owners and the listed count of a collection from the stored facts. The caller reads the facts.

import type { CollectionSnapshot } from '../../core/collection.ts';
import type { Coverage, CoverageSubject } from './coverage.ts';
import { isScanned, toCounted } from './coverage.ts';
import type { Candidate, Figure } from './figure.ts';
import { MAX_AGE_MS, chooseFigure, toReported, toSnapshot } from './figure.ts';

export type HoldingFacts = {
  /** The number of tokens that are not burned. */
  tokens: number;
  /** How many of these tokens are known from the chain's log. */
  chainTokens: number;
  holders: number;
  record: { at: number; owners: number | null; supply: number | null; listedCount: number | null } | null;
  /** Coverage of the subjects `tokens`, `owners` and `listings`. */
  coverage: readonly Coverage[];
};

/** Null for a number that could not be read. An asset in both the own order book and the mirror is counted in `own` only. */
export type ListedAssets = { own: number | null; mirrored: number | null };

export type HoldingContext = {
  snapshot: Pick<CollectionSnapshot, 'supply' | 'owners'>;
  tokensComplete: boolean;
  listed: ListedAssets;
  /** Whether the own order book can have orders of the collection. */
  hasOwnBook: boolean;
};

/** For callers that do not use the listed count. */
export const NO_LISTED_COUNT = { listed: { own: null, mirrored: null }, hasOwnBook: false } as const;

export type HoldingFigures = {
  supply: Figure<number> | null;
  owners: Figure<number> | null;
  listedCount: Figure<number> | null;
};

/** `facts` is null when they could not be read. Then the supply comes from the snapshot, and the other figures are not known. */
export function toHoldingFigures(facts: HoldingFacts | null, context: HoldingContext, now: number): HoldingFigures {
  const { snapshot } = context;
  if (!facts) return { supply: chooseFigure(toSnapshot(snapshot.supply), now), owners: null, listedCount: null };
  const { record } = facts;
  return {
    supply: chooseFigure(
      [
        ...toTokenCounts(facts, context, { subject: 'tokens', onChain: facts.chainTokens, known: facts.tokens }),
        ...toReported(record, record?.supply, STATS),
        ...toSnapshot(snapshot.supply),
      ],
      now,
    ),
    owners: chooseFigure(
      [
        ...toTokenCounts(facts, context, { subject: 'owners', onChain: facts.holders, known: facts.holders }),
        ...toReported(record, record?.owners, STATS),
        ...toSnapshot(snapshot.owners),
      ],
      now,
    ),
    listedCount: toListedCount(facts, context, now),
  };
}

type ListedFacts = { record: { at: number; listedCount: number | null } | null; coverage: readonly Coverage[] };
type ListedContext = Pick<HoldingContext, 'listed' | 'hasOwnBook'>;

/** Null when the listed count is not known. */
export function toListedCount(facts: ListedFacts, context: ListedContext, now: number): Figure<number> | null {
  const { record } = facts;
  return chooseFigure([...toListedCounts(facts, context, now), ...toReported(record, record?.listedCount, STATS)], now);
}

const STATS = { source: 'stats', maxAgeMs: MAX_AGE_MS.total };

/**
 * While the chain covers the collection, only tokens in the log of the chain are counted, because a vendor may report a token that does not
 * exist.
 */
function toTokenCounts(
  { tokens, coverage }: HoldingFacts,
  { tokensComplete }: HoldingContext,
  { subject, onChain, known }: { subject: CoverageSubject; onChain: number; known: number },
): Candidate<number>[] {
  const need = { subject, since: null, maxAgeMs: MAX_AGE_MS.total, importedMaxAgeMs: null, eachSource: false };
  const ofKind = (kind: Coverage['kind']) => coverage.filter((row) => row.kind === kind);
  const counted = [...toCounted(ofKind('chain'), onChain, need), ...toCounted(ofKind('scan'), known, need)];
  if (!tokensComplete || tokens === 0 || known === 0) return counted;
  return [...counted, { kind: 'imported', source: 'import', at: null, complete: true, value: known, maxAgeMs: null }];
}

function toListedCounts(
  { record, coverage }: ListedFacts,
  { listed: { own, mirrored }, hasOwnBook }: ListedContext,
  now: number,
): Candidate<number>[] {
  if (own === null || mirrored === null) return [];
  const need = {
    subject: 'listings' as const,
    since: null,
    maxAgeMs: MAX_AGE_MS.total,
    importedMaxAgeMs: null,
    eachSource: true,
  };
  // A listing that was read in scans of a marketplace (coverage of the kind `scan`) ends only in a later scan of the same marketplace. If
  // these scans have stopped, the stored listings may be out of date, and an import does not correct them.
  const counted = toCounted(coverage, own + mirrored, need);
  if (isScanned(coverage, 'listings')) return counted.filter((one) => one.kind === 'scan');
  if (counted.length > 0) return counted;
  // If the mirror has no listing, and no record of any age has a listed count, the own order book has all listings.
  if (!hasOwnBook || mirrored > 0 || (record?.listedCount ?? null) !== null) return [];
  return [{ kind: 'imported', source: 'order-book', at: now, complete: true, value: own, maxAgeMs: null }];
}
