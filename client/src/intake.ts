// The client of the intake of a service, `/intake/v1`: it submits, reads and cancels signed orders. Keep the API key out of browsers.

import { createCalls } from './calls.ts';
import type { IntakeMethods } from './generated/intake.ts';
import { INTAKE_OPERATIONS } from './generated/intake.ts';
import type { ClientOptions } from './transport.ts';
import { Transport } from './transport.ts';

export type * from './generated/intake.ts';
export type { CallOptions, ClientOptions } from './transport.ts';
export type { ClientErrorCode, ErrorCode, ErrorDetail, ServiceErrorCode } from './mercat-error.ts';
export { MercatError } from './mercat-error.ts';

export type IntakeClient = IntakeMethods;

/** Without a key, the client can only submit orders, and only for the chains on which the service offers trading. */
export function createIntakeClient({ apiKey, headers, ...options }: ClientOptions & { apiKey?: string }): IntakeClient {
  const authorization = apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` };
  const transport = new Transport({ ...options, headers: { ...headers, ...authorization } });
  return createCalls<IntakeMethods>(transport, INTAKE_OPERATIONS, ({ body }) => body);
}
