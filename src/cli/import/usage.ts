// Checks the arguments of `mercat import`, before anything is opened or connected.

import { readFileSync } from 'node:fs';
import type { Chains } from '../../platform/core/chains.ts';
import type { Clock } from '../../platform/core/clock.ts';
import { describeError, OperatorError } from '../../platform/core/errors.ts';
import { parseTime } from '../../platform/core/time.ts';
import type { ColumnMap } from '../../intake/csv/column-map.ts';
import { parseColumnMap } from '../../intake/csv/column-map.ts';
import { CONVERSIONS } from '../../intake/csv/conversions.ts';
import type { ImportFormat } from '../../intake/import.ts';
import { IMPORT_FORMATS } from '../../intake/import.ts';
import type { RecordedFormat, RecordedReader } from '../../sources/upstreams/recorded-format.ts';
import { RecordedFields } from '../../sources/upstreams/recorded-format.ts';
import { VENDORS } from '../../sources/upstreams/registry.ts';
import { SHOPIFY_FORMAT } from './shopify.ts';
import { requireReadable } from './source.ts';

export const RECORDED_FORMATS = VENDORS.flatMap(({ formats }) => formats);

export type ImportFlags = {
  format?: string;
  map?: string;
  set?: string[];
  column?: string[];
  explain?: true;
  dryRun?: true;
  replace?: true;
  createCollections?: true;
  completeUntil?: string;
  refused?: string;
  json?: true;
};

export type ImportRequest = {
  files: string[];
  format: ImportFormat;
  /** Which column becomes which field. Null if the import has no column map. */
  map: ColumnMap | null;
  /** The reader of recorded responses. Null for other formats. */
  responses: RecordedReader | null;
  /** The shop for a product export of Shopify. Null for other formats. */
  shopifyShop: string | null;
  dryRun: boolean;
  replace: boolean;
  createCollections: boolean;
  completeUntil: number | undefined;
  rejectionsFile: string | null;
  json: boolean;
};

/** Checks the arguments. Throws OperatorError with exit code 2 if an argument is wrong or a file cannot be read. */
export function readImportRequest(
  files: string[],
  options: ImportFlags,
  { chains, clock }: { chains: () => Chains; clock: Clock },
): ImportRequest {
  if (options.format === SHOPIFY_FORMAT) return readShopifyRequest(files, options);
  const { format, recordedFormat } = readFormat(options.format ?? guessFormat(files));
  requireFiles(files);
  requireMapping(format, { ...options, isRecorded: recordedFormat !== undefined });
  const assignments = (options.set ?? []).map((text) => splitAssignment('--set', text));
  return {
    files,
    format,
    map: recordedFormat === undefined && hasMapping(options) ? readMap(options) : null,
    responses: recordedFormat
      ? recordedFormat.createReader(
          new RecordedFields(recordedFormat, new Map(assignments), { chains: chains(), now: clock() }),
        )
      : null,
    shopifyShop: null,
    ...readSwitches(options),
  };
}

function readSwitches(
  options: ImportFlags,
): Pick<ImportRequest, 'dryRun' | 'replace' | 'createCollections' | 'completeUntil' | 'rejectionsFile' | 'json'> {
  return {
    dryRun: options.dryRun ?? false,
    replace: options.replace ?? false,
    createCollections: options.createCollections ?? false,
    completeUntil: readUntil(options.completeUntil),
    rejectionsFile: options.refused ?? null,
    json: options.json ?? false,
  };
}

function readUntil(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  return (
    parseTime(text) ??
    wrongUsage(
      `--complete-until must be an ISO 8601 time with Z or an offset, such as 2026-06-01T00:00:00Z, not ${text}`,
    )
  );
}

/** For a product export of Shopify, the shop is the only field that can be set. */
function readShopifyRequest(files: string[], options: ImportFlags): ImportRequest {
  requireFiles(files);
  const assignments = new Map((options.set ?? []).map((text) => splitAssignment('--set', text)));
  const shop = assignments.get('shop');
  if (shop === undefined || assignments.size > 1 || options.map !== undefined || options.column !== undefined) {
    return wrongUsage(`--format ${SHOPIFY_FORMAT} takes --set shop=NAME, and no other field or column`);
  }
  return { files, format: 'ndjson', map: null, responses: null, shopifyShop: shop, ...readSwitches(options) };
}

