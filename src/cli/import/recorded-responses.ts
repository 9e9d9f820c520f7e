// Recorded responses of marketplaces on their way to the intake: their rows become records, one on each line, and what the intake
// reports about a line is reported about the row that it came from. Memory is bounded by one response and the lines under way.

import { parseExactJson } from '../../upstreams/exact-json.ts';
import type { RecordedReader } from '../../upstreams/recorded-format.ts';
import type { ParsedPage } from '../../upstreams/response-rows.ts';
import { splitValues } from './json-values.ts';

/** Pages and rows are counted from 1. Without a row it is the page itself. */
export type RowPosition = { page: number; row?: number };

/** The rows of all files. */
export type ResponseTally = {
  pages: number;
  rows: number;
  /** Rows and pages of which no record could be made. */
  rejected: number;
  /** Rows that were left out on purpose, by what they are. */
  leftOut: Map<string, number>;
};

export function createResponseTally(): ResponseTally {
  return { pages: 0, rows: 0, rejected: 0, leftOut: new Map() };
}

type Options = {
  tally: ResponseTally;
  /** Called for each row that is rejected before it becomes a record. */
  onRejected: (row: RowPosition & { reason: string }) => void;
};

/** A file of recorded responses as lines of records. */
export class RecordedLines {
  readonly #source: AsyncIterable<Uint8Array>;
  readonly #reader: RecordedReader;
  readonly #tally: ResponseTally;
  readonly #onRejected: Options['onRejected'];
  /** Of the lines that the intake has not confirmed yet. */
  readonly #positions = new Map<number, RowPosition>();
  #lines = 0;
  #forgotten = 0;

  constructor(source: AsyncIterable<Uint8Array>, reader: RecordedReader, { tally, onRejected }: Options) {
    this.#source = source;
    this.#reader = reader;
    this.#tally = tally;
    this.#onRejected = onRejected;
  }

  /** Records in the public format, one on each line. */
  async *chunks(): AsyncGenerator<Uint8Array> {
    const position = { page: 0, row: 0 };
    /** What the array at the top of the file holds: the rows of one response, or responses; null before the first is known. */
    let array: { top: number; holds: 'rows' | 'responses' | null } = { top: 0, holds: null };
    for await (const { top, element, bytes } of splitValues(this.#source)) {
      const value = readValue(this.#reader, bytes);
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

  /** The row of a line. */
  positionOf(line: number): RowPosition {
    const position = this.#positions.get(line);
    if (!position) throw new RangeError(`line ${line} is of no row that is under way`);
    return position;
  }

  /** Forgets the rows of the lines up to this one. */
  forget(line: number): void {
    while (this.#forgotten < line) {
      this.#forgotten += 1;
      this.#positions.delete(this.#forgotten);
    }
  }

  /** The lines of a value, which advance `position` row by row. */
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

/** The rows of a response, or what may be a row by itself, or why it is neither. */
type RecordedValue = { rows: readonly unknown[] } | { row: unknown } | { reason: string };

function readValue(reader: RecordedReader, bytes: Uint8Array): RecordedValue {
  let value: unknown;
  try {
    value = parseExactJson(bytes);
  } catch (error) {
    // Bytes that are not UTF-8 are a TypeError.
    return { reason: error instanceof SyntaxError ? `not JSON: ${error.message}` : 'not UTF-8' };
  }
  const rows = reader.toRows(value);
  if (rows === null) return { row: value };
  return 'reason' in rows ? rows : { rows };
}
