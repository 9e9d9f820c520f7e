// The closed table of what can go wrong in a way that a caller is told about. Everything else is a bug: it is logged with
// its cause chain and answered without detail. Only `http` turns a code into a status, only `main` into an exit code.

export type ErrorCode =
  | 'bad_request'
  | 'unauthorized'
  | 'forbidden'
  | 'not_found'
  | 'conflict'
  | 'precondition_failed'
  | 'unprocessable'
  | 'method_not_allowed'
  | 'rate_limited'
  | 'upstream_error'
  | 'unavailable'
  | 'internal_error';

/** Which part of what was sent is wrong, and why. `path` is a field or parameter, nested ones with a dot. */
export type ErrorDetail = { path: string; message: string };

/** An expected failure. `message` is public: it may name what the caller sent, never a host, a path, SQL or a stack. */
export class ServiceError extends Error {
  override readonly name = 'ServiceError';
  readonly code: ErrorCode;
  readonly details: readonly ErrorDetail[];

  constructor(code: ErrorCode, publicMessage: string, options?: { cause?: unknown; details?: readonly ErrorDetail[] }) {
    super(publicMessage, options);
    this.code = code;
    this.details = options?.details ?? [];
  }
}

/** A mistake of the operator (a setting, an argument, a locked data directory): one clear line, no stack. */
export class OperatorError extends Error {
  override readonly name = 'OperatorError';
  /** 1 failed, 2 bad usage. */
  readonly exitCode: 1 | 2;

  constructor(message: string, options?: { cause?: unknown; exitCode?: 1 | 2 }) {
    super(message, options);
    this.exitCode = options?.exitCode ?? 1;
  }
}

/** The message of anything thrown, with the messages of its causes: for logs and the command line, never for HTTP. */
export function describeError(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const text = error.message || error.name || (error as { code?: string }).code || 'unknown error';
  if (error instanceof AggregateError && !error.message && error.errors.length > 0)
    return describeError(error.errors[0]);
  return error.cause === undefined ? text : `${text}: ${describeError(error.cause)}`;
}
