// `mercat import --explain FILE`: reads the first rows of a file, guesses the kind of record and the field of each column, prints the
// resulting records, and writes a column map to edit. No database is used.

import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { describeError, OperatorError } from '../../core/errors.ts';
import type { ColumnMap, FieldSource } from '../../intake/csv/column-map.ts';
import { parseColumnMap, PLACEHOLDER } from '../../intake/csv/column-map.ts';
import { isHeaderComplete } from '../../intake/csv/dialect.ts';
import { peek } from '../../intake/peek.ts';
import { RecordRejected } from '../../intake/records/fields.ts';
import type { RecordContext } from '../../intake/records/identifiers.ts';
import type { ParsedRecord } from '../../intake/records/parse.ts';
import { parseRecord } from '../../intake/records/parse.ts';
import type { CommandIo } from '../command.ts';
import { formatTable, printable } from '../output.ts';
import type { Guess, SampledColumn } from './column-guess.ts';
import { guessColumns } from './column-guess.ts';
import { describeRecord } from './record-text.ts';
import { recogniseJson } from './response-guess.ts';
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
  context: RecordContext;
};

/** Prints what an import of the file would do. Throws an OperatorError if the file has no row, or if no kind of record fits. */
export async function explainFile(source: ImportSource, request: ExplainRequest, io: CommandIo): Promise<void> {
  const { head, source: chunks } = await peek(source.chunks, isHeaderComplete);
  const isJson = /^[\s\u{feff}]*[[{]/u.test(head.toString());
  const objects = isJson ? await sampleObjects(chunks) : [];
  const ready = objects[0] ? recogniseJson(objects[0]) : null;
  if (ready) {
    io.stdout.write(
      `${printable(source.name)}: ${ready.what}\nImport:\n  mercat import ${request.file}${ready.options}\n`,
    );
    return;
  }
  const sample = isJson ? toObjectSample(objects) : await sampleCsv(head, chunks);
  if (sample.rows === 0) throw new OperatorError(`${source.name} ${isJson ? NO_OBJECTS : 'has no rows'}`);
  const { chains } = request.context;
  const guess = guessColumns(sample.columns, { chains, given: request.given });
  if (!guess) {
    const names = sample.columns.map(({ name }) => JSON.stringify(name)).join(', ');
    throw new OperatorError(
      `no kind of record fits the columns of ${source.name}: ${names}; docs/importing.md describes column maps`,
    );
  }
  io.stdout.write(`${printable(source.name)}: ${sample.description}\n`);
  printGuess(guess, sample, { context: request.context, io });
  writeMap(guess.map, request, io);
}

const NO_OBJECTS =
  "has no JSON objects. If the file is a list of plain values, make objects of them: jq -c '.[] | {mint: .}' FILE > FILE.ndjson. If a field has the list of objects, take them out: jq -c '.data[]' FILE > FILE.ndjson";

function printGuess(
  guess: Guess,
  sample: FileSample,
  { context, io }: { context: RecordContext; io: CommandIo },
): void {
  io.stdout.write(`Each row is read as a record of the kind ${guess.kind}:\n\n`);
  const rows = Object.entries(guess.map).map(([field, from]) => [field, ...describeSource(from, sample.columns)]);
  io.stdout.write(formatTable(['field', 'column', 'conversion', 'first value'], rows, io.stdout));
  const parsed = parseSample(guess.map, sample, context);
  const accepted = parsed.flatMap(({ record }) => (record ? [record] : []));
  const rejected = parsed.flatMap((row) => (row.record ? [] : [row.reason]));
  io.stdout.write('\nThe first records:\n');
  for (const record of accepted.slice(0, EXAMPLES_MAX)) {
    io.stdout.write(`  ${printable(describeRecord(context.chains, record))}\n`);
  }
  io.stdout.write(`Of the first ${sample.rows} rows, ${accepted.length} can be stored.\n`);
  if (rejected[0] !== undefined) io.stdout.write(`${rejected.length} are refused: ${printable(rejected[0])}\n`);
  if (guess.notes.length > 0)
    io.stdout.write(`\nTo check:\n${guess.notes.map((note) => `  ${printable(note)}\n`).join('')}`);
  const used = new Set(
    Object.values(guess.map).flatMap((from) => ('column' in from ? [from.column, from.currency, from.times] : [])),
  );
  const unused = sample.columns.filter(({ name }) => !used.has(name)).map(({ name }) => printable(name));
  if (unused.length > 0) io.stdout.write(`\nColumns that are not used: ${unused.join(', ')}\n`);
}

function describeSource(from: FieldSource, columns: readonly SampledColumn[]): string[] {
  if ('value' in from) return ['', 'the same value in every row', String(from.value)];
  const { column, pattern, as = [], map, currency } = from;
  const steps = [
    ...(pattern === undefined ? [] : [`pattern ${pattern}`]),
    ...as,
    ...(map ? ['map'] : []),
    ...(currency === undefined ? [] : [`currency in ${currency}`]),
  ];
  return [column, steps.join(', '), columns.find(({ name }) => name === column)?.samples[0] ?? ''];
}

/** Parses the sampled rows. A placeholder of the map is replaced by a valid value, so that the examples can be shown. */
function parseSample(map: ColumnMap, sample: FileSample, context: RecordContext): ParsedRecord[] {
  const edited = Object.entries(map).map(([field, from]): [string, FieldSource] => {
    const isOpen = 'value' in from && String(from.value).startsWith(PLACEHOLDER);
    return [field, isOpen ? { value: STAND_INS[field] ?? field } : from];
  });
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

function writeMap(map: ColumnMap, { file, mapFile }: ExplainRequest, io: CommandIo): void {
  const target = mapFile ?? `${file === '-' ? 'stdin' : path.basename(file)}.map.json`;
  const fields = Object.fromEntries(Object.entries(map).map(([field, from]) => [field, shorten(from)]));
  try {
    writeFileSync(target, `${JSON.stringify(fields, null, 2)}\n`, { flag: 'wx' });
  } catch (cause) {
    const why =
      (cause as NodeJS.ErrnoException).code === 'EEXIST'
        ? 'exists already; name another file with --map'
        : describeError(cause);
    throw new OperatorError(`the map was not written: ${target} ${why}`, { cause });
  }
  const isOpen = Object.values(map).some((from) => 'value' in from && String(from.value).startsWith(PLACEHOLDER));
  io.stdout.write(
    `\nThe map is in ${target}. ${isOpen ? 'Replace the values that begin with REPLACE' : 'Check it'}, then:\n`,
  );
  io.stdout.write(`  mercat import ${file} --map ${target} --dry-run\n`);
}

/** Writes a column without conversions as its name, and a single conversion without a list. */
function shorten(from: FieldSource): unknown {
  if ('value' in from) return from;
  const { column, as, ...rest } = from;
  if (as === undefined && Object.keys(rest).length === 0) return column;
  return { column, ...rest, ...(as && { as: as.length === 1 ? as[0] : as }) };
}
