// The one error class of the client.

/** Codes of the client itself. All other codes come from the service, and `docs/` of the service lists them. */
export type ClientErrorCode =
  /** No response: the service cannot be reached, or the connection was lost. */
  | 'network_error'
  /** The time limit of the call has passed. */
  | 'timeout'
  /** The response is not in the form that the service documents, for example the error page of a proxy. */
  | 'invalid_response'
  /** The stream no longer has the events after the given offset, or the service was restored since. Take a new snapshot. */
  | 'offset_expired'
  /** A webhook delivery is not authentic, or is too old. */
  | 'invalid_webhook';

/** Codes of the service that a caller may want to handle in different ways. The service has more codes. */
export type ServiceErrorCode =
  | 'bad_request'
  | 'unauthorized'
  | 'forbidden'
  | 'not_found'
  | 'conflict'
  | 'insufficient_stock'
  | 'precondition_failed'
  | 'unprocessable'
  | 'rate_limited'
  | 'internal_error'
  | 'upstream_error'
  | 'unavailable';

// `string & {}` keeps the known codes in the suggestions of editors.
export type ErrorCode = ClientErrorCode | ServiceErrorCode | (string & {});

/** A field of a request that is not valid. */
export type ErrorDetail = { path: string; message: string; productId?: string };

type ErrorFields = {
  status?: number | null;
  requestId?: string | null;
  retryAfterMs?: number | null;
  param?: string | null;
  details?: readonly ErrorDetail[];
  cause?: unknown;
};

/** Why a call failed. A call that the caller aborts fails with the reason of its signal instead. */
export class MercatError extends Error {
  override readonly name = 'MercatError';
  readonly code: ErrorCode;
  /** The HTTP status. Null if there was no response. */
  readonly status: number | null;
  /** The `X-Request-Id` of the response, by which the operator finds the request in the logs. */
  readonly requestId: string | null;
  /** How long the service asks clients to wait before the next attempt. Null if the service does not say. */
  readonly retryAfterMs: number | null;
  /** The parameter or field that is wrong. Null if the error is not about one, or the interface does not say which. */
  readonly param: string | null;
  readonly details: readonly ErrorDetail[];

  constructor(code: ErrorCode, message: string, fields: ErrorFields = {}) {
    super(message, 'cause' in fields ? { cause: fields.cause } : undefined);
    this.code = code;
    this.status = fields.status ?? null;
    this.requestId = fields.requestId ?? null;
    this.retryAfterMs = fields.retryAfterMs ?? null;
    this.param = fields.param ?? null;
    this.details = fields.details ?? [];
  }
}
