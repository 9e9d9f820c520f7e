// `mercat import`: loads records from files into the databases, through the running server where there is one.

import { closeSync, openSync, readFileSync, writeSync } from 'node:fs';
import type { Readable } from 'node:stream';
import { parseArgs } from 'node:util';
import { describeError, OperatorError } from '../errors.ts';
import type { IntakeConnection } from '../intake/connection.ts';
import type { CsvMap } from '../intake/csv-map.ts';
import { CONVERSIONS, parseCsvMap } from '../intake/csv-map.ts';
import type { ImportEvent, ImportFormat } from '../intake/import.ts';
import { IMPORT_FORMATS, ImportFailure } from '../intake/import.ts';
import type { ImportSummary } from '../intake/tally.ts';
import { addSummaries } from '../intake/tally.ts';
import type { Command, CommandIo, ExitCode } from './command.ts';
import { parseUsage } from './command.ts';
import type { ImportSource } from './import-source.ts';
import { checkReadable, openSource } from './import-source.ts';
import { connectIntake } from './intake.ts';
import type { Progress } from './progress.ts';
import { createProgress } from './progress.ts';

const HELP = `Usage: mercat import FILE… [--format ndjson|csv] [--map FILE] [--set FIELD=VALUE] [--column FIELD=COLUMN[:AS]]
                     [--dry-run] [--refused FILE] [--json]

Loads records, one JSON object a line: docs/records.md says which there are. - reads standard input; gzip is decompressed.
Loading a file again changes nothing. A bad record is refused with its line and reason, and the others are kept.

  --format F                 ndjson (default) or csv
  --map FILE                 CSV: which column is which field, as JSON: {"tokenId": "punk_id", "kind": {"value": "sale"}}
  --set FIELD=VALUE          CSV: a field that is the same in every row; may be repeated
  --column FIELD=COLUMN[:AS] CSV: a field from a column, converted by AS: ${CONVERSIONS.join(', ')}; may be repeated
  --dry-run                  do everything, keep nothing
  --refused FILE             write every refused row as {"file", "line", "reason"}, one a line
  --json                     print the summary as one JSON value

Exit status: 0 all landed, 1 failed or a row was refused, 2 bad usage.
`;

/** Refused rows that are printed; the others are counted. */
const REFUSED_SHOWN_MAX = 20;

export const importCommand: Command = {
  name: 'import',
  summary: 'load records from files',
  help: HELP,
  run: (args, io) => runImport(args, io, connectIntake),
};

/** `connect` is called once the arguments are known to be good; what it gives is closed here. */
export async function runImport(
  args: string[],
  io: CommandIo & { stdin?: Readable },
  connect: () => Promise<IntakeConnection>,
): Promise<ExitCode> {
  const usage = readUsage(args);
  const refusals = createRefusals(io.stderr, usage.refused);
  const summaries: ImportSummary[] = [];
  let failure: string | null = null;
  const connection = await connect();
  try {
    for (const file of usage.files) {
      const source = openSource(file, io.stdin ?? process.stdin);
      try {
        summaries.push(await importFile(connection, source, { usage, io, refusals }));
      } catch (error) {
        if (!(error instanceof ImportFailure)) throw error;
        summaries.push(error.summary);
        failure = `${source.name}: ${error.message}`;
        break;
      } finally {
        source.close();
      }
    }
  } finally {
    refusals.close();
    await connection.close();
  }
  const summary = addSummaries(summaries);
  if (failure !== null) io.stderr.write(`mercat: ${printable(failure)}\n`);
  if (usage.json) io.stdout.write(`${JSON.stringify(failure === null ? summary : { ...summary, error: failure })}\n`);
  else if (failure === null) io.stdout.write(`${usage.dryRun ? 'dry run: ' : ''}${toSentence(summary)}\n`);
  return failure === null && summary.refused === 0 ? 0 : 1;
}

type Usage = {
  files: string[];
  format: ImportFormat;
  map: CsvMap | null;
  dryRun: boolean;
  refused: string | null;
  json: boolean;
};

function readUsage(args: string[]): Usage {
  const { values, positionals } = parseUsage(importCommand, () =>
    parseArgs({
      args,
      allowPositionals: true,
      options: {
        format: { type: 'string' },
        map: { type: 'string' },
        set: { type: 'string', multiple: true },
        column: { type: 'string', multiple: true },
        'dry-run': { type: 'boolean' },
        refused: { type: 'string' },
        json: { type: 'boolean' },
      },
    }),
  );
  if (positionals.length === 0) wrongUsage('which file?');
  const format = IMPORT_FORMATS.find((known) => known === (values.format ?? 'ndjson'));
  if (!format) return wrongUsage(`--format must be one of ${IMPORT_FORMATS.join(', ')}`);
  for (const file of positionals) if (file !== '-') checkReadable(file);
  if (positionals.filter((file) => file === '-').length > 1) wrongUsage('- can be given once');
  const csv = positionals.find((file) => /\.csv(\.gz)?$/i.test(file));
  if (csv && values.format === undefined) wrongUsage(`${csv} looks like CSV: say --format csv, or --format ndjson`);
  const mapped = values.map !== undefined || values.set !== undefined || values.column !== undefined;
  if (format === 'csv' && !mapped) wrongUsage('CSV needs --map, --set or --column to say which column is which field');
  if (format !== 'csv' && mapped) wrongUsage('--map, --set and --column are for --format csv');
  return {
    files: positionals,
    format,
    map: mapped ? readMap(values) : null,
    dryRun: values['dry-run'] ?? false,
    refused: values.refused ?? null,
    json: values.json ?? false,
  };
}

