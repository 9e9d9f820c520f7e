// `mercat import`: imports records from files, through the running server if a server runs.

import type { Clock } from '../../platform/core/clock.ts';
import { systemClock } from '../../platform/core/clock.ts';
import { readConfig } from '../../service/config.ts';
import type { Chains } from '../../platform/core/chains.ts';
import { createChains } from '../../platform/core/chains.ts';
import type { IntakeConnection } from '../../intake/connection.ts';
import { describeDialect, detectDialect, isHeaderComplete } from '../../intake/csv/dialect.ts';
import { CONVERSION_NAMES } from '../../intake/csv/conversions.ts';
import type { ImportEvent } from '../../intake/import.ts';
import { ImportFailure } from '../../intake/import.ts';
import type { ImportSummary } from '../../intake/import-summary.ts';
import { addSummaries } from '../../intake/import-summary.ts';
import { peek } from '../../intake/peek.ts';
import type { RecordedFormat } from '../../sources/upstreams/recorded-format.ts';
import type { CommandIo, DefineCommand } from '../command.ts';
import { connect } from '../connect.ts';
import { printable } from '../output.ts';
import { Progress } from '../progress.ts';
import { explainFile } from './explain.ts';
import { toJsonLines } from './json-records.ts';
import type { MalformedPart } from './json-values.ts';
import { describeMalformed } from './json-values.ts';
import type { ResponseTally } from './recorded-responses.ts';
import { RecordedLines, createResponseTally } from './recorded-responses.ts';
import type { RejectedRow } from './rejections.ts';
import { RejectionReport } from './rejections.ts';
import { createShopifyTally, describeShopify } from '../../shop/products/shopify.ts';
import { SHOPIFY_FORMAT, toShopifyLines } from './shopify.ts';
import type { ImportSource } from './source.ts';
import { openSource } from './source.ts';
import type { CompleteSummary } from './summary.ts';
import { count, describeDryRun, describeImports, describeSummary, toRate, withResponses } from './summary.ts';
import type { ImportFlags, ImportRequest } from './usage.ts';
import { readExplainRequest, readImportRequest, RECORDED_FORMATS } from './usage.ts';

/** The dependencies of the command, which tests replace. `chains` is called only for recorded responses and for --explain. */
export type ImportEnvironment = {
  connect: (io: Pick<CommandIo, 'signal' | 'stderr'>) => Promise<AsyncDisposable & Pick<IntakeConnection, 'import'>>;
  chains: () => Chains;
  clock: Clock;
};

const ENVIRONMENT: ImportEnvironment = {
  connect: ({ signal, stderr }) => connect(signal, { onCreate: (line) => stderr.write(line) }),
  chains: () => {
    const { extraChain, currencies } = readConfig();
    return createChains(extraChain, currencies);
  },
  clock: systemClock,
};

export const defineImport: DefineCommand = createImport(ENVIRONMENT);

export function createImport(environment: ImportEnvironment): DefineCommand {
  return (command, io) => {
    command
      .description(
        'Load records from JSON, CSV or recorded responses. docs/records.md describes the records. Loading a file again changes nothing. ' +
          'An invalid record is refused, with its line and the reason, and the other records are stored.',
      )
      .argument('<files...>', 'the files; - is standard input; gzip, zstd and zip are decompressed')
      .option(
        '--format <format>',
        'ndjson (default; also JSON arrays), csv (default for .csv and .tsv), or a format of recorded responses, see below',
      )
      .option(
        '--map <file>',
        'CSV and JSON: a JSON file with the column or value of each field: {"tokenId": "punk_id", "kind": {"value": "sale"}}',
      )
      .option(
        '--set <field=value>',
        'CSV and JSON: a field with the same value in every row. Recorded responses: a field of their format. May be repeated',
        collect,
      )
      .option(
        '--column <field=column[:as]>',
        `CSV and JSON: a field and its column, optionally with a conversion: ${CONVERSION_NAMES}. May be repeated`,
        collect,
      )
      .option(
        '--explain',
        'read the first rows of a file, guess its kind and columns, and print the records that these rows would become; also write a column map that you can edit, to the file of --map or to the current directory',
      )
      .option('--dry-run', 'check and count the records without storing them')
      .option(
        '--replace',
        'replace a stored sale with the same identity but different facts, instead of reporting a conflict',
      )
      .option(
        '--create-collections',
        'create a collection record for each collection that has none, with its address as the name; an imported collection record can give it another name later',
      )
      .option(
        '--complete-until <time>',
        'until when the sales of each collection in the files are complete; default: the time of the newest sale of the collection',
      )
      .option(
        '--refused <file>',
        'write each refused row and each conflict to this file, as one line {"file", "line", "reason"}; for recorded responses with "page" and "row" instead of "line"',
      )
      .option('--json', 'print the summary, or the result of --explain, as one JSON value')
      .addHelpText('after', NOTES)
      .action((files, options) => runImport(files, options, io, environment));
  };
}

