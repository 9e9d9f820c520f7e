// Lists the reasons why metadata cannot be read, and computes when it is read again.

import type { Random } from '../../platform/core/random.ts';
import { backoffMs } from '../../platform/resilience/backoff.ts';

/**
 * `isLasting`: a retry in the next minutes would probably fail too. `isOfHost`: the host is the cause, so a read may succeed as soon as
 * another read from the same host has succeeded.
 */
const FAILURES = {
  /** The contract has no such function, or the call reverted. */
  'no-uri': { isLasting: true },
  /** No endpoint can execute the call, or the endpoints disagree about its result. */
  unreadable: { isLasting: false },
  /** The scheme of the URI is not data, http, https, ipfs or ar, or the operator has configured no gateway for the scheme. */
  'unsupported-uri': { isLasting: true },
  'private-address': { isLasting: true },
  unreachable: { isLasting: false, isOfHost: true },
  timeout: { isLasting: false },
  'rate-limited': { isLasting: false },
  /** Not requested, because earlier requests to the host failed in a row. */
  'host-down': { isLasting: false, isOfHost: true },
  'not-found': { isLasting: true },
  'bad-status': { isLasting: false },
  'too-many-redirects': { isLasting: true },
  'too-large': { isLasting: true },
  /** Not a JSON object in UTF-8, or nested too deep. */
  'not-json': { isLasting: true },
  /** A JSON object without any field of a token or collection. Some hosts send such an object, with the status 200, in place of an error. */
  'no-fields': { isLasting: true },
} as const satisfies Record<string, { isLasting: boolean; isOfHost?: true }>;

export type MetadataFailure = keyof typeof FAILURES;

/** The failures with `isOfHost`. */
export const FAILURES_OF_HOSTS: readonly string[] = Object.entries(FAILURES).flatMap(([failure, rule]) =>
  'isOfHost' in rule ? [failure] : [],
);

const JITTER = 0.2;
const PASSING = { baseMs: 2 * 60_000, maxMs: 6 * 60 * 60_000, jitter: JITTER };
const LASTING = { baseMs: 60 * 60_000, maxMs: 7 * 24 * 60 * 60_000, jitter: JITTER };

/** How long after a failure the metadata is read again. `attempts`: failed reads in a row, this one included. */
export function metadataRetryMs(failure: MetadataFailure, attempts: number, random: Random): number {
  return backoffMs(attempts, FAILURES[failure].isLasting ? LASTING : PASSING, random);
}
