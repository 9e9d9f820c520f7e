// Chooses the rate limit bucket that counts a request to a public path.

import type { RateLimitBucket } from '../../http/rate-limit.ts';
import { MCP_PATH } from '../../agents/http/mcp.ts';
import { withoutTrailingSlash } from '../../http/request-target.ts';

const LIST =
  /^\/(v1\/collections(\/[^/]+\/(listings|sales))?|explore\/v1\/(search|activity|collections(\/[^/]+\/(tokens|traits))?|tokens\/batch|wallets\/[^/]+\/(tokens|listings|activity)))$/;
const COUNTED = /^\/(v1|explore\/v1|docs|status|console|llms\.txt|SECURITY\.md|CHANGELOG\.md)(\/|$)/;

/**
 * The bucket of a path. Null for a path whose requests are not counted by client address: the store and the intake count requests by API
 * key. Requests for the reference page are counted because its script is the largest response, and requests for the status because it
 * queries the databases. Requests for the files of the web console are counted. Requests for its HTML page are not counted, because this
 * page is small.
 */
export function bucketOf(path: string): RateLimitBucket | null {
  const plain = withoutTrailingSlash(path);
  if (plain === MCP_PATH) return 'message';
  if (!COUNTED.test(path)) return null;
  return LIST.test(plain) ? 'list' : 'single';
}
