// Chooses the supply and the number of owners of a collection from the stored facts. The caller reads the facts.

import type { CollectionSnapshot } from '../../platform/core/collection.ts';
import type { Coverage, CoverageSubject } from './coverage.ts';
import { toCounted } from './coverage.ts';
import type { Candidate, Figure } from './figure.ts';
import { MAX_AGE_MS, chooseFigure, toReported, toSnapshot } from './figure.ts';

export type HoldingFacts = {
  /** The number of tokens that are not burned. */
  tokens: number;
  /** How many of these tokens are known from the chain's log. */
  chainTokens: number;
  holders: number;
  record: { at: number; owners: number | null; supply: number | null } | null;
  /** Coverage of the subjects `tokens` and `owners`. */
  coverage: readonly Coverage[];
};

export type HoldingContext = {
  snapshot: Pick<CollectionSnapshot, 'supply' | 'owners'>;
  tokensComplete: boolean;
};

export type HoldingFigures = { supply: Figure<number> | null; owners: Figure<number> | null };

/** `facts` is null when they could not be read. Then the supply comes from the snapshot, and the owners are not known. */
export function toHoldingFigures(facts: HoldingFacts | null, context: HoldingContext, now: number): HoldingFigures {
  const { snapshot } = context;
  if (!facts) return { supply: chooseFigure(toSnapshot(snapshot.supply), now), owners: null };
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
  };
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
