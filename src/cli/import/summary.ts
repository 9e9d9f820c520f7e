// The summary of an import, for --json and as text.

import type { ImportSummary } from '../../intake/import-summary.ts';
import { printable } from '../output.ts';
import type { ResponseTally } from './recorded-responses.ts';

/** The field names are part of --json. `answers`: counts of recorded responses, only for a format of recorded responses. */
export type CompleteSummary = ImportSummary & {
  answers?: { pages: number; rows: number; leftOut: Record<string, number> };
};

/** Adds the counts of recorded responses. Rows that were rejected before they became records are missing in the intake's summary. */
export function withResponses(summary: ImportSummary, responses: ResponseTally | null): CompleteSummary {
  if (responses === null) return summary;
  const { pages, rows, rejected, leftOut } = responses;
  return {
    ...summary,
    read: summary.read + rejected,
    refused: summary.refused + rejected,
    answers: { pages, rows, leftOut: Object.fromEntries(leftOut) },
  };
}

export function describeSummary(summary: CompleteSummary): string {
  const { read, inserted, updated, unchanged, refused, seconds, answers } = summary;
  const parts = [`${count(inserted)} inserted`, `${count(updated)} updated`, `${count(unchanged)} unchanged`];
  const rate = toRate(read, seconds, answers ? 'records' : 'rows');
  const line = `${rate}: ${parts.join(', ')}, ${count(refused)} refused, in ${seconds.toFixed(1)} s`;
  return answers ? `${line}\n${describeResponses(answers)}` : line;
}

function describeResponses({ pages, rows, leftOut }: NonNullable<CompleteSummary['answers']>): string {
  const reasons = Object.entries(leftOut);
  const total = reasons.reduce((sum, [, left]) => sum + left, 0);
  const details = reasons.map(([reason, left]) => `${count(left)} ${printable(reason)}`).join('; ');
  return `rows in the responses: ${count(rows)}, pages: ${count(pages)}, rows left out: ${count(total)}${details && ` (${details})`}`;
}

export function toRate(rows: number, seconds: number, noun = 'rows'): string {
  return `${count(rows)} ${noun}${seconds > 0 ? ` (${count(Math.round(rows / seconds))}/s)` : ''}`;
}

export function count(value: number): string {
  return value.toLocaleString('en');
}
