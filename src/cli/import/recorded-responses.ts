// Converts a file of recorded responses to lines for the intake. Each row of a response becomes any number of records, one on each line. A
// rejected line is reported by its page and row. The memory holds one response at a time, and the positions of the lines that the
// intake has not confirmed yet.

import { NOT_UTF8 } from '../../intake/lines.ts';
import { parseExactJson } from '../../sources/upstreams/exact-json.ts';
import type { RecordedReader } from '../../sources/upstreams/recorded-format.ts';
import type { ParsedPage } from '../../sources/upstreams/response-rows.ts';
import { describeMalformed, splitValues } from './json-values.ts';

/** The number of a page, and the number of a row in this page. Both start at 1. A position without `row` is that of the page as a whole. */
export type RowPosition = { page: number; row?: number };

/** Counts over all files of an import. A page is one response. */
export type ResponseTally = {
  pages: number;
  rows: number;
  /** Rows and pages that could not be converted to records. */
  rejected: number;
  /** Valid rows that are not stored, counted by the reason. */
  leftOut: Map<string, number>;
};

export function createResponseTally(): ResponseTally {
  return { pages: 0, rows: 0, rejected: 0, leftOut: new Map() };
}

type Options = {
  tally: ResponseTally;
  /** Called for each row or page that is rejected before it becomes a record. */
  onRejected: (row: RowPosition & { reason: string }) => void;
};

export class RecordedLines {
  readonly #source: AsyncIterable<Uint8Array>;
  readonly #reader: RecordedReader;
  readonly #tally: ResponseTally;
  readonly #onRejected: Options['onRejected'];
  /** For each line that the intake has not confirmed yet: the position of the row from which the line was made. */
  readonly #positions = new Map<number, RowPosition>();
  #lines = 0;
  #forgotten = 0;

  constructor(source: AsyncIterable<Uint8Array>, reader: RecordedReader, { tally, onRejected }: Options) {
    this.#source = source;
    this.#reader = reader;
    this.#tally = tally;
    this.#onRejected = onRejected;
  }

  async *chunks(): AsyncGenerator<Uint8Array> {
    const position = { page: 0, row: 0 };
    /**
     * The current top-level value. `top`: its number in the file. `holds`: if the value is an array, whether its elements are rows or responses.
     * Null until the first valid element is read.
     */
    let array: { top: number; holds: 'rows' | 'responses' | null } = { top: 0, holds: null };
    for await (const part of splitValues(this.#source, 'response')) {
      if (part.bytes === null) {
        position.page += 1;
        position.row = 0;
        this.#tally.pages += 1;
        this.#reject({ page: position.page }, `line ${part.line}: ${describeMalformed(part)}`);
        continue;
      }
      const { top, element, bytes } = part;
      const value = readValue(this.#reader, bytes, { isElement: element });
      if (top !== array.top) array = { top, holds: null };
      const isOfSamePage = array.holds === 'rows';
      if (element && !('reason' in value)) array.holds ??= 'row' in value ? 'rows' : 'responses';
      if (!isOfSamePage) {
        position.page += 1;
        position.row = 0;
        this.#tally.pages += 1;
      }
      const text = this.#toLines(value, position, { isOfSamePage, isRowOfArray: array.holds === 'rows' });
      if (text !== '') yield Buffer.from(text);
    }
  }

  /** The position of the row from which a line was made. Throws for a line that was forgotten or not made yet. */
  positionOf(line: number): RowPosition {
    const position = this.#positions.get(line);
    if (!position) throw new RangeError(`the position of line ${line} is not known`);
    return position;
  }

  /** Forgets the positions of all lines up to and including `line`. */
  forget(line: number): void {
    while (this.#forgotten < line) {
      this.#forgotten += 1;
      this.#positions.delete(this.#forgotten);
    }
  }

  /** The lines that are made from a value. Advances `position` by each row of the value. */
  #toLines(
    value: RecordedValue,
    position: { page: number; row: number },
    { isOfSamePage, isRowOfArray }: { isOfSamePage: boolean; isRowOfArray: boolean },
  ): string {
    const nextRow = () => {
      position.row += 1;
      return { ...position };
    };
    if ('rows' in value) return value.rows.map((row) => this.#toRowLines(row, nextRow())).join('');
    if ('row' in value && isRowOfArray) return this.#toRowLines(value.row, nextRow());
    const reason = 'reason' in value ? value.reason : 'not a response of this format';
    this.#reject(isOfSamePage ? nextRow() : { page: position.page }, reason);
    return '';
  }

  #toRowLines(row: unknown, position: RowPosition): string {
    this.#tally.rows += 1;
    const { records, rejected, unsupported, skipped }: ParsedPage = this.#reader.parse(row);
    for (const reason of rejected) this.#reject(position, reason);
    for (const reason of unsupported) this.#leaveOut(reason);
    if (skipped > 0) this.#leaveOut(this.#reader.skipped);
    return records
      .map((record) => {
        this.#lines += 1;
        this.#positions.set(this.#lines, position);
        return `${JSON.stringify(record)}\n`;
      })
      .join('');
  }

  #reject(position: RowPosition, reason: string): void {
    this.#tally.rejected += 1;
    this.#onRejected({ ...position, reason });
  }

  #leaveOut(what: string): void {
    this.#tally.leftOut.set(what, (this.#tally.leftOut.get(what) ?? 0) + 1);
  }
}

/** The rows of a response; or a value that may itself be a row; or the reason why the value is neither. */
type RecordedValue = { rows: readonly unknown[] } | { row: unknown } | { reason: string };

function readValue(reader: RecordedReader, bytes: Uint8Array, position: { isElement: boolean }): RecordedValue {
  let value: unknown;
  try {
    value = parseExactJson(bytes);
  } catch (error) {
    // The parser throws a TypeError for bytes that are not UTF-8.
    return { reason: error instanceof SyntaxError ? `not JSON: ${error.message}` : NOT_UTF8 };
  }
  const rows = reader.toRows(value, position);
  if (rows === null) return { row: value };
  return 'reason' in rows ? rows : { rows };
}
