// The one map from an error to what a caller sees: status, code and public message in the envelope of both interfaces.

import { isOutOfReach } from '../database/port.ts';
import type { ErrorCode, ErrorDetail } from '../core/errors.ts';
import { ServiceError } from '../core/errors.ts';
import type { Log } from '../core/log.ts';

const STATUS_BY_CODE: Record<ErrorCode, number> = {
  bad_request: 400,
  unauthorized: 401,
  forbidden: 403,
  not_found: 404,
  method_not_allowed: 405,
  conflict: 409,
  precondition_failed: 412,
  unprocessable: 422,
  rate_limited: 429,
  internal_error: 500,
  upstream_error: 502,
  unavailable: 503,
};

export type ErrorEnvelope = { error: { code: ErrorCode; message: string; details?: readonly ErrorDetail[] } };
export type ErrorResponse = { status: number; headers: Record<string, string>; envelope: ErrorEnvelope };

/** Seconds after which a caller of an unavailable service may try again. */
const RETRY_AFTER_S = 2;

/**
 * The answer to anything thrown. What is not a ServiceError is a bug: it is answered without detail. Details are for the
 * store interface: the marketplace's envelope has a code and a message only.
 */
export function toErrorResponse(error: unknown, options: { details?: boolean } = {}): ErrorResponse {
  const known = error instanceof ServiceError ? error : toFrameworkError(error);
  const { code, message } = known ?? {
    code: 'internal_error' as const,
    message: 'Something went wrong inside the service',
  };
  const details = options.details && known ? known.details : [];
  return {
    status: STATUS_BY_CODE[code],
    headers: {
      'content-type': 'application/json; charset=utf-8',
      'cache-control': 'no-store',
      ...(code === 'unavailable' && { 'retry-after': String(RETRY_AFTER_S) }),
    },
    envelope: { error: { code, message, ...(details.length > 0 && { details }) } },
  };
}

/** A database that is away for a moment is no bug: a caller who tries again may find it. Anything else stays as it is. */
export function toKnownError(log: Log, thrown: unknown): unknown {
  if (!isOutOfReach(thrown)) return thrown;
  log.warn('a request could not reach the database', { error: thrown });
  return new ServiceError('unavailable', 'The service cannot reach its database, try again soon', { cause: thrown });
}

/** True when the error is news for those who run the service. */
export function isUnexpected(error: unknown): boolean {
  return !(error instanceof ServiceError) && toFrameworkError(error) === null;
}

/** What Fastify refuses by itself is always the caller's: a body that cannot be read, a URL that does not decode. */
function toFrameworkError(error: unknown): ServiceError | null {
  const { statusCode, code } = (error ?? {}) as { statusCode?: number; code?: string };
  if (!code?.startsWith('FST_') || statusCode === undefined || statusCode < 400 || statusCode >= 500) return null;
  return statusCode === 404
    ? new ServiceError('not_found', 'Not found')
    : new ServiceError('bad_request', 'The request cannot be read');
}
