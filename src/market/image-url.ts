// Image URLs come from outside and are opened by browsers: only URLs of schemes that cannot run code are served.

const SERVABLE = /^(?:https?:\/\/|ipfs:\/\/|ar:\/\/|data:image\/)/i;

/** The URL unchanged, or null when its scheme is not http, https, ipfs, ar or data:image. */
export function toServedImage(url: string | null): string | null {
  return url !== null && SERVABLE.test(url) ? url : null;
}
