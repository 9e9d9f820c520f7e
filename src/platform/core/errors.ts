// Expected failures: ServiceError for callers of an API, and OperatorError for the command line. Any other error is a bug: it is logged
// with its causes, and the response has no detail. Only `http` maps codes to statuses.

export type ErrorCode =
  | 'bad_request'
  | 'unauthorized'
  | 'forbidden'
  | 'not_found'
  | 'gone'
  | 'conflict'
  | 'insufficient_stock'
  | 'precondition_failed'
  | 'unprocessable'
  | 'method_not_allowed'
  | 'rate_limited'
  | 'upstream_error'
  | 'unavailable'
  | 'internal_error';

/**
 * Which field or parameter of a request is wrong, and why. In `path` nested fields are separated by dots. `productId`: the product of the shop
 * that has the value already.
 */
export type ErrorDetail = { path: string; message: string; productId?: string };

/** `message` is public: it can contain what the caller sent, but must not contain a host, a file path, SQL or a stack. */
export class ServiceError extends Error {
  override readonly name = 'ServiceError';
  readonly code: ErrorCode;
  readonly details: readonly ErrorDetail[];
  /** The parameter or field of the request that is wrong. Null if the error is not about one. */
  readonly param: string | null;

  constructor(
    code: ErrorCode,
    publicMessage: string,
    options?: { cause?: unknown; details?: readonly ErrorDetail[]; param?: string },
  ) {
    super(publicMessage, options);
    this.code = code;
    this.param = options?.param ?? null;
    this.details = options?.details ?? [];
  }
}

/** A parameter of a request is wrong. `mistake` completes a sentence that begins with the parameter. */
export function parameterError(name: string, mistake: string, place: 'Query' | 'Path' = 'Query'): ServiceError {
  return new ServiceError('bad_request', `${place} parameter ${name} ${mistake}`, { param: name });
}

/** A failure that the operator can correct or wait for, such as a wrong setting. It is printed as one line without a stack. */
export class OperatorError extends Error {
  override readonly name: string = 'OperatorError';
  /** 1: the command failed. 2: an argument or a setting is wrong. */
  readonly exitCode: 1 | 2;

  constructor(message: string, options?: { cause?: unknown; exitCode?: 1 | 2 }) {
    super(message, options);
    this.exitCode = options?.exitCode ?? 1;
  }
}

/** The messages of a thrown value and of its causes, for logs and the operator. No API may return them. */
export function describeError(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const text = error.message || error.name || (error as { code?: string }).code || 'unknown error';
  if (error instanceof AggregateError && !error.message && error.errors.length > 0)
    return describeError(error.errors[0]);
  return error.cause === undefined ? text : `${text}: ${describeError(error.cause)}`;
}