function wrongUsage(why: string): never {
  throw new OperatorError(`${why}; see mercat import --help`, { exitCode: 2 });
}

/** The column map of a file, with what the command line says on top of it. */
function readMap(values: {
  map?: string | undefined;
  set?: string[] | undefined;
  column?: string[] | undefined;
}): CsvMap {
  const told: Record<string, unknown> = values.map === undefined ? {} : readMapFile(values.map);
  for (const text of values.set ?? []) {
    const [field, value] = splitAssignment('--set', text);
    told[field] = { value };
  }
  for (const text of values.column ?? []) {
    const [field, column] = splitAssignment('--column', text);
    const as = CONVERSIONS.find((known) => column.endsWith(`:${known}`));
    told[field] = as ? { column: column.slice(0, -as.length - 1), as } : { column };
  }
  return parseCsvMap(told);
}

function readMapFile(file: string): Record<string, unknown> {
  try {
    return { ...(JSON.parse(readFileSync(file, 'utf8')) as object) };
  } catch (cause) {
    throw new OperatorError(`the column map ${file} cannot be read: ${describeError(cause)}`, { exitCode: 2 });
  }
}

function splitAssignment(option: string, text: string): [string, string] {
  const at = text.indexOf('=');
  return at > 0 ? [text.slice(0, at), text.slice(at + 1)] : wrongUsage(`${option} takes FIELD=…, not ${text}`);
}

type Work = { usage: Usage; io: CommandIo; refusals: Refusals };

async function importFile(
  connection: IntakeConnection,
  source: ImportSource,
  { usage, io, refusals }: Work,
): Promise<ImportSummary> {
  const progress = createProgress(io.stderr);
  const startedAt = performance.now();
  const stopping = new AbortController();
  const stop = () => stopping.abort(new Error('interrupted'));
  io.signal.addEventListener('abort', stop, { once: true });
  if (io.signal.aborted) stop();
  const onEvent = (event: ImportEvent) => {
    if (event.event === 'refused') refusals.add(source.name, event, progress);
    else {
      const words = `${source.name}: ${toRate(event.read, (performance.now() - startedAt) / 1_000)}, ${count(event.refused)} refused`;
      progress.update({ done: source.bytesRead(), total: source.size, words });
    }
  };
  const { format, map, dryRun } = usage;
  try {
    const options = { format, dryRun, signal: stopping.signal, ...(map && { map }) };
    return await connection.import(source.chunks, options, onEvent);
  } finally {
    io.signal.removeEventListener('abort', stop);
    progress.clear();
  }
}

type Refusals = {
  add(file: string, refused: { line: number; reason: string }, progress: Progress): void;
  close(): void;
};

/** Prints the first refused rows, and writes all of them to the file where one is given. */
function createRefusals(stderr: CommandIo['stderr'], path: string | null): Refusals {
  const file = path === null ? null : openRefusals(path);
  let refused = 0;
  return {
    add: (name, { line, reason }, progress) => {
      refused += 1;
      if (refused <= REFUSED_SHOWN_MAX) progress.print(printable(`${name}:${line}: ${reason}`));
      if (file !== null) writeSync(file, `${JSON.stringify({ file: name, line, reason })}\n`);
    },
    close: () => {
      const more = refused - REFUSED_SHOWN_MAX;
      const where = path === null ? 'see --refused' : `all are in ${path}`;
      if (more > 0) stderr.write(`… and ${count(more)} more refused; ${where}\n`);
      if (file !== null) closeSync(file);
    },
  };
}

function openRefusals(path: string): number {
  try {
    return openSync(path, 'w');
  } catch (cause) {
    throw new OperatorError(`${path} cannot be written: ${describeError(cause)}`, { exitCode: 2 });
  }
}

function toSentence({ read, inserted, updated, unchanged, refused, seconds }: ImportSummary): string {
  const parts = [`${count(inserted)} inserted`, `${count(updated)} updated`, `${count(unchanged)} unchanged`];
  return `${toRate(read, seconds)}: ${parts.join(', ')}, ${count(refused)} refused, in ${seconds.toFixed(1)} s`;
}

function toRate(rows: number, seconds: number): string {
  return `${count(rows)} rows${seconds > 0 ? ` (${count(Math.round(rows / seconds))}/s)` : ''}`;
}

function count(value: number): string {
  return value.toLocaleString('en');
}

/** Text from outside must not steer the terminal that it is printed on. */
function printable(text: string): string {
  return text.replace(/\p{Cc}/gu, (control) => `\\u${control.charCodeAt(0).toString(16).padStart(4, '0')}`);
}
