// What differs between the interfaces: which of them browsers may call from any origin, and which fields their errors have.

import { EXPLORE_PREFIX } from '../market/explore/http/routes.ts';
import { INTAKE_PREFIX } from '../intake/http/routes.ts';
import { CORS_HEADERS } from '../platform/http/cached-response.ts';
import type { ErrorFields } from '../platform/http/error-response.ts';
import { isBelow } from '../platform/http/request-target.ts';
import { MARKETPLACE_PREFIX } from '../market/reads/http/routes.ts';
import { STORE_PREFIX } from '../shop/http/routes.ts';

const PUBLIC_PREFIXES = [MARKETPLACE_PREFIX, EXPLORE_PREFIX];

/** The CORS headers of a response to a request for `target`. Empty for an interface that browsers may call only from its own origin. */
export function corsHeadersOf(target: string): Readonly<Record<string, string>> {
  return PUBLIC_PREFIXES.some((prefix) => isBelow(target, prefix)) ? CORS_HEADERS : {};
}

const ERRORS_PAGE = '/docs/errors.md';

/** The fields of an error in the response to a request for `target`. */
export function errorFieldsOf(target: string, baseUrl: string): ErrorFields {
  if (isBelow(target, EXPLORE_PREFIX)) return { param: true, docs: baseUrl + ERRORS_PAGE };
  return { details: isBelow(target, STORE_PREFIX) || isBelow(target, INTAKE_PREFIX) };
}
