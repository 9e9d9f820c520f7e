// `mercat import --explain FILE`: reads the first rows of a file, and guesses the kind of the records and the field that each column holds.
// Prints the resulting records, and writes a column map to edit. No database is used.

import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { describeError, OperatorError } from '../../platform/core/errors.ts';
import type { ColumnMap, FieldSource } from '../../intake/csv/column-map.ts';
import { parseColumnMap, PLACEHOLDER } from '../../intake/csv/column-map.ts';
import { isHeaderComplete } from '../../intake/csv/dialect.ts';
import { peek } from '../../intake/peek.ts';
import { RecordRejected } from '../../intake/records/fields.ts';
import type { RecordContext } from '../../intake/records/identifiers.ts';
import type { ParsedRecord } from '../../intake/records/parse.ts';
import { parseRecord } from '../../intake/records/parse.ts';
import type { CommandIo } from '../command.ts';
import { formatTable, printable, quoteForShell } from '../output.ts';
import type { Guess, SampledColumn } from './column-guess.ts';
import { guessColumns } from './column-guess.ts';
import { describeRecord } from './record-text.ts';
import type { ReadyFile } from './response-guess.ts';
import { recogniseCsv, recogniseJson } from './response-guess.ts';
import type { FileSample } from './sample.ts';
import { sampleCsv, sampleObjects, toObjectSample } from './sample.ts';
import type { ImportSource } from './source.ts';

const EXAMPLES_MAX = 3;

export type ExplainRequest = {
  file: string;
  /** The values of --set. */
  given: ReadonlyMap<string, string>;
  /** The file for the map. Null: a file in the current directory, named after the imported file. */
  mapFile: string | null;
  /** Whether the explanation is printed as one JSON value. */
  json: boolean;
  context: RecordContext;
};

/**
 * What an import of the file would do. `records`: texts that describe the first records. `notes`: what the user should check.
 * `reason`: why the first refused row is refused. `map` has the form of a map file.
 */
type Explanation = {
  file: string;
  layout: string;
  kind: string;
  map: Record<string, unknown>;
  mapFile: string;
  rows: number;
  accepted: number;
  refused: number;
  reason: string | null;
  records: string[];
  notes: string[];
  unusedColumns: string[];
  command: string;
};

/**
 * Writes the map, and prints what an import of the file would do. Throws an OperatorError if the file has no row, or if no kind of record
 * fits.
 */