const FORMAT_NAME_WIDTH = 23;

const NOTES = `
Formats of recorded responses, with their fields for --set (fields in brackets are optional):
${RECORDED_FORMATS.map(describeFormat).join('')}
Other formats, with their fields for --set:
  ${SHOPIFY_FORMAT.padEnd(FORMAT_NAME_WIDTH)}shop

Exit codes:
  0    all rows were stored
  1    the import failed, or a row was refused or is in conflict with a stored one
  2    the arguments are wrong
  130  interrupted by Ctrl-C

Examples:
  mercat import market.ndjson sales.ndjson.gz
  mercat import --explain sales.csv
  mercat import sales.csv --map sales.csv.map.json
  mercat import sales.csv --format csv --set kind=sale --set chain=ethereum --column price=eth:native-amount --dry-run`;

function describeFormat({ name, fields }: RecordedFormat): string {
  const names = Object.entries(fields).map(([field, { isOptional }]) => (isOptional ? `[${field}]` : field));
  return `  ${name.padEnd(FORMAT_NAME_WIDTH)}${names.join(', ')}\n`;
}

function collect(value: string, previous: string[] = []): string[] {
  return [...previous, value];
}

async function runImport(
  files: string[],
  options: ImportFlags,
  io: CommandIo,
  environment: ImportEnvironment,
): Promise<void> {
  if (options.explain) {
    await runExplain(files, options, { io, environment });
    return;
  }
  const request = readImportRequest(files, options, environment);
  using rejections = new RejectionReport(io.stderr, request.rejectionsFile);
  const responses = createResponseTally();
  const { summaries, failure } = await importFiles({ request, io, rejections, responses }, environment);
  rejections.end();
  const summary = withResponses(addSummaries(summaries), request.responses && responses);
  printSummary(summary, failure, { request, io });
  if (failure !== null || summary.refused + summary.conflict > 0) io.exitCode = 1;
}

async function runExplain(
  files: readonly string[],
  options: ImportFlags,
  { io, environment }: { io: CommandIo; environment: ImportEnvironment },
): Promise<void> {
  const request = readExplainRequest(files, options);
  const context = { chains: environment.chains(), serviceName: '', seaport: new Map(), now: environment.clock };
  using source = openSource(request.file, { stdin: io.stdin });
  await explainFile(source, { ...request, context }, io);
}

type ImportRun = { request: ImportRequest; io: CommandIo; rejections: RejectionReport; responses: ResponseTally };

/** Imports the files in turn, and stops after a file that fails. */
async function importFiles(
  importRun: ImportRun,
  environment: ImportEnvironment,
): Promise<{ summaries: ImportSummary[]; failure: string | null }> {
  const summaries: ImportSummary[] = [];
  await using connection = await environment.connect(importRun.io);
  for (const file of importRun.request.files) {
    const onNote = (note: string) => importRun.io.stderr.write(`${file === '-' ? 'stdin' : file}: ${note}\n`);
    using source = openSource(file, { stdin: importRun.io.stdin, onNote });
    try {
      summaries.push(await importFile(connection, source, importRun));
    } catch (error) {
      if (!(error instanceof ImportFailure)) throw error;
      return { summaries: [...summaries, error.summary], failure: `${source.name}: ${error.message}` };
    }
  }
  return { summaries, failure: null };
}

