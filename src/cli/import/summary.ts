// Completes the summary of an import for --json, and describes it as text.

import { BATCH_ROWS_FIRST, BATCH_ROWS_MAX_ANY } from '../../intake/batch-size.ts';
import type { ImportSummary } from '../../intake/import-summary.ts';
import type { WarningCode } from '../../intake/import-warnings.ts';
import { WARNING_CODES } from '../../intake/import-warnings.ts';
import { quoteValue } from '../../intake/records/fields.ts';
import { printable } from '../output.ts';
import type { ResponseTally } from './recorded-responses.ts';

/** `--json` prints this object. `answers`: the counts of recorded responses. Absent if the file does not contain recorded responses. */
export type CompleteSummary = ImportSummary & {
  answers?: { pages: number; rows: number; leftOut: Record<string, number> };
};

/** Adds the counts of recorded responses. The intake's summary lacks rows that were rejected before they became records. */
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
  const { read, inserted, updated, unchanged, conflict, refused, seconds, answers } = summary;
  const parts = [`${count(inserted)} inserted`, `${count(updated)} updated`, `${count(unchanged)} unchanged`];
  if (conflict > 0) parts.push(`${count(conflict)} in conflict with stored rows`);
  const rate = toRate(read, seconds, answers ? 'records' : 'rows');
  const line = `${rate}: ${parts.join(', ')}, ${count(refused)} refused, in ${seconds.toFixed(1)} s`;
  const lines = [line, ...(answers ? [describeResponses(answers)] : []), ...describeNotes(summary)];
  return [...lines, ...describeImports(summary)].join('\n');
}

/**
 * The commands that take the imports back. Empty if the imports have stored nothing. The newest import comes first, because it may have
 * changed rows of earlier imports.
 */
export function describeImports({ imports, inserted, updated }: ImportSummary): string[] {
  if (inserted + updated === 0) return [];
  return imports.toReversed().map((id) => `to take this back: mercat imports undo ${id}`);
}

/** Says what the counts of a dry run leave out. Empty if all records were in one batch. */
export function describeDryRun({ read }: ImportSummary): string {
  if (read <= BATCH_ROWS_FIRST) return '';
  return `note: a dry run compares each batch of at most ${BATCH_ROWS_MAX_ANY} records with the stored rows only; conflicts and repetitions between batches are not counted\n`;
}

const WARNINGS: Readonly<Record<WarningCode, (records: string) => [what: string, hint: string]>> = {
  unreadablePrice: (records) => [
    `the price of ${records} is not an integer of base units: stored, but not served by /v1`,
    'in a column map, give the price "as": "native-amount", or "base-amount" for base units such as 6.27e+16',
  ],
  unknownCurrency: (records) => [
    `the currency of ${records} is not known: stored, but not served by /v1, and the volume of the collection is unknown`,
    'check the column that the column map names in "currency", and its blank cells; "currency": {"value": "ETH"} gives all rows one currency',
  ],
  otherCurrency: (records) => [
    `the price of ${records} is in another currency: stored, but not served by /v1`,
    'only amounts in the currency of the chain, wrapped or not, have a price in base units',
  ],
  zeroPrice: (records) => [
    `a price of ${records} is 0: a sale at 0 is not counted in the volume and the number of sales; a listing or order at 0 is not listed; a floor or buyer total of 0 is stored as unknown`,
    'check the column or field of the price; leave out a floor that the source does not know',
  ],
  lowBuyerTotal: (records) => [
    `the buyer total of ${records} is below the price: it is stored as unknown`,
    'check the columns or fields of the price and of the buyer total; the price is what the seller asks',
  ],
  tinyPrice: (records) => [
    `the price of ${records} is below a millionth of the native unit`,
    'if the file has native amounts, such as 59 ETH, give the price "as": "native-amount" in the column map',
  ],
  doubtfulTime: (records) => [
    `the time of ${records} is before 2015 or more than a day in the future`,
    'check the column of the time; in a column map, "as": "spreadsheet-time" reads the numbers of dates in spreadsheets',
  ],
  repeatedSlug: (records) => [
    `${records} had the slug of an earlier product in the import, and changed that product`,
    'give each product a slug of its own',
  ],
};

/** The largest number of collections that the text names. */
const COLLECTIONS_PRINTED_MAX = 20;

/** Warnings about records that are probably wrong, or that are not served. */
export function describeNotes(summary: CompleteSummary): string[] {
  const { skippedLines, warnings, unknownCollections, createdCollections, moreCreatedCollections, answers } = summary;
  const notes = WARNING_CODES.flatMap((code) => {
    const warning = warnings[code];
    if (!warning) return [];
    const [what, hint] = WARNINGS[code](toRecords(warning.count));
    // With recorded responses, `line` is not a position in the file. It is the number of a record that was made from a response.
    const position = answers ? '' : `line ${warning.line}: `;
    return [`warning: ${what} (${position}${printable(quoteValue(warning.value))}); ${hint}`];
  });
  if (skippedLines > 0) {
    const lines = `${count(skippedLines)} further ${skippedLines === 1 ? 'line' : 'lines'} of the file`;
    notes.push(
      `warning: refused rows extend over ${lines}, which were not imported; if rows of this file have no line breaks in their cells, look for a quote that is not closed`,
    );
  }
  return [
    ...describeCreatedCollections(createdCollections, moreCreatedCollections),
    ...notes,
    ...describeUnknownCollections(Object.entries(unknownCollections ?? {})),
  ];
}

function describeCreatedCollections(created: readonly string[], leftOut = 0): string[] {
  if (created.length === 0) return [];
  const all = created.length + leftOut;
  const what = all === 1 ? '1 collection record' : `${count(all)} collection records`;
  return [`created ${what} with the address as the name: ${nameSome(created, leftOut)}`];
}

function describeUnknownCollections(unknown: readonly [id: string, records: number][]): string[] {
  if (unknown.length === 0) return [];
  const records = unknown.reduce((sum, [, ofOne]) => sum + ofOne, 0);
  const named = nameSome(unknown.map(([id]) => id));
  const hint = 'not served until the collection record is imported, or created with --create-collections';
  return [`warning: ${toRecords(records)} ${records === 1 ? 'has' : 'have'} no collection record: ${named}; ${hint}`];
}

/** `leftOut`: the number of further ids that are not in `ids`. */
function nameSome(ids: readonly string[], leftOut = 0): string {
  const unnamed = Math.max(0, ids.length - COLLECTIONS_PRINTED_MAX) + leftOut;
  const more = unnamed > 0 ? ` and ${count(unnamed)} more` : '';
  return `${ids.slice(0, COLLECTIONS_PRINTED_MAX).join(', ')}${more}`;
}

function toRecords(records: number): string {
  return records === 1 ? '1 record' : `${count(records)} records`;
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
