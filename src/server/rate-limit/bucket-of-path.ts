// Which rate limit bucket a request to a public path counts in.

import type { RateLimitBucket } from '../../http/rate-limit.ts';
import { MCP_PATH } from '../../agents/http/mcp.ts';
import { withoutTrailingSlash } from '../../http/request-target.ts';

const LIST =
  /^\/(v1\/collections(\/[^/]+\/(listings|sales))?|explore\/v1\/(search|collections\/[^/]+\/(tokens|traits)|tokens\/batch|wallets\/[^/]+\/(tokens|listings)))$/;
const COUNTED = /^\/(v1|explore\/v1|docs|status|console|llms\.txt|SECURITY\.md|CHANGELOG\.md)(\/|$)/;

/**
 * The bucket of a path. Null for paths that are not counted by client address, such as those of the store and the intake, which count by
 * API key. The reference page counts because its script is the largest response. The files of the web console count too,
 * but not its page, which is small. The status counts because it queries the databases.
 */
export function bucketOf(path: string): RateLimitBucket | null {
  const plain = withoutTrailingSlash(path);
  if (plain === MCP_PATH) return 'message';
  if (!COUNTED.test(path)) return null;
  return LIST.test(plain) ? 'list' : 'single';
}
