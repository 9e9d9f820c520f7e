// Gives each error the text that the console shows for it.

import { MercatError } from '../../../client/src/market.ts';
import { texts } from '../texts.ts';

/** The text of an error of a change. Unlike a failed read, a failed change is not sent again by itself. */
export function describeFailedChange(error: unknown): string {
  const isUnknown = error instanceof MercatError && (error.code === 'network_error' || error.code === 'timeout');
  return isUnknown ? texts.errors.notSaved : describeError(error);
}

export function describeError(error: unknown): string {
  if (!(error instanceof MercatError)) return texts.errors.unexpected;
  const { code, retryAfterMs, message, requestId } = error;
  if (code === 'network_error' || code === 'timeout') return texts.errors.noResponse;
  if (code === 'rate_limited') return texts.errors.rateLimited(Math.ceil((retryAfterMs ?? 0) / 1_000));
  return requestId === null ? `${message}.` : `${message}. ${texts.errors.request(requestId)}`;
}
