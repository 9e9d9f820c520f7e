// Maps every error to a response: status, headers, and the envelope with code and public message.

import type { IncomingMessage, ServerResponse } from 'node:http';
import type { ErrorCode, ErrorDetail } from '../core/errors.ts';
import { ServiceError } from '../core/errors.ts';
import { isAborted, isLockTimeout, isOutOfOrder, isOutOfReach } from '../database/port.ts';
import { findWriteFailureReason } from '../database/write-health.ts';
import type { OutageLog } from './outage-log.ts';

const STATUS_BY_CODE: Record<ErrorCode, number> = {
  bad_request: 400,
  unauthorized: 401,
  forbidden: 403,
  not_found: 404,
  method_not_allowed: 405,
  conflict: 409,
  insufficient_stock: 409,
  gone: 410,
  precondition_failed: 412,
  unprocessable: 422,
  rate_limited: 429,
  internal_error: 500,
  upstream_error: 502,
  unavailable: 503,
};

export type ErrorEnvelope = {
  error: { code: ErrorCode; message: string; param?: string; docs?: string; details?: readonly ErrorDetail[] };
};
export type ErrorResponse = { status: number; headers: Record<string, string>; envelope: ErrorEnvelope };

/**
 * Which fields an error of an interface may have besides code and message. `docs`: the page about the codes of its errors; its sections have the
 * names of the codes. Errors of the marketplace interface have code and message alone.
 */
export type ErrorFields = { details?: boolean; param?: boolean; docs?: string };

/** The `Retry-After` of a 503, in seconds. */
const RETRY_AFTER_S = 2;

/**
 * Makes the response to a thrown value. A value that is neither a ServiceError nor a rejection by the framework is a bug. The response to a
 * bug is a 500 that says nothing about its cause.
 */
export function toErrorResponse(error: unknown, fields: ErrorFields = {}): ErrorResponse {
  const known = error instanceof ServiceError ? error : toFrameworkError(error);
  const { code, message } = known ?? {
    code: 'internal_error' as const,
    message: 'Something went wrong inside the service',
  };
  const details = fields.details && known ? known.details : [];
  const param = fields.param ? (known?.param ?? null) : null;
  const { docs } = fields;
  return {
    status: STATUS_BY_CODE[code],
    headers: {
      // These headers are in the order in which the router sends headers. So an error has the same bytes with and without the router.
      'cache-control': 'no-store',
      'content-type': 'application/json; charset=utf-8',
      ...(code === 'unavailable' && { 'retry-after': String(RETRY_AFTER_S) }),
    },
    envelope: {
      error: {
        code,
        message,
        ...(param !== null && { param }),
        ...(docs !== undefined && { docs: `${docs}#${code}` }),
        ...(details.length > 0 && { details }),
      },
    },
  };
}

/** Writes an error response without the router. */
export function sendErrorResponse(
  request: IncomingMessage,
  response: ServerResponse,
  { status, headers, envelope }: ErrorResponse,
  extraHeaders: Readonly<Record<string, string>> = {},
): void {
  const body = JSON.stringify(envelope);
  response.writeHead(status, { ...extraHeaders, ...headers, 'content-length': Buffer.byteLength(body) });
  response.end(request.method === 'HEAD' ? undefined : body);
}

/**
 * Returns a ServiceError for an error that is not a bug, and any other error unchanged:
 * - the client has disconnected
 * - a row could not be locked in time, or the database aborted the transaction because of another transaction
 * - a database cannot be reached or cannot work; this failure is also noted in `outages`, unless only writes fail, which the database itself
 *   notes (platform/database/write-health.ts)
 */
export function toKnownError(outages: OutageLog, thrown: unknown): unknown {
  if (isDisconnection(thrown)) return new ServiceError('bad_request', 'The client has disconnected', { cause: thrown });
  if (isLockTimeout(thrown) || isAborted(thrown)) {
    return new ServiceError('unavailable', 'Another change locks this record, try again soon', { cause: thrown });
  }
  const isReached = !isOutOfReach(thrown);
  if (isReached && !isOutOfOrder(thrown)) return thrown;
  if (findWriteFailureReason(thrown) === null) outages.noteFailure(thrown);
  const message = isReached
    ? 'The database cannot do this at the moment, try again soon'
    : 'The service cannot reach its database, try again soon';
  return new ServiceError('unavailable', message, { cause: thrown });
}

/**
 * Whether reading a request failed because its client disconnected. The message is compared too, because a failed database connection can
 * have the same error code.
 */
function isDisconnection(error: unknown): boolean {
  return error instanceof Error && error.message === 'aborted' && (error as { code?: unknown }).code === 'ECONNRESET';
}

/** True for a bug: neither a ServiceError nor a rejection by the framework. */
export function isUnexpected(error: unknown): boolean {
  return !(error instanceof ServiceError) && toFrameworkError(error) === null;
}

/** The error for a request that Fastify itself rejects, such as a request whose URL does not decode. Null for any other error. */
function toFrameworkError(error: unknown): ServiceError | null {
  const { statusCode, code } = (error ?? {}) as { statusCode?: number; code?: string };
  if (!code?.startsWith('FST_') || statusCode === undefined || statusCode < 400 || statusCode >= 500) return null;
  return statusCode === 404
    ? new ServiceError('not_found', 'Not found')
    : new ServiceError('bad_request', 'The request cannot be read');
}
