// The closed table of what can go wrong in a way that a caller is told about. Everything else is a bug: it is logged with
// its cause chain and answered without detail. Only `http` turns a code into a status, only `main` into an exit code.

export type ErrorCode =
  | 'bad_request'
  | 'not_found'
  | 'method_not_allowed'
  | 'rate_limited'
  | 'upstream_error'
  | 'unavailable'
  | 'internal_error';

/** An expected failure. `message` is public: it may name what the caller sent, never a host, a path, SQL or a stack. */
export class ServiceError extends Error {
  override readonly name = 'ServiceError';
  readonly code: ErrorCode;

  constructor(code: ErrorCode, publicMessage: string, options?: { cause?: unknown }) {
    super(publicMessage, options);
    this.code = code;
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
