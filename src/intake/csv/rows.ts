// Reads CSV files with a header as raw records, by a column map. A malformed row is rejected; the rows after it are still read.

import { parse } from 'csv-parse/sync';
import type { Chains } from '../../platform/core/chains.ts';
import { OperatorError } from '../../platform/core/errors.ts';
import { isSliceOver, mapInSlices, nextSlice } from '../../platform/core/slices.ts';
import type { Line } from '../lines.ts';
import { splitLines } from '../lines.ts';
import { peek } from '../peek.ts';
import { RecordRejected, withValue } from '../records/fields.ts';
import type { ColumnMap } from './column-map.ts';
import type { CsvDialect } from './dialect.ts';
import { detectDialect, isHeaderComplete, withLineFeeds } from './dialect.ts';
import { findInHeader, RowReader } from './row-reader.ts';

/**
 * A row as a raw record, or the reason why the row is rejected. `line` is the line of the file on which the row begins. `lines` is the
 * number of lines of the row, because quoted cells may contain line breaks. `size` is the length of the row in characters.
 */
export type CsvRow = { line: number; lines: number; size: number } & (
  | { values: Record<string, unknown> }
  | { values: null; reason: string }
);

/** The most cells of a row. A row is parsed in one step, and a cell takes longer than a character. */
const CELLS_MAX = 10_000;

/** Yields the rows of a CSV file in groups. Throws an OperatorError if the header does not fit the map. */
export async function* readCsvRows(
  source: AsyncIterable<Uint8Array>,
  { chains, map }: { chains: Chains; map: ColumnMap },
): AsyncGenerator<CsvRow[]> {
  let reader: CsvReader | null = null;
  for await (const rows of readCells(source)) {
    reader ??= openReader(rows.shift(), { chains, map });
    const { columns, rows: rowReader } = reader;
    yield await mapInSlices(rows, (row) => toCsvRow(row, columns, rowReader));
  }
}

/** Yields the rows of a CSV file as lists of cells, the header first. */
export async function* readCells(source: AsyncIterable<Uint8Array>): AsyncGenerator<ParsedRow[]> {
  const { head, source: complete } = await peek(source, isHeaderComplete);
  const dialect = detectDialect(head);
  let skipsLine = dialect.hasSepLine;
  for await (const lines of splitLines(dialect.crOnly ? withLineFeeds(complete) : complete, { cells: dialect })) {
    if (skipsLine) lines.shift();
    skipsLine = false;
    if (lines.length > 0) yield await parseRows(lines, dialect);
  }
}

/** `columns` is the number of cells that each row must have. */
type CsvReader = { columns: number; rows: RowReader<readonly string[]> };

function openReader(header: ParsedRow | undefined, { chains, map }: { chains: Chains; map: ColumnMap }): CsvReader {
  if (!header?.cells) {
    const why = header?.reason === undefined ? '' : `: ${header.reason}`;
    throw new OperatorError(`the first row of the file cannot be read as a header${why}`);
  }
  return { columns: header.cells.length, rows: new RowReader(chains, map, findInHeader(header.cells)) };
}

/** A row of cells, or the reason why it is rejected. */
export type ParsedRow = { line: number; lines: number; size: number } & (
  | { cells: string[] }
  | { cells: null; reason: string }
);

function toCsvRow(row: ParsedRow, columns: number, reader: RowReader<readonly string[]>): CsvRow {
  const { line, lines, size } = row;
  if (row.cells === null) return { line, lines, size, values: null, reason: row.reason };
  if (row.cells.length !== columns) {
    const span = lines > 1 ? `lines ${line} to ${line + lines - 1}: ` : '';
    const reason = `${span}has ${row.cells.length === 1 ? '1 cell' : `${row.cells.length} cells`}, but the header has ${columns}`;
    return { line, lines, size, values: null, reason: withValue(reason, row.cells.join(',')) };
  }
  try {
    return { line, lines, size, values: reader.read(row.cells) };
  } catch (error) {
    if (!(error instanceof RecordRejected)) throw error;
    return { line, lines, size, values: null, reason: error.message };
  }
}

/**
 * Parses all rows in one call, which is much faster than a call for each row. If this call fails, each row is parsed alone to find the
 * malformed row.
 */
async function parseRows(given: readonly Line[], dialect: CsvDialect): Promise<ParsedRow[]> {
  if (isSliceOver()) await nextSlice();
  const lines = given.map((line) => rejectManyCells(line, dialect));
  const texts = lines.flatMap((line) => (line.text === null ? [] : [line.text]));
  const parsed = parseText(texts.join('\n'), dialect);
  if (!Array.isArray(parsed) || parsed.length !== texts.length) {
    return mapInSlices(lines, (line) => parseRow(line, dialect));
  }
  let next = 0;
  return lines.map((line) => {
    const cells = line.text === null ? undefined : parsed[next++];
    return cells ? { ...positionOf(line), cells } : parseRow(line, dialect);
  });
}

/** Rejects a row that may have more than CELLS_MAX cells. Delimiters inside of quoted cells count too. */
function rejectManyCells(line: Line, { delimiter }: CsvDialect): Line {
  const { number, text } = line;
  if (text === null || text.length <= CELLS_MAX) return line;
  let cells = 1;
  for (let at = text.indexOf(delimiter); at >= 0 && cells <= CELLS_MAX; at = text.indexOf(delimiter, at + 1))
    cells += 1;
  return cells <= CELLS_MAX ? line : { number, text: null, reason: `has more than ${CELLS_MAX} cells` };
}

function parseRow(line: Line, dialect: CsvDialect): ParsedRow {
  const position = positionOf(line);
  if (line.text === null) return { ...position, cells: null, reason: line.reason };
  const parsed = parseRowText(line.text, dialect);
  if (!Array.isArray(parsed)) {
    // The line number in the parser's message is removed, because it counts from the start of this row, not of the file.
    return {
      ...position,
      cells: null,
      reason: withValue(`not CSV: ${parsed.message.replace(/ (at|on) line \d+/, '')}`, line.text),
    };
  }
  const [cells, secondRow] = parsed;
  return cells && !secondRow
    ? { ...position, cells }
    : { ...position, cells: null, reason: 'is not exactly one CSV row' };
}

/**
 * MySQL and other programs write a quote inside a quoted cell as `\"` instead of `""`. A row is first parsed with `""`. Only if this fails, it
 * is parsed with `\"`.
 */
function parseRowText(text: string, dialect: CsvDialect): string[][] | Error {
  const parsed = parseText(text, dialect);
  if (Array.isArray(parsed) || !text.includes(`\\${dialect.quote}`)) return parsed;
  const escaped = parseText(text, dialect, '\\');
  return Array.isArray(escaped) ? escaped : parsed;
}

function positionOf({ number, text }: Line): { line: number; lines: number; size: number } {
  return { line: number, lines: text?.split('\n').length ?? 1, size: text?.length ?? 0 };
}

function parseText(text: string, { delimiter, quote, spaced }: CsvDialect, escape: string = quote): string[][] | Error {
  try {
    return parse(text, {
      delimiter,
      quote,
      escape,
      ltrim: spaced,
      record_delimiter: '\n',
      relax_column_count: true,
    });
  } catch (error) {
    return error as Error;
  }
}
