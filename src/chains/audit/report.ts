// The report of an audit. It is sent as JSON to the command or client that requested the audit.

import type { ChainDigest } from './digest.ts';

/** A value that differs. `ours` is the stored value; `theirs` is the value on the chain, or the result of replaying the log. */
export type Difference = {
  chain: string;
  /** The block at which both sides were compared; null for a replay of the log. */
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
  /** The number of orders that were compared. */
  orders: number;
  /** The number of tokens that were compared. */
  tokens: number;
  /** The number of orders and tokens for which the chain could not be read. They count neither as equal nor as different. */
  unreadable: number;
  /** The number of differences. */
  drift: number;
  /** Null for a replay of the log, and while the indexer is behind the log. */
  digest: ChainDigest | null;
};

export type AuditReport = {
  drift: number;
  orders: number;
  tokens: number;
  unreadable: number;
  chains: ChainAudit[];
  /** At most DIFFERENCES_MAX differences. */
  differences: Difference[];
  /** The same seed selects the same sample; null for a replay, which compares everything. */
  seed: string | null;
};

/** The most differences that a report lists. Further differences are only counted. */
export const DIFFERENCES_MAX = 1_000;

export function createReport(seed: string | null): AuditReport {
  return { drift: 0, orders: 0, tokens: 0, unreadable: 0, chains: [], differences: [], seed };
}

/** Adds the result for one chain. */
export function addToReport(report: AuditReport, audited: ChainAudit, differences: readonly Difference[]): void {
  report.chains.push(audited);
  report.orders += audited.orders;
  report.tokens += audited.tokens;
  report.unreadable += audited.unreadable;
  report.drift += audited.drift;
  report.differences.push(...differences.slice(0, DIFFERENCES_MAX - report.differences.length));
}