async function importFile(
  connection: Pick<IntakeConnection, 'import'>,
  source: ImportSource,
  { request, io, rejections, responses }: ImportRun,
): Promise<ImportSummary> {
  const progress = new Progress(io.stderr);
  const startedAt = performance.now();
  const onRejected = (row: RejectedRow) => rejections.add(source.name, row, progress);
  const lines =
    request.responses && new RecordedLines(source.chunks, request.responses, { tally: responses, onRejected });
  const onEvent = (event: ImportEvent) => {
    if (event.event !== 'progress') {
      const { line } = event;
      const reason = event.event === 'conflict' ? `conflict: ${event.reason}` : event.reason;
      onRejected(lines ? { ...lines.positionOf(line), reason } : { line, reason });
      return;
    }
    const rate = toRate(event.read, (performance.now() - startedAt) / 1_000);
    const text = `${source.name}: ${rate}, ${count(event.refused + responses.rejected)} refused`;
    progress.update({ ...source.position(), text });
    lines?.forget(event.read);
  };
  /**
   * `rows`: how many rows were rejected before they became records. `skippedLines`: how many lines these rows have in all, without the first
   * line of each row.
   */
  const lost = { rows: 0, skippedLines: 0 };
  const interruption = toInterruption(io.signal);
  try {
    const { format, map, dryRun, replace, createCollections, completeUntil, shopifyShop } = request;
    const shop = shopifyShop === null ? null : { shop: shopifyShop, tally: createShopifyTally() };
    const onLost = (row: RejectedRow) => {
      lost.rows += 1;
      onRejected(row);
    };
    const onMalformed = (part: MalformedPart) => {
      lost.skippedLines += part.lines - 1;
      onLost({ line: part.line, reason: describeMalformed(part) });
    };
    const { signal } = interruption;
    const options = {
      format,
      dryRun,
      replace,
      createCollections,
      file: source.name,
      signal,
      ...(completeUntil !== undefined && { completeUntil }),
      ...(map && { map }),
    };
    const noteDialect = (note: string) => progress.print(`${source.name}: ${note}`);
    const chunks =
      shop === null
        ? toIntakeChunks(source, { format, onNote: noteDialect, onMalformed })
        : toShopifyLines(source.chunks, { ...shop, onRejected: onLost });
    const summary = await connection.import(lines?.chunks() ?? chunks, options, onEvent);
    if (shop) progress.print(`${source.name}: ${describeShopify(shop.tally)}`);
    return addLost(summary, lost);
  } catch (error) {
    throw error instanceof ImportFailure ? new ImportFailure(addLost(error.summary, lost), error.cause) : error;
  } finally {
    interruption.release();
    progress.clear();
  }
}

/** Adds to the summary the rows that were rejected before they became records. The summary of the intake lacks them. */
function addLost(
  summary: ImportSummary,
  { rows, skippedLines }: { rows: number; skippedLines: number },
): ImportSummary {
  return {
    ...summary,
    read: summary.read + rows,
    refused: summary.refused + rows,
    skippedLines: summary.skippedLines + skippedLines,
  };
}

function toIntakeChunks(
  source: ImportSource,
  {
    format,
    onNote,
    onMalformed,
  }: {
    format: ImportRequest['format'];
    onNote: (note: string) => void;
    onMalformed: (part: MalformedPart) => void;
  },
): AsyncIterable<Uint8Array> {
  return format === 'csv' ? describedCsv(source.chunks, onNote) : toJsonLines(source.chunks, onMalformed);
}

/** Yields the bytes of a CSV file. Prints a note first if the dialect of the file is unusual. */
async function* describedCsv(
  bytes: AsyncIterable<Uint8Array>,
  onNote: (note: string) => void,
): AsyncGenerator<Uint8Array> {
  const { head, source } = await peek(bytes, isHeaderComplete);
  const unusual = describeDialect(detectDialect(head));
  if (unusual.length > 0) onNote(unusual.join(', '));
  yield* source;
}

/** Returns a signal that aborts when `signal` aborts. Its reason is `interrupted`, because the error message of the import contains the reason. */
function toInterruption(signal: AbortSignal): { signal: AbortSignal; release: () => void } {
  const interruption = new AbortController();
  const interrupt = () => interruption.abort(new Error('interrupted'));
  signal.addEventListener('abort', interrupt, { once: true });
  if (signal.aborted) interrupt();
  return { signal: interruption.signal, release: () => signal.removeEventListener('abort', interrupt) };
}

function printSummary(
  summary: CompleteSummary,
  failure: string | null,
  { request, io }: Pick<ImportRun, 'request' | 'io'>,
): void {
  if (failure !== null) {
    io.stderr.write([`mercat: ${printable(failure)}`, ...describeImports(summary)].map((line) => `${line}\n`).join(''));
  }
  if (request.json) {
    const { collections: _collections, ...counts } = summary;
    io.stdout.write(`${JSON.stringify(failure === null ? counts : { ...counts, error: failure })}\n`);
  } else if (failure === null) {
    const text = describeSummary(summary);
    io.stdout.write(request.dryRun ? `dry run: ${text}\n${describeDryRun(summary)}` : `${text}\n`);
  }
}
