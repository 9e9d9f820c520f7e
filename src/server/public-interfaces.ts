// Decides which interfaces browsers may call from any origin.

import { EXPLORE_PREFIX } from '../market/explore/http/routes.ts';
import { CORS_HEADERS } from '../platform/http/cached-response.ts';
import { isBelow } from '../platform/http/request-target.ts';
import { MARKETPLACE_PREFIX } from '../market/reads/http/routes.ts';

const PUBLIC_PREFIXES = [MARKETPLACE_PREFIX, EXPLORE_PREFIX];

/** The CORS headers of a response to a request for `target`. Empty for an interface that browsers may call only from its own origin. */
export function corsHeadersOf(target: string): Readonly<Record<string, string>> {
  return PUBLIC_PREFIXES.some((prefix) => isBelow(target, prefix)) ? CORS_HEADERS : {};
}
