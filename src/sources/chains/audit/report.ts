// The report of an audit. It is sent as JSON to the command or client that requested the audit.

import type { ChainDigest } from './digest.ts';

/** `ours` is the stored value. `theirs` is the value on the chain, or the result of a replay or a count. */
export type Difference = {
  chain: string;
  /** The block at which both sides were compared; null for a replay of the log and for a figure that was counted again. */
  block: number | null;
  subject: string;
  field: string;
  ours: string;
  theirs: string;
};

export type ChainAudit = {
  chain: string;
  /** The newest block that was compared, or for a replay the block of the chain's cursor. Null when no block could be compared. */
  block: number | null;
  orders: number;
  tokens: number;
  /** The number of collections whose maintained figures were counted again; 0 unless the log was replayed. */
  collections: number;
  /** The orders and tokens for which the chain could not be read. They count neither as equal nor as different. */
  unreadable: number;
  /** The ranges of blocks that were noted to be read again, because their stored events make tokens differ from the chain. */
  rereads: number;
  /** The number of differences. For each kind of figure, at most FIGURE_DIFFERENCES_MAX differences are counted. */
  drift: number;
  /** Null for a replay of the log, and while the indexer is behind the log. */
  digest: ChainDigest | null;
};

export type AuditReport = {
  drift: number;
  orders: number;
  tokens: number;
  collections: number;
  unreadable: number;
  rereads: number;
  chains: ChainAudit[];
  differences: Difference[];
  /** The same seed selects the same sample. Null for a replay, which compares everything. */
  seed: string | null;
};

/**
 * The most differences that a recount counts for each kind of figure. This bounds the memory when the figures of most collections differ.
 */
export const FIGURE_DIFFERENCES_MAX = 10_000;

/** The most differences that a report lists. Further differences are only counted. */
export const DIFFERENCES_MAX = 1_000;

export function createReport(seed: string | null): AuditReport {
  return {
    drift: 0,
    orders: 0,
    tokens: 0,
    collections: 0,
    unreadable: 0,
    rereads: 0,
    chains: [],
    differences: [],
    seed,
  };
}

/** Results for the same chain are added up. */
export function addToReport(report: AuditReport, audited: ChainAudit, differences: readonly Difference[]): void {
  const known = report.chains.find(({ chain }) => chain === audited.chain);
  if (known) addCounts(known, audited);
  else report.chains.push(audited);
  addCounts(report, audited);
  report.differences.push(...differences.slice(0, DIFFERENCES_MAX - report.differences.length));
}

const COUNTS = ['orders', 'tokens', 'collections', 'unreadable', 'rereads', 'drift'] as const;
type Counts = Record<(typeof COUNTS)[number], number>;

function addCounts(to: Counts, counts: Counts): void {
  for (const count of COUNTS) to[count] += counts[count];
}