export async function explainFile(source: ImportSource, request: ExplainRequest, io: CommandIo): Promise<void> {
  const { head, source: chunks } = await peek(source.chunks, isHeaderComplete);
  const isJson = /^[\s\u{feff}]*[[{]/u.test(head.toString());
  const objects = isJson ? await sampleObjects(chunks) : [];
  const sample = isJson ? toObjectSample(objects) : await sampleCsv(head, chunks);
  const ready = isJson ? objects[0] && recogniseJson(objects[0]) : recogniseCsv(sample.columns.map(({ name }) => name));
  if (ready) {
    printReady(ready, { file: source.name, request, io });
    return;
  }
  if (sample.rows === 0) throw new OperatorError(`${source.name} ${isJson ? NO_OBJECTS : 'has no rows'}`);
  const { chains } = request.context;
  const guess = guessColumns(sample.columns, { chains, given: request.given });
  if (!guess) {
    const names = sample.columns.map(({ name }) => JSON.stringify(name)).join(', ');
    throw new OperatorError(
      `no kind of record fits the columns of ${source.name}: ${names}; docs/importing.md describes column maps`,
    );
  }
  const explanation = toExplanation(source.name, { guess, sample, request });
  if (!request.json) printExplanation(explanation, { guess, sample, io });
  writeMap(explanation);
  if (request.json) io.stdout.write(`${JSON.stringify(explanation)}\n`);
  else io.stdout.write(describeNextStep(explanation, guess));
}

function printReady(
  { what, options }: ReadyFile,
  { file, request, io }: { file: string; request: ExplainRequest; io: CommandIo },
): void {
  const command = `mercat import ${quoteForShell(request.file)}${options}`;
  io.stdout.write(
    request.json
      ? `${JSON.stringify({ file, layout: what, command })}\n`
      : `${printable(file)}: ${what}\nImport:\n  ${printable(command)}\n`,
  );
}

const NO_OBJECTS =
  "has no JSON objects. If the file is a list of plain values, make an object of each value: jq -c '.[] | {mint: .}' FILE > FILE.ndjson. If a field has the list of objects, extract the objects: jq -c '.data[]' FILE > FILE.ndjson";

function toExplanation(
  file: string,
  { guess, sample, request }: { guess: Guess; sample: FileSample; request: ExplainRequest },
): Explanation {
  const parsed = parseSample(guess.map, sample, request.context);
  const accepted = parsed.flatMap(({ record }) => (record ? [record] : []));
  const reasons = parsed.flatMap((row) => (row.record ? [] : [row.reason]));
  const used = new Set(
    Object.values(guess.map).flatMap((from) => ('column' in from ? [from.column, from.currency, from.times] : [])),
  );
  const mapFile = request.mapFile ?? `${request.file === '-' ? 'stdin' : path.basename(request.file)}.map.json`;
  return {
    file,
    layout: sample.description,
    kind: guess.kind,
    map: Object.fromEntries(Object.entries(guess.map).map(([field, from]) => [field, shorten(from)])),
    mapFile,
    rows: sample.rows,
    accepted: accepted.length,
    refused: reasons.length,
    reason: reasons[0] ?? null,
    records: accepted.slice(0, EXAMPLES_MAX).map((record) => describeRecord(request.context.chains, record)),
    notes: guess.notes,
    unusedColumns: sample.columns.filter(({ name }) => !used.has(name)).map(({ name }) => name),
    command: `mercat import ${quoteForShell(request.file)} --map ${quoteForShell(mapFile)} --dry-run`,
  };
}

function printExplanation(
  { file, layout, kind, rows, accepted, refused, reason, records, notes, unusedColumns }: Explanation,
  { guess, sample, io }: { guess: Guess; sample: FileSample; io: CommandIo },
): void {
  const { stdout } = io;
  stdout.write(`${printable(file)}: ${layout}\nEach row is read as a record of the kind ${kind}:\n\n`);
  const fields = Object.entries(guess.map).map(([field, from]) => [field, ...describeSource(from, sample.columns)]);
  stdout.write(formatTable(['field', 'column', 'conversion', 'first value'], fields, stdout));
  stdout.write(`\nThe first records:\n${records.map((record) => `  ${printable(record)}\n`).join('')}`);
  stdout.write(`Of the first ${rows} rows, ${accepted} can be stored.\n`);
  if (reason !== null) stdout.write(`${refused} are refused: ${printable(reason)}\n`);
  if (notes.length > 0) stdout.write(`\nTo check:\n${notes.map((note) => `  ${printable(note)}\n`).join('')}`);
  if (unusedColumns.length > 0) {
    stdout.write(`\nColumns that are not used: ${unusedColumns.map(printable).join(', ')}\n`);
  }
}

function describeNextStep({ mapFile, command }: Explanation, { map }: Guess): string {
  const step = Object.values(map).some(isPlaceholder) ? 'Replace the values that begin with REPLACE' : 'Check it';
  return `\nThe map is in ${printable(mapFile)}. ${step}, then:\n  ${printable(command)}\n`;
}

function isPlaceholder(from: FieldSource): boolean {
  return 'value' in from && String(from.value).startsWith(PLACEHOLDER);
}

function describeSource(from: FieldSource, columns: readonly SampledColumn[]): string[] {
  if ('value' in from) return ['', 'the same value in every row', String(from.value)];
  const { column, pattern, as = [], map, currency } = from;
  const steps = [
    ...(pattern === undefined ? [] : [`pattern ${pattern}`]),
    ...as,
    ...(map ? ['map'] : []),
    ...(currency === undefined
      ? []
      : [typeof currency === 'string' ? `currency in ${currency}` : `currency ${currency.value}`]),
  ];
  return [column, steps.join(', '), columns.find(({ name }) => name === column)?.samples[0] ?? ''];
}

/** Parses the sampled rows. A placeholder of the map is replaced by a valid value, so that the examples can be shown. */
function parseSample(map: ColumnMap, sample: FileSample, context: RecordContext): ParsedRecord[] {
  const { chain } = map;
  const family = chain && 'value' in chain ? context.chains.get(String(chain.value))?.family : undefined;
  const standIns: Record<string, string> = {
    ...STAND_INS,
    ...(family === 'solana' && { contractAddress: SOLANA_STAND_IN }),
  };
  const edited = Object.entries(map).map(([field, from]): [string, FieldSource] => [
    field,
    isPlaceholder(from) ? { value: standIns[field] ?? field } : from,
  ]);
  const read = sample.createReader(context.chains, parseColumnMap(Object.fromEntries(edited)));
  return Array.from({ length: sample.rows }, (_, index) => {
    try {
      return parseRecord(context, read(index));
    } catch (error) {
      if (!(error instanceof RecordRejected)) throw error;
      return { record: null, kind: null, reason: error.message };
    }
  });
}

const STAND_INS: Readonly<Record<string, string>> = {
  contractAddress: `0x${'0'.repeat(40)}`,
  timestamp: '1970-01-01T00:00:00Z',
};
/** The address of 32 zero bytes. */
const SOLANA_STAND_IN = '1'.repeat(32);

function writeMap({ map, mapFile }: Explanation): void {
  try {
    writeFileSync(mapFile, `${JSON.stringify(map, null, 2)}\n`, { flag: 'wx' });
  } catch (cause) {
    const why =
      (cause as NodeJS.ErrnoException).code === 'EEXIST'
        ? 'exists already; name another file with --map'
        : describeError(cause);
    throw new OperatorError(`the map was not written: ${mapFile} ${why}`, { cause });
  }
}

/**
 * Returns the short form of `from` for the map file. A column without conversions becomes its name. A list of one conversion becomes this
 * conversion.
 */
function shorten(from: FieldSource): unknown {
  if ('value' in from) return from;
  const { column, as, ...rest } = from;
  if (as === undefined && Object.keys(rest).length === 0) return column;
  return { column, ...rest, ...(as && { as: as.length === 1 ? as[0] : as }) };
}
