// What a row of the table of settings is, and the readers of values that several rows share.

export type Setting<V, K extends string = string> = {
  key: K;
  /** With `<CHAIN>` in it: one setting a chain, named after it in upper case, and the value is a map by chain id. */
  name: string;
  default: string;
  form: string;
  meaning: string;
  /** The value is never shown. */
  secret?: boolean;
  /** The value, or undefined when the text is not of the setting's form. */
  parse: (text: string) => V | undefined;
};

/** A row, checked against the type of what it sets. */
export function settingOf<C>() {
  return <K extends keyof C & string>(row: Setting<C[K], K>): Setting<C[K], K> => row;
}

export function parseInteger(text: string, min: number, max: number): number | undefined {
  if (!/^\d{1,9}$/.test(text)) return undefined;
  const value = Number(text);
  return value >= min && value <= max ? value : undefined;
}

export function parseFlag(text: string): boolean | undefined {
  return text === 'true' ? true : text === 'false' ? false : undefined;
}

/** An http or https URL without a trailing slash; user, query and fragment only where they are allowed. */
export function parseHttpUrl(text: string, { bare = true }: { bare?: boolean } = {}): string | undefined {
  if (!URL.canParse(text)) return undefined;
  const url = new URL(text);
  if (url.protocol !== 'http:' && url.protocol !== 'https:') return undefined;
  if (!bare) return text;
  if (url.username || url.password || url.search || url.hash) return undefined;
  return `${url.origin}${url.pathname}`.replace(/\/+$/, '');
}

/** The URL of a Redis server: a host, at most a user, password, port and database number with it. */
export function parseRedisUrl(text: string): string | null | undefined {
  if (text === '') return null;
  if (!URL.canParse(text)) return undefined;
  const { protocol, hostname, username, password, pathname, search, hash } = new URL(text);
  if (protocol !== 'redis:' && protocol !== 'rediss:') return undefined;
  // A host of an unknown scheme is taken as it is written.
  if (!/^([\w.-]{1,253}|\[[\da-fA-F:.]+\])$/.test(hostname) || search || hash) return undefined;
  const canBeDecoded = [username, password].every((part) => !/%(?![\da-fA-F]{2})/.test(part));
  return canBeDecoded && /^(\/\d{0,5})?$/.test(pathname) ? text : undefined;
}

/** Visible characters of a secret that goes into a header. */
export function parseToken(text: string): string | null | undefined {
  if (text === '') return null;
  return /^[\x21-\x7e]{1,1000}$/.test(text) ? text : undefined;
}

/** The parts of a comma-separated list; empty for empty text. */
export function splitList(text: string): string[] {
  return text === '' ? [] : text.split(',').map((part) => part.trim());
}
