// Brings request targets into a canonical spelling. All spellings of a path then have the same rate limit bucket, route and cached
// response.

/** Visible ASCII characters except `#`: the only characters of a request target. */
const READABLE = /^[!-"$-~]+$/;
/** The characters that `encodeURIComponent` does not encode, and slashes. */
const PLAIN_PATH = /^[\w.~!*'()/-]*$/;
const ABSOLUTE_FORM = /^https?:\/\/[^/?]*/i;

/**
 * The path and the query of a target, without scheme and host. Each segment of the path is percent-encoded as by `encodeURIComponent`. The
 * query is not changed. Null if the target has a forbidden character, if it is neither a path nor an absolute URL, or if its path does
 * not decode to UTF-8.
 */
export function parseRequestTarget(raw: string): string | null {
  if (!READABLE.test(raw)) return null;
  const target = raw.startsWith('/') ? raw : toOriginForm(raw);
  if (target === null) return null;
  const path = pathOf(target);
  if (PLAIN_PATH.test(path)) return target;
  const segments = path.split('/').map(respell);
  return segments.includes(null) ? null : segments.join('/') + target.slice(path.length);
}

/** A target without its query. */
export function pathOf(target: string): string {
  const end = target.indexOf('?');
  return end < 0 ? target : target.slice(0, end);
}

/**
 * Whether the path of a target is `prefix` or below it. For the prefix `/v1`, this is true of `/v1`, `/v1?y` and `/v1/x`, and false of
 * `/v1x`.
 */
export function isBelow(target: string, prefix: string): boolean {
  return target.startsWith(prefix) && /^([/?]|$)/.test(target.charAt(prefix.length));
}

/** The text after the question mark of a target. */
export function queryOf(target: string): string {
  const start = target.indexOf('?');
  return start < 0 ? '' : target.slice(start + 1);
}

/** The path without a final slash, which the router ignores. */
export function withoutTrailingSlash(path: string): string {
  return path.endsWith('/') ? path.slice(0, -1) : path;
}

/** Returns `/path?query` for `http://any.host/path?query`, and null for any other form, such as `*`. */
function toOriginForm(raw: string): string | null {
  const authority = ABSOLUTE_FORM.exec(raw)?.[0];
  if (authority === undefined) return null;
  const target = raw.slice(authority.length);
  return target.startsWith('/') ? target : `/${target}`;
}

function respell(segment: string): string | null {
  try {
    return encodeURIComponent(decodeURIComponent(segment));
  } catch {
    return null;
  }
}
