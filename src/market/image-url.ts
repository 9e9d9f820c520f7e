// Picture addresses come from outside and end up in browsers: only schemes that cannot run anything are served.

const SERVABLE = /^(?:https?:\/\/|ipfs:\/\/|ar:\/\/|data:image\/)/i;

/** The URL as it was given, or null when its scheme is not http, https, ipfs, ar or data:image. */
export function toServedImage(url: string | null): string | null {
  return url !== null && SERVABLE.test(url) ? url : null;
}
