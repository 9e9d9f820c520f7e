// The request and response of an import, shared by the server and its socket client. The query holds the options, and the body is the
// unchanged file. The response has one JSON event on each line.

import { OperatorError, ServiceError } from '../platform/core/errors.ts';
import { parseTime } from '../platform/core/time.ts';
import { hasPattern, parseColumnMap } from './csv/column-map.ts';
import type { ImportEvent, ImportOptions } from './import.ts';
import { IMPORT_FORMATS } from './import.ts';
import type { ImportSummary } from './import-summary.ts';

export const RECORDS_PATH = '/intake/v1/records';

/**
 * A client stops an import by ending the body with this trailer. Its value is the reason. The server then stops after its current batch and
 * reports what was stored.
 */
export const STOPPED_TRAILER = 'mercat-stopped';

/** A complete response ends with `done` or `error`. A response without such an end was cut off. */
export type ResponseEvent =
  | ImportEvent
  | ({ event: 'done' } & ImportSummary)
  | { event: 'error'; message: string; reason: string; summary: ImportSummary };

export type RequestOptions = Pick<
  ImportOptions,
  'format' | 'map' | 'dryRun' | 'replace' | 'createCollections' | 'completeUntil' | 'file'
>;

/** The longest request target, in bytes. Request line and headers together must fit into the 16 KiB that Node's HTTP server accepts. */
const TARGET_SIZE_MAX = 12 * 1024;

export function toRequestTarget({
  format,
  map,
  dryRun,
  replace,
  createCollections,
  completeUntil,
  file,
}: RequestOptions): string {
  const query = new URLSearchParams({ format });
  if (dryRun) query.set('dryRun', 'true');
  if (replace) query.set('replace', 'true');
  if (createCollections) query.set('createCollections', 'true');
  if (completeUntil !== undefined) query.set('completeUntil', new Date(completeUntil).toISOString());
  if (file !== undefined) query.set('file', file);
  if (map) query.set('map', JSON.stringify(map));
  const target = `${RECORDS_PATH}?${query.toString()}`;
  if (target.length > TARGET_SIZE_MAX) {
    throw new OperatorError(
      `the column map is too long: the request has ${target.length} bytes, the limit is ${TARGET_SIZE_MAX}`,
    );
  }
  return target;
}

/**
 * Parses the query of a request. Throws a ServiceError that names the wrong parameter. `allowsPatterns`: whether the column map may have
 * patterns, which only the operator may send.
 */
export function parseRequestQuery(query: unknown, { allowsPatterns }: { allowsPatterns: boolean }): RequestOptions {
  const {
    format = 'ndjson',
    dryRun,
    replace,
    createCollections,
    completeUntil,
    map,
    file,
    ...rest
  } = query as Record<string, unknown>;
  const [unknown] = Object.keys(rest);
  if (unknown !== undefined) throw new ServiceError('bad_request', `${unknown}: there is no such parameter`);
  const known = IMPORT_FORMATS.find((one) => one === format);
  if (!known) throw new ServiceError('bad_request', `format: must be one of ${IMPORT_FORMATS.join(', ')}`);
  if (known === 'csv' && map === undefined) throw new ServiceError('bad_request', 'map: a CSV file needs a column map');
  return {
    format: known,
    dryRun: parseSwitch('dryRun', dryRun),
    replace: parseSwitch('replace', replace),
    createCollections: parseSwitch('createCollections', createCollections),
    ...(completeUntil !== undefined && { completeUntil: parseUntil(completeUntil) }),
    ...(typeof file === 'string' && { file }),
    ...(map !== undefined && { map: parseMap(map, allowsPatterns) }),
  };
}

function parseSwitch(name: string, text: unknown = 'false'): boolean {
  if (text !== 'true' && text !== 'false') throw new ServiceError('bad_request', `${name}: must be true or false`);
  return text === 'true';
}

function parseUntil(text: unknown): number {
  const until = parseTime(String(text));
  if (until === null) {
    throw new ServiceError('bad_request', 'completeUntil: must be an ISO 8601 time with Z or an offset');
  }
  return until;
}

function parseMap(text: unknown, allowsPatterns: boolean): NonNullable<RequestOptions['map']> {
  let map: unknown;
  try {
    map = JSON.parse(String(text));
  } catch (cause) {
    throw new ServiceError('bad_request', 'map: must be JSON', { cause });
  }
  try {
    const parsed = parseColumnMap(map);
    if (allowsPatterns || !hasPattern(parsed)) return parsed;
    throw new OperatorError('"pattern" is available on the command line only');
  } catch (error) {
    if (!(error instanceof OperatorError)) throw error;
    throw new ServiceError('bad_request', `map: ${error.message}`, { cause: error });
  }
}
