// `mercat import`: loads records from files into the databases, through the running server where there is one.

import { closeSync, openSync, readFileSync, writeSync } from 'node:fs';
import type { Readable } from 'node:stream';
import { parseArgs } from 'node:util';
import type { Clock } from '../../core/clock.ts';
import { systemClock } from '../../core/clock.ts';
import { readConfig } from '../../config.ts';
import type { Chains } from '../../core/chains.ts';
import { createChains } from '../../core/chains.ts';
import { describeError, OperatorError } from '../../core/errors.ts';
import type { IntakeConnection } from '../../intake/connection.ts';
import type { CsvMap } from '../../intake/csv/column-map.ts';
import { CONVERSIONS, parseCsvMap } from '../../intake/csv/column-map.ts';
import type { ImportEvent, ImportFormat } from '../../intake/import.ts';
import { IMPORT_FORMATS, ImportFailure } from '../../intake/import.ts';
import type { ImportSummary } from '../../intake/import-summary.ts';
import { addSummaries } from '../../intake/import-summary.ts';
import type { Command, CommandIo, ExitCode } from '../command.ts';
import { parseUsage } from '../command.ts';
import type { AnswerPlace, AnswerTally } from './recorded-responses.ts';
import { createAnswerTally, toAnswerLines } from './recorded-responses.ts';
import type { ImportSource } from './source.ts';
import { checkReadable, openSource } from './source.ts';
import { connectIntake } from '../connect-intake.ts';
import { VENDORS } from '../../upstreams/registry.ts';
import type { RecordedReader } from '../../upstreams/recorded-format.ts';
import { RecordedFields } from '../../upstreams/recorded-format.ts';
import type { Vendor } from '../../upstreams/vendor.ts';
import type { Progress } from '../progress.ts';
import { createProgress } from '../progress.ts';

const HELP_INDENT = 29;
const FORMAT_WIDTH = 23;

const HELP = `Usage: mercat import FILE… [--format F] [--map FILE] [--set FIELD=VALUE] [--column FIELD=COLUMN[:AS]]
                     [--dry-run] [--refused FILE] [--json]

Loads records, one JSON object a line: docs/records.md says which there are. - reads standard input; gzip is decompressed.
Loading a file again changes nothing. A bad record is refused with its line and reason, and the others are kept.

  --format F                 ndjson (default), csv, or recorded responses of a vendor, with the fields that --set gives:
${describeFormats(VENDORS)}  --map FILE                 CSV: which column is which field, as JSON: {"tokenId": "punk_id", "kind": {"value": "sale"}}
  --set FIELD=VALUE          CSV: a field that is the same in every row; may be repeated
                             recorded responses: a field of their format, such as chain=ethereum
  --column FIELD=COLUMN[:AS] CSV: a field from a column, converted by AS: ${CONVERSIONS.join(', ')}; may be repeated
  --dry-run                  do everything, keep nothing
  --refused FILE             write every refused row as {"file", "line", "reason"}, one a line; of answers with "page"
                             and "row" in place of "line"
  --json                     print the summary as one JSON value

Exit status: 0 all landed, 1 failed or a row was refused, 2 bad usage.
`;

/** One line for each format of recorded responses, optional fields in brackets. */
function describeFormats(vendors: readonly Vendor[]): string {
  return vendors
    .flatMap(({ formats }) => formats)
    .map(({ name, fields }) => {
      const names = Object.entries(fields).map(([field, { isOptional }]) => (isOptional ? `[${field}]` : field));
      return `${' '.repeat(HELP_INDENT)}${name.padEnd(FORMAT_WIDTH)}${names.join(', ')}\n`;
    })
    .join('');
}

/** Refused rows that are printed; the others are counted. */
const REFUSED_SHOWN_MAX = 20;

/** What recorded answers are read with; `chains` is called only for them. */
export type ImportWorld = { chains: () => Chains; clock: Clock };

