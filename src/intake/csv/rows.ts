// CSV files: rows of cells with a header, made into raw records by a column map. A row that is not well formed spoils
// itself only.

import { parse } from 'csv-parse/sync';
import type { Chains } from '../../core/chains.ts';
import { OperatorError } from '../../core/errors.ts';
import type { CsvMap, RowReader } from './column-map.ts';
import { createRowReader } from './column-map.ts';
import { Refusal } from '../records/fields.ts';
import type { Line } from '../lines.ts';
import { splitLines } from '../lines.ts';

/** A raw record, or why there is none; `line` is the line of the file that its row begins on. */
export type CsvRow = { line: number; size: number } & (
  | { values: Record<string, unknown> }
  | { values: null; reason: string }
);

/** The rows of a CSV file, some at a time. Throws an OperatorError when its header does not fit the map. */
export async function* readCsvRows(
  source: AsyncIterable<Uint8Array>,
  { chains, map }: { chains: Chains; map: CsvMap },
): AsyncGenerator<CsvRow[]> {
  let read: { cells: number; toValues: RowReader } | null = null;
  for await (const lines of splitLines(source, { quoted: true })) {
    const rows = parseRows(lines);
    if (read === null) {
      const header = rows.shift()?.cells;
      if (!header) throw new OperatorError('the first row of the file is not a header that can be read');
      read = { cells: header.length, toValues: createRowReader(chains, map, header) };
    }
    const { cells, toValues } = read;
    yield rows.map((row) => toRow(row, cells, toValues));
  }
}

type Parsed = { line: number; size: number } & ({ cells: string[] } | { cells: null; reason: string });

function toRow(row: Parsed, cells: number, toValues: RowReader): CsvRow {
  const { line, size } = row;
  if (row.cells === null) return { line, size, values: null, reason: row.reason };
  if (row.cells.length !== cells) {
    return { line, size, values: null, reason: `has ${row.cells.length} cells, where the header has ${cells}` };
  }
  try {
    return { line, size, values: toValues(row.cells) };
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return { line, size, values: null, reason: error.message };
  }
}

/** All at once, because a call costs more than a row; one by one only where that fails, to find the row at fault. */
function parseRows(lines: readonly Line[]): Parsed[] {
  const texts = lines.flatMap((line) => (line.text === null ? [] : [line.text]));
  const together = parseText(texts.join('\n'));
  if (!Array.isArray(together) || together.length !== texts.length) return lines.map(parseRow);
  let at = 0;
  return lines.map((line) => {
    const cells = line.text === null ? undefined : together[at++];
    return cells ? { line: line.number, size: line.text?.length ?? 0, cells } : parseRow(line);
  });
}

function parseRow(line: Line): Parsed {
  if (line.text === null) return { line: line.number, size: 0, cells: null, reason: line.reason };
  const parsed = parseText(line.text);
  const place = { line: line.number, size: line.text.length };
  if (!Array.isArray(parsed)) {
    // The line that the parser names is one of this row, not of the file.
    return { ...place, cells: null, reason: `not CSV: ${parsed.message.replace(/ (at|on) line \d+/, '')}` };
  }
  const [cells, more] = parsed;
  return cells && !more ? { ...place, cells } : { ...place, cells: null, reason: 'not one row of CSV' };
}

function parseText(text: string): string[][] | Error {
  try {
    return parse(text, { record_delimiter: '\n', relax_column_count: true });
  } catch (error) {
    return error as Error;
  }
}
