// The target of a request in its one spelling: however a caller writes a path, it counts in the same bucket, takes the same
// route and finds the same kept answer. It never judges whether there is anything at that path.

/** Printable ASCII without `#`, which no request target can hold. */
const READABLE = /^[!-"$-~]+$/;
/** What `encodeURIComponent` leaves as it is, and the slashes between. */
const PLAIN_PATH = /^[\w.~!*'()/-]*$/;
const ABSOLUTE_FORM = /^https?:\/\/[^/?]*/i;

/**
 * Path and query, the path with each of its parts percent-encoded as `encodeURIComponent` would. Whom an absolute target
 * addresses is left out. Null when the target is not readable, or its path does not decode to UTF-8; the query is not judged.
 */
export function readTarget(raw: string): string | null {
  if (!READABLE.test(raw)) return null;
  const target = raw.startsWith('/') ? raw : toOriginForm(raw);
  const path = pathOf(target);
  if (PLAIN_PATH.test(path)) return target;
  const parts = path.split('/').map(respell);
  return parts.includes(null) ? null : parts.join('/') + target.slice(path.length);
}

/** A target without its query. */
export function pathOf(target: string): string {
  const end = target.indexOf('?');
  return end < 0 ? target : target.slice(0, end);
}

/** `http://any.host/path?query` as `/path?query`; `*` and what else there is stay, for the router not to find. */
function toOriginForm(raw: string): string {
  const authority = ABSOLUTE_FORM.exec(raw)?.[0];
  if (authority === undefined) return raw;
  const target = raw.slice(authority.length);
  return target.startsWith('/') ? target : `/${target}`;
}

function respell(part: string): string | null {
  try {
    return encodeURIComponent(decodeURIComponent(part));
  } catch {
    return null;
  }
}