/** Checks the arguments of --explain, which takes one file, --set, --map and --json. */
export function readExplainRequest(
  files: readonly string[],
  { set = [], map, column, format, json }: ImportFlags,
): { file: string; given: ReadonlyMap<string, string>; mapFile: string | null; json: boolean } {
  const [file = '', other] = files;
  if (other !== undefined) wrongUsage('--explain takes one file');
  if (column !== undefined || format !== undefined)
    wrongUsage('--explain guesses the format and the columns: leave out --format and --column');
  requireFiles(files);
  return {
    file,
    given: new Map(set.map((text) => splitAssignment('--set', text))),
    mapFile: map ?? null,
    json: json ?? false,
  };
}

/** For recorded responses, `format` is `ndjson`: the command makes records from the responses, and the intake reads these records as NDJSON. */
function readFormat(text: string): { format: ImportFormat; recordedFormat: RecordedFormat | undefined } {
  const recordedFormat = RECORDED_FORMATS.find(({ name }) => name === text);
  const format = recordedFormat ? 'ndjson' : IMPORT_FORMATS.find((known) => known === text);
  if (format) return { format, recordedFormat };
  const names = [...IMPORT_FORMATS, ...RECORDED_FORMATS.map(({ name }) => name), SHOPIFY_FORMAT];
  return wrongUsage(`--format must be one of ${names.join(', ')}`);
}

function requireFiles(files: readonly string[]): void {
  for (const file of files) if (file !== '-') requireReadable(file);
  if (files.filter((file) => file === '-').length > 1) wrongUsage('standard input (-) can be given only once');
}

const CSV_NAME = /\.(?:csv|tsv)(?:\.(?:gz|zst|zip))?$/i;

/** Returns `csv` if all files have names of CSV files. */
function guessFormat(files: readonly string[]): ImportFormat {
  const csv = files.find((file) => CSV_NAME.test(file));
  const other = files.find((file) => !CSV_NAME.test(file));
  if (csv !== undefined && other !== undefined) {
    wrongUsage(`${csv} has the name of a CSV file, and ${other} has not: give --format, or import them one by one`);
  }
  return csv === undefined ? 'ndjson' : 'csv';
}

function requireMapping(format: ImportFormat, options: ImportFlags & { isRecorded: boolean }): void {
  const hasColumns = options.map !== undefined || options.column !== undefined;
  if (format === 'csv' && !hasMapping(options)) {
    wrongUsage(
      'CSV needs --map, --set or --column, which name the column or value of each field; mercat import --explain FILE writes a map',
    );
  }
  if (options.isRecorded && hasColumns) {
    wrongUsage('--map and --column are for CSV and JSON; recorded responses take --set');
  }
}

function hasMapping({ map, set, column }: ImportFlags): boolean {
  return map !== undefined || set !== undefined || column !== undefined;
}

/** Reads the column map from the file of --map, if given. --set and --column add fields or replace fields of the map. */
function readMap({ map, set = [], column = [] }: Pick<ImportFlags, 'map' | 'set' | 'column'>): ColumnMap {
  const fields: Record<string, unknown> = map === undefined ? {} : readMapFile(map);
  for (const text of set) {
    const [field, value] = splitAssignment('--set', text);
    fields[field] = { value };
  }
  for (const text of column) {
    const [field, source] = splitAssignment('--column', text);
    const as = /:(date:.*)$/.exec(source)?.[1] ?? CONVERSIONS.find((known) => source.endsWith(`:${known}`));
    fields[field] = as ? { column: source.slice(0, -as.length - 1), as } : { column: source };
  }
  return parseColumnMap(fields);
}

function readMapFile(file: string): Record<string, unknown> {
  try {
    return { ...(JSON.parse(readFileSync(file, 'utf8')) as object) };
  } catch (cause) {
    throw new OperatorError(`the column map ${file} cannot be read: ${describeError(cause)}`, { exitCode: 2 });
  }
}

function splitAssignment(option: string, text: string): [string, string] {
  const split = text.indexOf('=');
  return split > 0 ? [text.slice(0, split), text.slice(split + 1)] : wrongUsage(`${option} takes FIELD=…, not ${text}`);
}

function wrongUsage(why: string): never {
  throw new OperatorError(`${why}; see mercat import --help`, { exitCode: 2 });
}