const WORLD: ImportWorld = { chains: () => createChains(readConfig().extraChain), clock: systemClock };

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
  world = WORLD,
): Promise<ExitCode> {
  const usage = readUsage(args, world);
  const refusals = createRefusals(io.stderr, usage.refused);
  const summaries: ImportSummary[] = [];
  const answers = createAnswerTally();
  let failure: string | null = null;
  const connection = await connect();
  try {
    for (const file of usage.files) {
      const source = openSource(file, io.stdin ?? process.stdin);
      try {
        summaries.push(await importFile(connection, source, { usage, io, refusals, answers }));
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
  const summary = withAnswers(addSummaries(summaries), usage.answers && answers);
  if (failure !== null) io.stderr.write(`mercat: ${printable(failure)}\n`);
  if (usage.json) io.stdout.write(`${JSON.stringify(failure === null ? summary : { ...summary, error: failure })}\n`);
  else if (failure === null) io.stdout.write(`${usage.dryRun ? 'dry run: ' : ''}${toSentence(summary)}\n`);
  return failure === null && summary.refused === 0 ? 0 : 1;
}

type Summary = ImportSummary & { answers?: { pages: number; rows: number; leftOut: Record<string, number> } };

/** With the rows of answers that never became records: the intake did not see them. */
function withAnswers(summary: ImportSummary, answers: AnswerTally | null): Summary {
  if (answers === null) return summary;
  const { pages, rows, refused, leftOut } = answers;
  return {
    ...summary,
    read: summary.read + refused,
    refused: summary.refused + refused,
    answers: { pages, rows, leftOut: Object.fromEntries(leftOut) },
  };
}

type Usage = {
  files: string[];
  format: ImportFormat;
  map: CsvMap | null;
  answers: RecordedReader | null;
  dryRun: boolean;
  refused: string | null;
  json: boolean;
};

function readUsage(args: string[], { chains, clock }: ImportWorld): Usage {
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
  const told = values.format ?? 'ndjson';
  const recordedFormats = VENDORS.flatMap(({ formats }) => formats);
  const answerFormat = recordedFormats.find(({ name }) => name === told);
  // Answers go to the intake as the records that they come to.
  const format = answerFormat ? 'ndjson' : IMPORT_FORMATS.find((known) => known === told);
  if (!format)
    return wrongUsage(
      `--format must be one of ${[...IMPORT_FORMATS, ...recordedFormats.map(({ name }) => name)].join(', ')}`,
    );
  for (const file of positionals) if (file !== '-') checkReadable(file);
  if (positionals.filter((file) => file === '-').length > 1) wrongUsage('- can be given once');
  const csv = positionals.find((file) => /\.csv(\.gz)?$/i.test(file));
  if (csv && values.format === undefined) wrongUsage(`${csv} looks like CSV: say --format csv, or --format ndjson`);
  const columns = values.map !== undefined || values.column !== undefined;
  const isMapped = columns || values.set !== undefined;
  if (format === 'csv' && !isMapped)
    wrongUsage('CSV needs --map, --set or --column to say which column is which field');
  if (format !== 'csv' && (columns || (isMapped && !answerFormat))) {
    wrongUsage('--map, --set and --column are for --format csv, --set for recorded answers too');
  }
  const assignments = (values.set ?? []).map((text) => splitAssignment('--set', text));
  return {
    files: positionals,
    format,
    map: format === 'csv' ? readMap(values) : null,
    answers: answerFormat
      ? answerFormat.createReader(
          new RecordedFields(answerFormat, new Map(assignments), { chains: chains(), now: clock() }),
        )
      : null,
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

type Work = { usage: Usage; io: CommandIo; refusals: Refusals; answers: AnswerTally };

async function importFile(
  connection: IntakeConnection,
  source: ImportSource,
  { usage, io, refusals, answers }: Work,
): Promise<ImportSummary> {
  const progress = createProgress(io.stderr);
  const startedAt = performance.now();
  const stopping = new AbortController();
  const stop = () => stopping.abort(new Error('interrupted'));
  io.signal.addEventListener('abort', stop, { once: true });
  if (io.signal.aborted) stop();
  const { format, map, dryRun } = usage;
  const onRefused = (row: RefusedRow) => refusals.add(source.name, row, progress);
  const lines = usage.answers && toAnswerLines(source.chunks, usage.answers, { tally: answers, onRefused });
  const onEvent = (event: ImportEvent) => {
    if (event.event === 'refused') {
      const { line, reason } = event;
      onRefused(lines ? { ...lines.placeOf(line), reason } : { line, reason });
    } else {
      const rate = toRate(event.read, (performance.now() - startedAt) / 1_000);
      const words = `${source.name}: ${rate}, ${count(event.refused + answers.refused)} refused`;
      progress.update({ done: source.bytesRead(), total: source.size, words });
      lines?.forget(event.read);
    }
  };
  try {
    const options = { format, dryRun, signal: stopping.signal, ...(map && { map }) };
    return await connection.import(lines?.chunks ?? source.chunks, options, onEvent);
  } finally {
    io.signal.removeEventListener('abort', stop);
    progress.clear();
  }
}

type RefusedRow = ({ line: number } | AnswerPlace) & { reason: string };

type Refusals = {
  add(file: string, refused: RefusedRow, progress: Progress): void;
  close(): void;
};

/** Prints the first refused rows, and writes all of them to the file where one is given. */
function createRefusals(stderr: CommandIo['stderr'], path: string | null): Refusals {
  const file = path === null ? null : openRefusals(path);
  let refused = 0;
  return {
    add: (name, row, progress) => {
      refused += 1;
      if (refused <= REFUSED_SHOWN_MAX) progress.print(printable(`${name}:${toPlace(row)}: ${row.reason}`));
      if (file !== null) writeSync(file, `${JSON.stringify({ file: name, ...row })}\n`);
    },
    close: () => {
      const more = refused - REFUSED_SHOWN_MAX;
      const where = path === null ? 'see --refused' : `all are in ${path}`;
      if (more > 0) stderr.write(`… and ${count(more)} more refused; ${where}\n`);
      if (file !== null) closeSync(file);
    },
  };
}

function toPlace(row: RefusedRow): string {
  if ('line' in row) return String(row.line);
  return row.row === undefined ? ` page ${row.page}` : ` page ${row.page}, row ${row.row}`;
}

function openRefusals(path: string): number {
  try {
    return openSync(path, 'w');
  } catch (cause) {
    throw new OperatorError(`${path} cannot be written: ${describeError(cause)}`, { exitCode: 2 });
  }
}

function toSentence({ read, inserted, updated, unchanged, refused, seconds, answers }: Summary): string {
  const parts = [`${count(inserted)} inserted`, `${count(updated)} updated`, `${count(unchanged)} unchanged`];
  const rate = toRate(read, seconds, answers ? 'records' : 'rows');
  const landed = `${rate}: ${parts.join(', ')}, ${count(refused)} refused, in ${seconds.toFixed(1)} s`;
  return answers ? `${landed}\n${describeAnswers(answers)}` : landed;
}

/** Pages, rows, and what was left out on purpose. */
function describeAnswers({ pages, rows, leftOut }: NonNullable<Summary['answers']>): string {
  const reasons = Object.entries(leftOut);
  const all = reasons.reduce((sum, [, left]) => sum + left, 0);
  const why = reasons.map(([reason, left]) => `${count(left)} ${printable(reason)}`).join('; ');
  return `rows in the answers: ${count(rows)}, pages: ${count(pages)}, rows left out: ${count(all)}${why && ` (${why})`}`;
}

function toRate(rows: number, seconds: number, noun = 'rows'): string {
  return `${count(rows)} ${noun}${seconds > 0 ? ` (${count(Math.round(rows / seconds))}/s)` : ''}`;
}

function count(value: number): string {
  return value.toLocaleString('en');
}

/** Text from outside must not steer the terminal that it is printed on. */
function printable(text: string): string {
  return text.replace(/\p{Cc}/gu, (control) => `\\u${control.charCodeAt(0).toString(16).padStart(4, '0')}`);
}
