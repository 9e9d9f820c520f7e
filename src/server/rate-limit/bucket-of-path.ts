// Chooses the rate limit bucket that counts a request to a path. A path is in a bucket unless it is named here as an exception, so that a new
// route is counted without any further step.

import type { RateLimitBucket } from '../../platform/http/rate-limit.ts';
import { MCP_PATH } from '../agents/http/mcp.ts';
import { DOCUMENT_PATH } from '../../platform/http/document-route.ts';
import { isBelow, withoutTrailingSlash } from '../../platform/http/request-target.ts';
import { INTAKE_PREFIX } from '../../intake/http/routes.ts';
import { STORE_PREFIX } from '../../shop/http/routes.ts';

const LIST =
  /^\/(v1\/collections(\/[^/]+\/(listings|sales))?|explore\/v1\/(search|activity|collections(\/[^/]+\/(tokens|traits))?|tokens\/batch|wallets\/[^/]+\/(tokens|listings|activity)))$/;
/** The routes below these paths count requests by API key, and requests without a usable key by client address. */
const KEYED_PREFIXES = [STORE_PREFIX, INTAKE_PREFIX];
const KEYLESS_PATHS: ReadonlySet<string> = new Set(KEYED_PREFIXES.map((prefix) => prefix + DOCUMENT_PATH));

/**
 * The bucket of a path. Null for the paths of the store and the intake, except their OpenAPI documents: the routes of these paths count. A
 * path of these interfaces without a route is counted by unknown-routes.ts. Health checks do not get here: they are answered before the edge.
 */
export function bucketOf(path: string): RateLimitBucket | null {
  const plain = withoutTrailingSlash(path);
  if (plain === MCP_PATH) return 'message';
  if (KEYED_PREFIXES.some((prefix) => isBelow(path, prefix)) && !KEYLESS_PATHS.has(plain)) return null;
  return LIST.test(plain) ? 'list' : 'single';
}
